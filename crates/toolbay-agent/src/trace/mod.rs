//! What an agent did, step by step, for whoever wants to know afterwards. Not a log: nothing is left out but what is too
//! long, which is said; and what a person answers a server's question with, which is nobody else's.

mod record;
mod step;

pub use record::Trace;
pub use step::{Cut, Step, What};

#[cfg(test)]
mod tests;
