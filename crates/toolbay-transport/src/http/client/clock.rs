//! How long one call may take. The clock stands still while somebody is being asked.

use std::time::Duration;

use tokio::time::Instant;
use toolbay_protocol::peer::Patience;

use crate::{Error, Kind};

/// How long a person may think.
const THINKING: Duration = Duration::from_secs(600);
/// Long enough to be for ever.
const AGES: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// The deadlines of one call.
#[derive(Debug)]
pub(super) struct Clock {
    silence: Duration,
    due: Instant,
    end: Option<Instant>,
    open: usize,
}

impl Clock {
    /// Begins to run.
    pub(super) fn start(patience: Patience) -> Self {
        let now = Instant::now();
        let silence = patience.silence.min(AGES);
        Self { silence, due: now + silence, end: patience.total.map(|total| now + total.min(AGES)), open: 0 }
    }

    /// A sign of life.
    pub(super) fn touch(&mut self) {
        let silence = if self.open > 0 { self.silence.max(THINKING) } else { self.silence };
        self.due = Instant::now() + silence;
    }

    /// Questions were put.
    pub(super) fn asked(&mut self, questions: usize) {
        self.open += questions;
        self.touch();
    }

    /// Questions were answered.
    pub(super) fn answered(&mut self, questions: usize) {
        self.open = self.open.saturating_sub(questions);
        self.touch();
    }

    /// When it is too late.
    pub(super) fn due(&self) -> Instant {
        self.end.map_or(self.due, |end| end.min(self.due))
    }

    /// What to say then.
    pub(super) fn overdue(&self) -> Error {
        let total = self.end.is_some_and(|end| end <= self.due);
        let what = if total { "the call took longer than it may in all" } else { "the server did not answer in time" };
        Error::new(Kind::Overdue, what)
    }
}
