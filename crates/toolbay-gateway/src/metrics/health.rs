//! Whether all is decided.

use serde::Serialize;

use crate::servers::{Cause, Phase, Status};

/// Whether it is decided of every server how it does. One that failed is decided: the others serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// Whether it is.
    pub ready: bool,
    /// Those of which it is not.
    pub undecided: Vec<Undecided>,
}

/// A server of which nobody knows yet how it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undecided {
    /// Its name.
    pub server: String,
    /// Where it stands.
    pub phase: &'static str,
}

impl Readiness {
    pub(crate) fn of(all: &[Status]) -> Self {
        let undecided: Vec<_> = all
            .iter()
            // One that rested was decided, and is so while it is woken.
            .filter(|status| !status.phase.is_settled() && status.cause == Cause::Begun)
            .map(|status| Undecided { server: status.server.to_string(), phase: word(&status.phase) })
            .collect();
        Self { ready: undecided.is_empty(), undecided }
    }
}

/// A phase in a word; there are no others, so that they may be labels.
pub(crate) fn word(phase: &Phase) -> &'static str {
    match phase {
        Phase::Connecting => "connecting",
        Phase::Ready { .. } => "ready",
        Phase::Failed(_) => "failed",
        Phase::Resting { .. } => "resting",
        Phase::Disabled => "disabled",
    }
}
