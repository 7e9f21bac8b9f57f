//! The list of scenarios that are known to fail, each with a reason: `SIDE REVISION scenario — reason`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::report::Report;
use super::results::{Mark, Scenario};
use crate::tally::Tally;

/// The list: side, revision and scenario, with the reason.
pub(super) struct Expected(BTreeMap<[String; 3], String>);

/// What a result means in the light of the list.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
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
    pub(super) fn tally(&self) -> Tally {
        match self {
            Self::Passed => Tally::one(true),
            Self::Skipped | Self::KnownFailure(_) => Tally::skip(),
            Self::Regression | Self::Stale => Tally::one(false),
        }
    }
}

impl Expected {
    /// Reads the file; `#` starts a comment.
    pub(super) fn read(path: &Path) -> Result<Self> {
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
                bail!("line {number} gives no reason; write `SIDE REVISION scenario — reason`");
            };
            let words: Vec<&str> = head.split_whitespace().collect();
            let [side @ ("server" | "client"), revision, scenario] = words[..] else {
                bail!("line {number} names no scenario; write `SIDE REVISION scenario — reason`");
            };
            let key = [side, revision, scenario].map(str::to_owned);
            if list.insert(key, reason.trim().to_owned()).is_some() {
                bail!("line {number} lists {scenario} a second time");
            }
        }
        Ok(Self(list))
    }

    /// The reason on the list.
    pub(super) fn reason(&self, report: &Report, scenario: &str) -> Option<&str> {
        let key = [report.side.word(), &report.revision, scenario].map(str::to_owned);
        self.0.get(&key).map(String::as_str)
    }

    /// Compares one result with the list.
    pub(super) fn judge(&self, report: &Report, scenario: &Scenario) -> Verdict {
        match (scenario.mark, self.reason(report, &scenario.name)) {
            (Mark::Passed, None) => Verdict::Passed,
            (Mark::Passed | Mark::Skipped, Some(_)) => Verdict::Stale,
            (Mark::Skipped, None) => Verdict::Skipped,
            (Mark::Failed, Some(reason)) => Verdict::KnownFailure(reason.to_owned()),
            (Mark::Failed, None) => Verdict::Regression,
        }
    }

    /// Entries for a report that no scenario answers to.
    pub(super) fn strangers(&self, report: &Report) -> Vec<&str> {
        let about = |key: &&[String; 3]| key[0] == report.side.word() && key[1] == report.revision;
        let names = self.0.keys().filter(about).map(|key| key[2].as_str());
        names.filter(|name| !report.scenarios.iter().any(|scenario| scenario.name == *name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::report::{Basis, Side};
    use crate::conformance::results;

    fn report(side: Side, revision: &str, summary: &str) -> Report {
        let empty = crate::places::Scratch::new("expected-test").unwrap();
        let scenarios = results::summed_up(&format!("=== SUMMARY ===\n{summary}"), empty.path()).unwrap();
        Report { side, revision: revision.to_owned(), basis: Basis::Required, scenarios, day: None }
    }

    #[test]
    fn a_listed_failure_is_known_and_a_listed_pass_is_stale() {
        let list = Expected::parse("# why\n\nserver 2026-07-28 tasks-lifecycle — it is not offered\n").unwrap();
        let failed = "✗ tasks-lifecycle: 0 passed, 9 failed\n✗ ping: 0 passed, 1 failed\n";
        let new = report(Side::Server, "2026-07-28", failed);
        assert_eq!(list.judge(&new, &new.scenarios[0]), Verdict::KnownFailure("it is not offered".into()));
        assert_eq!(list.judge(&new, &new.scenarios[1]), Verdict::Regression);
        assert!(list.strangers(&new).is_empty());
        for other in [report(Side::Server, "2025-11-25", failed), report(Side::Client, "2026-07-28", failed)] {
            assert_eq!(list.judge(&other, &other.scenarios[0]), Verdict::Regression);
        }
        let passed = report(Side::Server, "2026-07-28", "✓ tasks-lifecycle: 9 passed, 0 failed\n");
        assert_eq!(list.judge(&passed, &passed.scenarios[0]), Verdict::Stale);
        let gone = report(Side::Server, "2026-07-28", "✓ ping: 1 passed, 0 failed\n");
        assert_eq!(list.strangers(&gone), ["tasks-lifecycle"]);
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        assert!(Expected::parse("server 2026-07-28 ping").is_err());
        assert!(Expected::parse("server 2026-07-28 ping — ").is_err());
        assert!(Expected::parse("2026-07-28 ping — of no side").is_err());
        assert!(Expected::parse("server 2026-07-28 ping — a\nserver 2026-07-28 ping — b").is_err());
    }
}
