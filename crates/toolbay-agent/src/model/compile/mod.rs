//! A tool as each provider takes it, and what a model wrote as the tool takes it.
//!
//! Schemas are put into a provider's words on a copy, and each loss is reported; arguments are always checked against the
//! schema that the server wrote. A tool that cannot be put into a provider's words is shown all the same, with an open schema
//! and its own in words: one tool never fails a request, and none goes in silence. Bounded in time and memory whatever a
//! server sends (decision 018).

mod arguments;
mod loss;
mod names;
mod open;
mod refs;
mod renames;
mod root;
mod rules;
mod tool;
mod walk;
mod words;

pub use loss::{Loss, Severity};
pub use names::name_of;
pub(crate) use names::with_hash;
pub use tool::{Compiled, compile};

#[cfg(test)]
mod tests;
