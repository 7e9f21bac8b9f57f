//! How far a turn may go.

use super::budget::Budget;

/// How far a turn may go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Rounds of calls; after the last one the model is asked once more, for an answer.
    pub rounds: u32,
    /// Calls that one reply of the model may want; those beyond are not made.
    pub calls: usize,
    /// Calls that fail again and again.
    pub repeats: Repeats,
    /// What the conversation may take.
    pub budget: Budget,
}

/// How many rounds may bring the same call with the same error. A call whose error changes is not one of them: whoever polls
/// goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// After so many the model is told.
    pub hint: u32,
    /// After so many it is asked for an answer without calls.
    pub end: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rounds: 10, calls: 32, repeats: Repeats { hint: 3, end: 5 }, budget: Budget::default() }
    }
}
