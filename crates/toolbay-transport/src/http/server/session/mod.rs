//! Sessions of the legacy era over Streamable HTTP: opened by `initialize`, named by `Mcp-Session-Id`, ended by `DELETE`, by
//! silence or with the endpoint. An idle one is data alone: no task, no timer, no buffer.
//!
//! `table` holds the sessions, `record` is one of them: its calls in flight (`calls`), what it watches (`watches`), and what
//! was said on its streams (`log`). `post` takes what a client sends, `begin` judges a request;
//! `call` is one request being served, `waiting` its answer, `stream` what becomes of that once it is more than one message; `get` serves the standing stream and those that come back.
// spec: 2025-11-25 basic/transports

mod begin;
mod call;
mod calls;
mod get;
mod log;
mod open;
mod post;
mod record;
mod stream;
mod table;
mod talker;
mod waiting;
mod watches;

pub(super) use get::{delete, get};
pub(super) use post::{Message, post};
pub(super) use table::{Sessions, mint, named, nameless};
