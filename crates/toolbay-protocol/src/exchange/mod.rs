//! One request's life, free of era: any number of notes, questions to the caller, one outcome.
//!
//! [`Outgoing`] is the caller's side, [`Incoming`] the callee's; each turns steps into frames and back, in the words of
//! its revision. What carries the frames, and what happens between two steps, is not decided here.

mod head;
mod incoming;
mod outgoing;
mod stamp;
mod step;

pub use head::{Head, Structure, Told};
pub use incoming::{Incoming, Level, Return, Round};
pub use outgoing::{Meta, Outgoing, Progress, Wishes};
pub use stamp::stamp;
pub use step::{Answers, Ask, Asks, Note, Outcome, Standing, Step};

#[cfg(test)]
mod tests;
