//! The words and rules of the Model Context Protocol, for every released revision.
//!
//! This crate does no IO, reads no clock and holds no `async`: bytes come in, frames and steps go out. Whoever drives it
//! (see `toolbay-transport`) brings sockets, children and time.
//!
//! ```
//! use bytes::Bytes;
//! use toolbay_protocol::frame::Frame;
//!
//! let line = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
//! let frame = Frame::parse(&line).unwrap();
//! assert!(matches!(frame, Frame::Request { .. }));
//! ```

pub mod exchange;
pub mod fault;
pub mod frame;
pub mod greeting;
pub mod headers;
pub mod method;
pub mod moment;
pub mod peer;
pub mod raw;
pub mod revision;
pub mod scan;
pub mod sse;
pub mod types;
pub mod watch;

pub use fault::{ErrorObject, Fault};
pub use frame::{Frame, Id};
pub use method::Method;
pub use raw::Raw;
pub use revision::{Era, Feature, Revision};
