//! What must hold for any input at all: one function for each fuzz target, which panics where something does not hold.
//!
//! Not for what is expected of particular inputs: those are tests, and stand beside what they test. Inputs that once broke
//! something stand in `seeds/`, a folder for each target; every run begins with them.
#![forbid(unsafe_code)]

mod conform;
mod frame;
mod headers;
mod http_endpoint;
mod peer_ops;
mod sse;
mod uri_template;

pub use conform::conform;
pub use frame::frame;
pub use headers::headers;
pub use http_endpoint::http_endpoint;
pub use peer_ops::peer_ops;
pub use sse::sse;
pub use uri_template::uri_template;
