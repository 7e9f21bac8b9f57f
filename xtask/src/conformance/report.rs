//! What came of one side at one revision.

use std::fmt;

use super::results::{Mark, Scenario};

/// Which of our two sides is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// `toolbay serve everything`.
    Server,
    /// The example `conformance-client`.
    Client,
}

impl Side {
    /// The suite's word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where the list of scenarios comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// The suite's frozen set for the revision.
    Required,
    /// The suite has no such set for the revision: every scenario that it calls applicable there.
    Applicable,
}

impl Basis {
    /// For a table.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Applicable => "applicable",
        }
    }
}

/// Whether a scenario counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scored {
    /// It does.
    Yes,
    /// The suite runs it without counting it.
    No,
}

/// One side's results at one revision.
#[derive(Debug)]
pub(super) struct Report {
    /// The side.
    pub(super) side: Side,
    /// The revision.
    pub(super) revision: String,
    /// Where the list comes from.
    pub(super) basis: Basis,
    /// Every scenario that was run.
    pub(super) scenarios: Vec<Scenario>,
    /// The day of the run, where something was run.
    pub(super) day: Option<String>,
}

impl Report {
    /// How many scenarios ended with a mark.
    pub(super) fn count(&self, scored: Scored, mark: Mark) -> usize {
        let counts = |one: &&Scenario| one.unscored.is_none() == (scored == Scored::Yes) && one.mark == mark;
        self.scenarios.iter().filter(counts).count()
    }

    /// How many were skipped by the suite.
    pub(super) fn skipped(&self) -> usize {
        self.count(Scored::Yes, Mark::Skipped) + self.count(Scored::No, Mark::Skipped)
    }
}
