//! Reads what the suite left: a summary on stdout, a `checks.json` for each scenario, and its lists of scenarios.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::report::Side;
use crate::child::Captured;

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// No check failed.
    Passed,
    /// Some check failed, or the scenario broke off.
    Failed,
    /// Nothing was checked.
    Skipped,
}

impl Mark {
    /// For a table.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// One scenario's result.
#[derive(Debug)]
pub(super) struct Scenario {
    /// Its name in the suite.
    pub(super) name: String,
    /// How it ended.
    pub(super) mark: Mark,
    /// Why it does not count, if it does not.
    pub(super) unscored: Option<String>,
    /// Why the suite skipped it, in its own words.
    pub(super) excuse: Option<String>,
    complaints: Vec<String>,
}

impl Scenario {
    /// What the failed checks say, each after `before`.
    pub(super) fn complaints(&self, before: &str) -> String {
        let all: Vec<String> = self.complaints.iter().map(|one| format!("{before}{one}")).collect();
        if all.is_empty() {
            format!("{before}it broke off; run it alone with --scenario {}", self.name)
        } else {
            all.concat()
        }
    }
}

/// All scenarios of a run of the server, in the order of the summary.
pub(super) fn summed_up(stdout: &str, folder: &Path) -> Result<Vec<Scenario>> {
    let mut checks = folders(folder, "server-")?;
    let summary = stdout.split_once("=== SUMMARY ===").map_or("", |(_, summary)| summary);
    let mut scenarios = Vec::new();
    for (mark, name) in summary.lines().filter_map(line) {
        let checks = checks.remove(name).unwrap_or_default();
        scenarios.push(Scenario { mark, ..scenario(name, &checks) });
    }
    Ok(scenarios)
}

/// A run of one scenario, which has no summary. A client must also have ended well, and without warnings.
pub(super) fn alone(name: &str, side: Side, folder: &Path, run: &Captured) -> Result<Scenario> {
    let prefix = match side {
        Side::Server => "server-",
        Side::Client => "",
    };
    let mut scenario = scenario(name, &folders(folder, prefix)?.remove(name).unwrap_or_default());
    if side == Side::Client && !run.status.success() {
        scenario.mark = Mark::Failed;
        let tail = run.stderr.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(12);
        let tail: Vec<&str> = tail.collect();
        scenario.complaints.extend(tail.into_iter().rev().map(|line| format!("| {line}")));
    }
    Ok(scenario)
}

/// `✓ name: 3 passed, 0 failed`.
fn line(line: &str) -> Option<(Mark, &str)> {
    let (mark, rest) = match line.chars().next()? {
        '✓' => (Mark::Passed, line.strip_prefix("✓ ")?),
        '✗' => (Mark::Failed, line.strip_prefix("✗ ")?),
        _ => return None,
    };
    let (name, counts) = rest.split_once(": ")?;
    let nothing = counts.starts_with("0 passed, 0 failed");
    counts.contains(" passed, ").then_some((if nothing { Mark::Skipped } else { mark }, name))
}

fn scenario(name: &str, checks: &[Value]) -> Scenario {
    let with = |wanted: &'static str| checks.iter().filter(move |check| check["status"] == wanted);
    let complaints: Vec<String> = with("FAILURE").map(complaint).collect();
    let mark = if !complaints.is_empty() || checks.is_empty() {
        Mark::Failed
    } else if with("SUCCESS").next().is_some() {
        Mark::Passed
    } else {
        Mark::Skipped
    };
    let excuse = with("SKIPPED").next().map(|check| said(check).trim_start_matches("Skipped: ").to_owned());
    Scenario { name: name.to_owned(), mark, unscored: None, excuse, complaints }
}

fn said(check: &Value) -> &str {
    let text = |key: &str| check[key].as_str().filter(|text| !text.is_empty());
    text("errorMessage").or(text("description")).unwrap_or_default()
}

fn complaint(check: &Value) -> String {
    let mut words = format!("{}: {}", check["id"].as_str().unwrap_or_default(), said(check));
    if let Some(violations) = check["details"]["violations"].as_array().filter(|list| !list.is_empty()) {
        words.push_str(&format!(" {}", Value::from(violations.clone())));
    }
    words.replace('\n', " ").chars().take(1200).collect()
}

const STAMP: usize = "-2026-11-30T12-08-45-787Z".len();

/// `PREFIXNAME-2026-11-30T12-08-45-787Z/checks.json`, by name.
fn folders(folder: &Path, prefix: &str) -> Result<BTreeMap<String, Vec<Value>>> {
    let mut found = BTreeMap::new();
    for label in labels(folder) {
        let file = folder.join(&label).join("checks.json");
        let name = label.strip_prefix(prefix).and_then(|rest| rest.get(..rest.len().checked_sub(STAMP)?));
        if let (Some(name), true) = (name, file.is_file()) {
            let text = fs::read_to_string(&file)?;
            let checks = serde_json::from_str(&text).with_context(|| format!("cannot read {}", file.display()))?;
            found.insert(name.to_owned(), checks);
        }
    }
    Ok(found)
}

fn labels(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The day that the suite stamped its results with.
pub(super) fn day(folder: &Path) -> Option<String> {
    let stamps = labels(folder).into_iter().filter_map(|label| {
        let stamp = label.get(label.len().checked_sub(STAMP)? + 1..)?;
        Some(stamp.split_once('T')?.0.to_owned())
    });
    stamps.max()
}

/// The names in what `list` prints: `  - name [revisions]`.
pub(super) fn listed(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("  - "));
    lines.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

/// The scenarios of a side that a requirement set counts: a list of names under `server:` or `client:`.
pub(super) fn required(yaml: &str, side: Side) -> Vec<String> {
    let head = format!("{side}:");
    let section = yaml.lines().skip_while(|line| *line != head).skip(1);
    let names = section.take_while(|line| line.is_empty() || line.starts_with([' ', '#']));
    names.filter_map(|line| Some(line.strip_prefix("  - ")?.trim().to_owned())).collect()
}

/// The scenarios of a side that a requirement set runs without counting, with the reason it gives.
///
/// The file is YAML, but of one fixed shape: `- scenario:`, `leg:` and `reason:` lines under `not_scored:`.
pub(super) fn unscored(yaml: &str, side: Side) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let (mut scenario, mut leg) = ("", "");
    let section = yaml.split_once("\nnot_scored:").map_or("", |(_, section)| section);
    for line in section.lines().map(|line| line.trim_start().trim_start_matches("- ")) {
        match line.split_once(": ") {
            Some(("scenario", name)) => scenario = name.trim(),
            Some(("leg", name)) => leg = name.trim(),
            Some(("reason", reason)) if leg == side.word() => {
                found.insert(scenario.to_owned(), reason.trim().to_owned());
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn summary_lines_are_told_from_the_rest() {
        assert_eq!(line("✓ ping: 2 passed, 0 failed"), Some((Mark::Passed, "ping")));
        assert_eq!(line("✗ tools-call-error: 1 passed, 1 failed"), Some((Mark::Failed, "tools-call-error")));
        assert_eq!(line("✓ tasks-status: 0 passed, 0 failed"), Some((Mark::Skipped, "tasks-status")));
        assert_eq!(line("  ✗ json-schema-2020-12 (pending)"), None);
        assert_eq!(line("Total: 47 passed, 22 failed"), None);
    }

    #[test]
    fn checks_alone_give_a_mark_and_the_complaints() {
        let checks = [
            json!({ "id": "a", "status": "SUCCESS" }),
            json!({ "id": "b", "status": "FAILURE", "errorMessage": "no" }),
        ];
        let failed = scenario("s", &checks);
        assert_eq!((failed.mark, failed.complaints(" ").as_str()), (Mark::Failed, " b: no"));
        assert_eq!(scenario("s", &checks[..1]).mark, Mark::Passed);
        let skipped = scenario("s", &[json!({ "id": "c", "status": "SKIPPED", "description": "not yet" })]);
        assert_eq!((skipped.mark, skipped.excuse.as_deref()), (Mark::Skipped, Some("not yet")));
        assert_eq!(scenario("s", &[]).mark, Mark::Failed, "a scenario that broke off leaves no checks");
    }

    #[test]
    fn a_requirement_set_tells_what_counts_and_what_does_not() {
        let yaml = "server:\n  - ping\n\nclient:\n  - initialize\n  # a comment\n  - auth/x\n\nnot_scored:\n  \
                    - scenario: auth/dpop\n    leg: client\n    reason: extension\n  \
                    - scenario: json-schema-2020-12\n    leg: server\n    reason: pending\n    note: >-\n      not yet\n";
        assert_eq!(required(yaml, Side::Server), ["ping"]);
        assert_eq!(required(yaml, Side::Client), ["initialize", "auth/x"]);
        let pending = BTreeMap::from([("json-schema-2020-12".to_owned(), "pending".to_owned())]);
        assert_eq!(unscored(yaml, Side::Server), pending);
        assert_eq!(unscored(yaml, Side::Client).len(), 1);
    }

    #[test]
    fn names_are_read_from_a_list_and_the_day_from_a_folder() {
        let list = "Client scenarios (test against a client):\n  - initialize [2025-06-18,2025-11-25]\n  - x\n";
        assert_eq!(listed(list), ["initialize", "x"]);
        let scratch = crate::places::Scratch::new("conformance-day-test").unwrap();
        assert_eq!(day(scratch.path()), None);
        fs::create_dir(scratch.path().join("server-ping-2026-11-30T12-08-45-787Z")).unwrap();
        assert_eq!(day(scratch.path()).as_deref(), Some("2026-11-30"));
    }
}
