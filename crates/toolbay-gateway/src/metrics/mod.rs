//! What is counted, and how it is read: by people (`status`), by Prometheus, by whoever asks whether all is well. Counting
//! is adding to atomics and nothing else; everything dear is done when somebody looks.

mod counters;
mod health;
mod prometheus;

pub(crate) use counters::Counters;
pub use counters::{BUCKETS, Counted};
pub(crate) use health::word;
pub use health::{Readiness, Undecided};
pub(crate) use prometheus::{Everything, write};

#[cfg(test)]
mod tests;
