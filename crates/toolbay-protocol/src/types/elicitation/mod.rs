//! Asking the user (spec: client/elicitation): with a form of simple fields, or by sending them to a URL.
//!
//! A question that a revision has no form for is refused by [`Conform::check`](super::Conform::check), never bent into
//! another question.

mod answer;
mod ask;
mod field;
mod schema;

pub use answer::{ElicitAction, ElicitResult};
pub use ask::*;
pub use field::*;
pub use schema::RequestedSchema;
