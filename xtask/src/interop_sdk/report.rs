//! What one pair could do with each other.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use crate::child;

/// In the order of the columns.
pub(crate) const FEATURES: [&str; 13] = [
    "connect",
    "list",
    "call",
    "structured",
    "progress",
    "cancel",
    "elicit",
    "sample",
    "read",
    "update",
    "prompt",
    "complete",
    "close",
];

/// A client gives each feature a minute; this is for one that hangs in all of them.
const LIMIT: Duration = Duration::from_secs(360);

/// How a feature went.
pub(crate) enum Mark {
    /// It works.
    Pass,
    /// One of the two does not have it, and why that is known.
    NotApplicable(&'static str),
    /// It does not work, and what was seen.
    Fail(String),
}

impl Mark {
    /// For the table.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::NotApplicable(_) => "n/a",
            Self::Fail(_) => "FAIL",
        }
    }
}

/// What is not there to be tried, and why.
pub(crate) type Missing = &'static [(&'static str, &'static str)];

/// A pair's whole report.
pub(crate) struct Report {
    /// Who with whom, over what.
    pub(crate) pair: String,
    /// What they agreed on.
    pub(crate) revision: String,
    wanted: &'static str,
    seen: Vec<(String, bool, String)>,
    missing: Missing,
    stderr: String,
}

impl Report {
    /// Lets a client follow a plan, and reads what it says.
    pub(crate) fn of(
        pair: String,
        wanted: &'static str,
        client: &mut Command,
        plan: &Path,
        missing: Missing,
    ) -> Result<Self> {
        let run = child::capture(&pair, client.arg(plan), LIMIT)?;
        let lines = run.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let seen: Vec<_> =
            lines.map(|line| (text(&line["feature"]), line["ok"] == true, text(&line["detail"]))).collect();
        let connected = seen.iter().find(|(feature, held, _)| feature == "connect" && *held);
        let revision = connected.map_or_else(|| "-".to_owned(), |(_, _, detail)| detail.clone());
        let report = Self { pair, revision, wanted, seen, missing, stderr: run.stderr };
        let failed = FEATURES.iter().filter(|feature| matches!(report.mark(feature), Mark::Fail(_))).count();
        println!("  {}: {}", report.pair, if failed == 0 { "pass".to_owned() } else { format!("{failed} FAILED") });
        Ok(report)
    }

    /// How a feature went.
    pub(crate) fn mark(&self, feature: &str) -> Mark {
        if let Some((_, why)) = self.missing.iter().find(|(name, _)| *name == feature) {
            return Mark::NotApplicable(why);
        }
        match self.seen.iter().find(|(name, _, _)| name == feature) {
            Some((_, true, revision)) if feature == "connect" && !revision.starts_with(self.wanted) => {
                Mark::Fail(format!("agreed on {revision} where both know {}", self.wanted))
            }
            Some((_, true, _)) => Mark::Pass,
            Some((_, false, detail)) => Mark::Fail(detail.clone()),
            None => Mark::Fail("the client ended before it".to_owned()),
        }
    }

    /// Prints why something failed or could not be tried.
    pub(crate) fn explain(&self) {
        let mut failed = false;
        for feature in FEATURES {
            match self.mark(feature) {
                Mark::Pass => {}
                Mark::NotApplicable(why) => println!("  {}: {feature}: n/a: {why}", self.pair),
                Mark::Fail(what) => {
                    println!("  {}: {feature}: FAIL: {what}", self.pair);
                    failed = true;
                }
            }
        }
        if failed {
            let tail: Vec<&str> = self.stderr.lines().rev().take(12).collect();
            tail.iter().rev().for_each(|line| println!("    | {line}"));
        }
    }
}
