//! The list of scenarios that are known to fail, each with a reason: `REVISION scenario — reason`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::results::{Mark, Scenario};
use crate::tally::Tally;

/// The list.
pub(crate) struct Expected(BTreeMap<(String, String), String>);

/// What a result means in the light of the list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Passed, and not on the list.
    Passed,
    /// The suite did not check anything.
    Skipped,
    /// Failed, as the list says, for this reason.
    KnownFailure(String),
    /// Failed, and not on the list.
    Regression,
    /// Passed, but still on the list.
    Stale,
}

impl Verdict {
    /// How it counts.
    pub(crate) fn tally(&self) -> Tally {
        match self {
            Self::Passed => Tally::one(true),
            Self::Skipped | Self::KnownFailure(_) => Tally::skip(),
            Self::Regression | Self::Stale => Tally::one(false),
        }
    }
}

impl Expected {
    /// Reads the file; `#` starts a comment.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> Result<Self> {
        let mut list = BTreeMap::new();
        for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((head, reason)) = line.split_once(" — ").filter(|(_, reason)| !reason.trim().is_empty()) else {
                bail!("line {number} gives no reason; write `REVISION scenario — reason`");
            };
            let Some((revision, scenario)) = head.trim().split_once(' ') else {
                bail!("line {number} names no scenario; write `REVISION scenario — reason`");
            };
            let key = (revision.to_owned(), scenario.trim().to_owned());
            if list.insert(key, reason.trim().to_owned()).is_some() {
                bail!("line {number} lists {scenario} a second time");
            }
        }
        Ok(Self(list))
    }

    /// The reason on the list.
    pub(crate) fn reason(&self, revision: &str, scenario: &str) -> Option<&str> {
        self.0.get(&(revision.to_owned(), scenario.to_owned())).map(String::as_str)
    }

    /// Compares one result with the list.
    pub(crate) fn judge(&self, revision: &str, scenario: &Scenario) -> Verdict {
        match (scenario.mark, self.reason(revision, &scenario.name)) {
            (Mark::Passed, None) => Verdict::Passed,
            (Mark::Passed | Mark::Skipped, Some(_)) => Verdict::Stale,
            (Mark::Skipped, None) => Verdict::Skipped,
            (Mark::Failed, Some(reason)) => Verdict::KnownFailure(reason.to_owned()),
            (Mark::Failed, None) => Verdict::Regression,
        }
    }

    /// Entries of a revision that no scenario answers to.
    pub(crate) fn strangers(&self, revision: &str, scenarios: &[Scenario]) -> Vec<&str> {
        let ours = self.0.keys().filter(|(listed, _)| listed == revision).map(|(_, name)| name.as_str());
        ours.filter(|name| !scenarios.iter().any(|scenario| scenario.name == *name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::results;

    #[test]
    fn a_listed_failure_is_known_and_a_listed_pass_is_stale() {
        let list = Expected::parse("# why\n\n2026-07-28 tasks-lifecycle — the extension is not offered\n").unwrap();
        let summary = "=== SUMMARY ===\n✗ tasks-lifecycle: 0 passed, 9 failed\n✗ ping: 0 passed, 1 failed\n";
        let empty = crate::places::Scratch::new("expected-test").unwrap();
        let found = results::read(summary, empty.path(), None).unwrap();
        assert_eq!(list.judge("2026-07-28", &found[0]), Verdict::KnownFailure("the extension is not offered".into()));
        assert_eq!(list.judge("2025-11-25", &found[0]), Verdict::Regression);
        assert_eq!(list.judge("2026-07-28", &found[1]), Verdict::Regression);
        let passed =
            results::read("=== SUMMARY ===\n✓ tasks-lifecycle: 9 passed, 0 failed\n", empty.path(), None).unwrap();
        assert_eq!(list.judge("2026-07-28", &passed[0]), Verdict::Stale);
        assert_eq!(list.strangers("2026-07-28", &found[1..]), ["tasks-lifecycle"]);
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        assert!(Expected::parse("2026-07-28 ping").is_err());
        assert!(Expected::parse("2026-07-28 ping — ").is_err());
        assert!(Expected::parse("2026-07-28 ping — a\n2026-07-28 ping — b").is_err());
    }
}
