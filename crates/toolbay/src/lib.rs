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
//! The doc comment is what a model reads, the arguments are the schema. Which revision of the protocol a client speaks is no
//! concern of an author: the same code serves all of them.
//!
//! A client is a line, wherever the server is: a program to start ([`client::command`]), a URL, or, in a test, a server in
//! this process:
//!
//! ```
//! # use toolbay::prelude::*;
//! # /// Adds two numbers.
//! # #[tool]
//! # async fn add(left: i64, right: i64) -> i64 {
//! #     left + right
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), toolbay::client::ClientError> {
//! let client = Client::connect(Server::new("sums", "1.0.0").tool(add::tool())).await?;
//! let sum = client.call("add", &json!({"left": 1, "right": 2})).await?;
//! assert_eq!(sum.texts(), "3");
//! # Ok(())
//! # }
//! ```
//!
//! Where to go on: [`tool`](macro@tool), [`prompt`](macro@prompt), [`resource`](macro@resource) and [`data`](macro@data)
//! say what the attributes take, [`Server`] what a server can be told, [`Ctx`] what a function can ask, tell and know of its
//! call, [`Client`] and [`client::ClientBuilder`] the other side, [`Fail`] who reads an error.
//!
//! The feature `validate` holds what is given and returned against schemas that no type checks: those written by hand, and
//! the output schemas that servers promise to clients.

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
pub use tokio_util::sync::CancellationToken;
pub use toolbay_protocol::{self as protocol, ErrorObject, Raw, types};
pub use toolbay_transport::{self as transport, Error};
pub use uri_template::{Flaw, UriTemplate};

/// Bytes as the protocol writes them: Base64 with `+`, `/` and padding.
pub fn base64(bytes: impl AsRef<[u8]>) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}
