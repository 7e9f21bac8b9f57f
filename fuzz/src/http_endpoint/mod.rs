//! Any requests to an endpoint over HTTP: each is answered, within bounds, in whole messages, and never as though the
//! server were to blame; when it shuts down, it comes to an end.
//!
//! In one process and without sockets; reading requests off a connection is hyper's.

mod answer;
mod client;
mod sent;

pub use client::http_endpoint;
