//! The headers that mirror a request's body (`MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`): written by a
//! client, checked by a server.
//!
//! Not for HTTP: header fields are looked up through a closure, so no HTTP crate is needed. Not for deciding who must send
//! them: that is the transport's, for revisions that have them.
// spec: 2026-07-28 basic/transports/streamable-http

mod mismatch;
mod number;
mod params;
mod plan;
mod problem;
mod standard;
mod value;

#[cfg(test)]
mod tests;

pub use mismatch::{Mismatch, Reason};
pub use plan::{HeaderPlan, Kind, Param};
pub use problem::{Problem, Rule};
pub use standard::{METHOD, Mirrored, NAME, PARAM_PREFIX, VERSION, check_notification, check_request, name_field};
pub use value::{Header, decode, encode};
