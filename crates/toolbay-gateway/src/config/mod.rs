//! From a file somebody typed to servers that can be started.
//!
//! `written` holds what was typed, with its places; `running` holds what can be used, and cannot be wrong.
//! Nothing here starts a server, opens a socket or looks at the process: surroundings are passed in.

mod acquire;
mod clients;
mod compare;
mod dotenv;
mod embeddings;
mod error;
mod expand;
mod expose;
mod filled;
mod find;
mod host;
mod keys;
mod limits;
mod load;
mod resolve;
mod resolve_child;
mod resolve_remote;
mod resolve_tool;
mod running;
mod secret;
mod service;
mod source;
mod surroundings;
pub(crate) mod syntax;
mod telemetry;
mod tool;
mod tree;
mod url;
mod warn;
mod written;
mod written_tool;

pub use compare::Field;
pub(crate) use compare::{fields, limits as changed_limits};
pub use error::{Error, Fault, Reason};
pub use expand::Expanded;
pub use find::{Choice, Found, find};
pub use host::{Approve, Attach, Host, Sampling, Then};
pub use load::{Loaded, load, parse};
pub use running::{Child, Endpoint, Isolation, Keeping, Names, Remote, Running, Server, SessionDir, Setup, Start};
pub use secret::Secret;
pub use service::{Answering, Polling, Service};
pub use source::Place;
pub use surroundings::{Surroundings, System};
pub use telemetry::Telemetry;
pub use tool::Tool;
pub use url::{Url, UrlError};
pub use warn::{Level, Warning, nearest};

#[cfg(test)]
#[cfg(unix)]
mod tests;
