//! Whether a call may be made: by rule, before any person is asked. Not the question itself: see [`person`](crate::person).

mod effect;
mod pattern;
mod plain;
mod policy;
mod remembered;
mod rules;

pub use effect::effect;
pub use pattern::{Pattern, fits};
pub use plain::{AskAll, ReadOnly};
pub use policy::{Decision, Policy, Trust};
pub use remembered::{Kept, Known, Remembered};
pub use rules::Rules;

#[cfg(test)]
mod tests;
