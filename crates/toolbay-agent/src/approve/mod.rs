//! Whether a call may be made: by rule, before any person is asked. Not the question itself: see [`person`](crate::person).

mod effect;
mod plain;
mod policy;

pub use effect::effect;
pub use plain::{AskAll, ReadOnly};
pub use policy::{Decision, Policy, Trust};

#[cfg(test)]
mod tests;
