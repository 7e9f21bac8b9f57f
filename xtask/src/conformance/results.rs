//! Reads what the suite left: a summary on stdout and a `checks.json` for each scenario.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// No check failed.
    Passed,
    /// Some check failed, or the scenario broke off.
    Failed,
    /// Nothing was checked.
    Skipped,
}

/// One scenario's result.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// Its name in the suite.
    pub(crate) name: String,
    /// How it ended.
    pub(crate) mark: Mark,
    /// Why it does not count, if it does not.
    pub(crate) unscored: Option<String>,
    complaints: Vec<String>,
}

impl Scenario {
    /// What the failed checks say, each after `before`.
    pub(crate) fn complaints(&self, before: &str) -> String {
        let all: Vec<String> = self.complaints.iter().map(|one| format!("{before}{one}")).collect();
        if all.is_empty() {
            format!("{before}it broke off; run it alone with --scenario {}", self.name)
        } else {
            all.concat()
        }
    }
}

/// All scenarios of a run, in the order of the summary; a run of one scenario has no summary, so it is named.
pub(crate) fn read(stdout: &str, folder: &Path, only: Option<&str>) -> Result<Vec<Scenario>> {
    let mut checks = folders(folder)?;
    let summary = stdout.split_once("=== SUMMARY ===").map_or("", |(_, summary)| summary);
    let mut scenarios = Vec::new();
    for (mark, name) in summary.lines().filter_map(line) {
        let checks = checks.remove(name).unwrap_or_default();
        scenarios.push(scenario(name, Some(mark), &checks));
    }
    if let (true, Some(name)) = (scenarios.is_empty(), only) {
        scenarios.push(scenario(name, None, &checks.remove(name).unwrap_or_default()));
    }
    Ok(scenarios)
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

fn scenario(name: &str, mark: Option<Mark>, checks: &[Value]) -> Scenario {
    let status = |check: &Value, wanted: &str| check["status"] == wanted;
    let complaints: Vec<String> = checks.iter().filter(|check| status(check, "FAILURE")).map(complaint).collect();
    let by_checks = if !complaints.is_empty() || checks.is_empty() {
        Mark::Failed
    } else if checks.iter().any(|check| status(check, "SUCCESS")) {
        Mark::Passed
    } else {
        Mark::Skipped
    };
    Scenario { name: name.to_owned(), mark: mark.unwrap_or(by_checks), unscored: None, complaints }
}

fn complaint(check: &Value) -> String {
    let text = |key: &str| check[key].as_str().unwrap_or_default();
    let mut words = format!(
        "{}: {}",
        text("id"),
        if text("errorMessage").is_empty() { text("description") } else { text("errorMessage") }
    );
    if let Some(violations) = check["details"]["violations"].as_array().filter(|list| !list.is_empty()) {
        words.push_str(&format!(" {}", Value::from(violations.clone())));
    }
    words.replace('\n', " ").chars().take(1200).collect()
}

/// `server-NAME-2026-11-30T12-08-45-787Z/checks.json`, by name.
fn folders(folder: &Path) -> Result<BTreeMap<String, Vec<Value>>> {
    const STAMP: usize = "-2026-11-30T12-08-45-787Z".len();
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file = entry.path().join("checks.json");
        let label = entry.file_name().to_string_lossy().into_owned();
        let name = label.strip_prefix("server-").and_then(|rest| rest.get(..rest.len().checked_sub(STAMP)?));
        if let (Some(name), true) = (name, file.is_file()) {
            let text = fs::read_to_string(&file)?;
            let checks = serde_json::from_str(&text).with_context(|| format!("cannot read {}", file.display()))?;
            found.insert(name.to_owned(), checks);
        }
    }
    Ok(found)
}

/// The server scenarios that a requirement set runs without counting, with the reason it gives.
///
/// The file is YAML, but of one fixed shape: `- scenario:`, `leg:` and `reason:` lines under `not_scored:`.
pub(crate) fn unscored(yaml: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let (mut scenario, mut leg) = ("", "");
    let section = yaml.split_once("\nnot_scored:").map_or("", |(_, section)| section);
    for line in section.lines().map(|line| line.trim_start().trim_start_matches("- ")) {
        match line.split_once(": ") {
            Some(("scenario", name)) => scenario = name.trim(),
            Some(("leg", name)) => leg = name.trim(),
            Some(("reason", reason)) if leg == "server" => {
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
        let failed = scenario("s", None, &checks);
        assert_eq!((failed.mark, failed.complaints(" ").as_str()), (Mark::Failed, " b: no"));
        assert_eq!(scenario("s", None, &checks[..1]).mark, Mark::Passed);
        assert_eq!(scenario("s", None, &[json!({ "status": "SKIPPED" })]).mark, Mark::Skipped);
        assert_eq!(scenario("s", None, &[]).mark, Mark::Failed, "a scenario that broke off leaves no checks");
    }

    #[test]
    fn unscored_scenarios_of_the_server_are_found_with_their_reason() {
        let yaml = "server:\n  - ping\n\nnot_scored:\n  - scenario: auth/dpop\n    leg: client\n    reason: extension\n  \
                    - scenario: json-schema-2020-12\n    leg: server\n    reason: pending\n    note: >-\n      not yet\n";
        assert_eq!(unscored(yaml), BTreeMap::from([("json-schema-2020-12".to_owned(), "pending".to_owned())]));
    }
}
