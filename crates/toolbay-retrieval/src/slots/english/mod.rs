//! Requests in English: what their words are to each other.
//!
//! Only the words; what slots are is said elsewhere.

mod ask;
pub(super) mod dates;
mod phrases;
mod words;

pub(super) use ask::read;
