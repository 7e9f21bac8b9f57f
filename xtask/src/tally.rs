//! Counts of what passed, failed and was skipped.

use std::ops::AddAssign;

/// How a command went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Held.
    pub(crate) passed: usize,
    /// Did not hold.
    pub(crate) failed: usize,
    /// Not run, or known to fail with a reason on the list.
    pub(crate) skipped: usize,
}

impl Tally {
    /// One check.
    pub(crate) fn one(held: bool) -> Self {
        Self { passed: usize::from(held), failed: usize::from(!held), skipped: 0 }
    }

    /// One check that was not made.
    pub(crate) fn skip() -> Self {
        Self { skipped: 1, ..Self::default() }
    }

    /// The line that closes a run.
    pub(crate) fn line(self) -> String {
        let line = format!("{} passed, {} failed", self.passed, self.failed);
        if self.skipped == 0 { line } else { format!("{line}, {} skipped", self.skipped) }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}
