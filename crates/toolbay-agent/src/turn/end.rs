//! How a turn ends.

use crate::model::ModelError;

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Why.
    pub why: Ended,
    /// What the person is told.
    pub text: String,
    /// Whose words that are.
    pub author: Author,
}

/// Whose words an end is told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The model's: they stand in the transcript.
    Model,
    /// The host's.
    Host,
}

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The model answered.
    Answered,
    /// The model may not say more; its answer is cut off.
    Length,
    /// The model will not answer, or may not.
    Refused,
    /// The model said nothing, twice.
    Silent,
    /// It had its rounds of calls.
    Rounds,
    /// The same call kept failing in the same way.
    Repeating,
    /// The budget is spent.
    Budget,
    /// Somebody cancelled it.
    Cancelled,
    /// The model did not reply.
    Failed(ModelError),
}

impl End {
    pub(super) fn model(why: Ended, text: String) -> Self {
        Self { why, text, author: Author::Model }
    }

    pub(super) fn host(why: Ended, text: String) -> Self {
        Self { why, text, author: Author::Host }
    }
}
