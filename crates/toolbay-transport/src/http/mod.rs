//! The protocol over HTTP: Streamable HTTP of both eras, and HTTP+SSE of 2024-11-05.

pub mod client;
pub mod server;
