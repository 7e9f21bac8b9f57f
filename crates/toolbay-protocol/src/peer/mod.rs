//! A link on which frames go both ways: id tables, cancellation, deadlines. Stdio, memory and the older HTTP transport
//! have one; where each request has its own exchange of bytes (Streamable HTTP), `exchange` alone is enough.
//!
//! Both sides are driven alike: `receive` frames, drain `event` and `transmit`, and, for a client, call `expire` when
//! `timeout` says so. Time is an argument.

mod admission;
mod call;
mod client;
mod outbox;
mod presence;
mod server;
mod sound;
mod table;
mod tokens;

pub use admission::{admit_legacy, admit_modern};
pub use call::{Call, CallId, Patience};
pub use client::{Client, ClientEvent};
pub use outbox::Waiting;
pub use presence::Presence;
pub use server::{Allowance, Called, ServeId, Server, ServerEvent};
pub use sound::{Sound, sound};
pub use tokens::Tokens;

#[cfg(test)]
mod tests;
