//! The Model Context Protocol SDK: a server in an afternoon, a client in a line.
//!
//! ```no_run
//! use toolbay::prelude::*;
//!
//! /// Adds two numbers.
//! #[tool]
//! async fn add(left: i64, right: i64) -> i64 {
//!     left + right
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), toolbay::Error> {
//!     Server::new("sums", "1.0.0").tool(add::tool()).serve(stdio()).await
//! }
//! ```
//!
//! Which revision of the protocol a client speaks is no concern of an author: the same code serves all of them.

mod attributes;
pub mod client;
mod error;
pub mod prelude;
mod schema;
pub mod server;
mod uri_template;
#[cfg(feature = "validate")]
mod validate;

pub use attributes::{data, prompt, resource, tool};
pub use client::Client;
pub use error::{Fail, Foreign, Report, Result, ToolError, ok};
pub use schemars::{self, JsonSchema};
pub use serde;
pub use serde_json;
pub use server::{Ctx, Handle, Json, Page, Prompt, Resource, Server, State, Template, Tool, http, stdio};
pub use toolbay_protocol::{self as protocol, ErrorObject, Raw, types};
pub use toolbay_transport::{self as transport, Error};
pub use uri_template::{Flaw, UriTemplate};

/// Bytes as the protocol writes them: Base64 with `+`, `/` and padding.
pub fn base64(bytes: impl AsRef<[u8]>) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}
