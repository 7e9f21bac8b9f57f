//! Being told of changes: one shape for `resources/subscribe` with its notifications, and for `subscriptions/listen`.

mod change;
pub mod legacy;
pub mod modern;

pub use change::{Change, Filter, Saying, TaskChange};

#[cfg(test)]
mod tests;
