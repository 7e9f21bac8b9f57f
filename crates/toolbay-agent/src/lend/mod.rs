//! The host's model, lent to servers (`sampling/createMessage`): which one, for what, how much of it. Not whether a person
//! agrees: that is theirs to say ([`person`](crate::person)).

mod answer;
mod lender;
mod question;

pub use lender::{LendLimits, Lender};

#[cfg(test)]
mod tests;
