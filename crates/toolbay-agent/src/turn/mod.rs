//! One turn of a conversation, from what the person said to the answer: what is needed next, and what follows from it. A
//! state machine that is fed; not who asks, calls or waits: see [`Agent`](crate::Agent).

mod batch;
mod budget;
mod call;
mod end;
mod guard;
mod limits;
mod machine;
mod mend;
mod words;

pub use budget::{Budget, Prices, Spent};
pub use call::{Beside, Call, Decided, Given, HostTool, Reading, Target};
pub use end::{Author, End, Ended};
pub use limits::{Limits, Repeats};
pub use machine::{Need, Turn};
pub(crate) use mend::mend;

#[cfg(test)]
mod tests;
