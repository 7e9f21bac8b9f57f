//! Bytes in and out for the Model Context Protocol: stdio, Streamable HTTP, HTTP+SSE, memory.
//!
//! The only crate that opens sockets and starts children for the protocol. A [`Service`] answers on one side, a
//! [`Connection`] asks on the other; neither knows which transport or revision lies between them.

pub mod connect;
pub mod connection;
mod device;
pub mod duplex;
mod error;
pub mod http;
pub mod listener;
pub mod memory;
mod places;
mod service;
pub mod stdio;
mod subscription;
pub mod talk;
pub mod watch;

pub use ::http::HeaderMap;
pub use connect::Approach;
pub use connection::{Connection, Running};
pub use error::{Error, Kind};
pub use listener::Listener;
pub use service::{Answering, Caller, Headers, Principal, Request, Service};
pub use subscription::{Listening, Subscription};
pub use talk::{Cx, Gone, Reply};
pub use watch::{Hub, Voice, Watch};
