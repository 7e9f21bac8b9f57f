//! The official conformance suite against `toolbay serve everything`, revision by revision.
//!
//! A failure must stand in `conformance/expected-failures.txt` with a reason, and a listed scenario that passes must be
//! taken off: so the list can only shrink.

mod expected;
mod note;
mod results;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use self::expected::{Expected, Verdict};
use self::results::{Mark, Scenario};
use crate::args::Args;
use crate::child;
use crate::gateway::{self, Gateway, Ready};
use crate::peers::{self, Peer};
use crate::places::{self, Scratch};
use crate::table::Table;
use crate::tally::Tally;

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
const UP: Duration = Duration::from_secs(30);
const SUITE: Duration = Duration::from_secs(10 * 60);

/// One revision's results.
pub(crate) struct Report {
    revision: String,
    scenarios: Vec<Scenario>,
}

impl Report {
    /// How many scored (or unscored) scenarios ended with a mark.
    fn count(&self, scored: Scored, mark: Mark) -> usize {
        let counts = |one: &&Scenario| one.unscored.is_none() == (scored == Scored::Yes) && one.mark == mark;
        self.scenarios.iter().filter(counts).count()
    }
}

/// Whether the revision's requirement set counts a scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scored {
    Yes,
    No,
}

/// Runs the suite for the chosen revisions.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let mut revisions = args.values("--revision")?;
    let scenario = args.values("--scenario")?.pop();
    let write = args.flag("--write");
    args.finish()?;
    if write && (scenario.is_some() || !revisions.is_empty()) {
        bail!("--write notes a whole run; leave out --revision and --scenario");
    }
    if revisions.is_empty() {
        revisions = REVISIONS.map(str::to_owned).to_vec();
    }
    let expected = Expected::read(&places::root().join("conformance/expected-failures.txt"))?;
    let suite = Suite { node: peers::node()?, folder: peers::folder(Peer::Conformance)? };
    let url = std::env::var("TOOLBAY_CONFORMANCE_URL").ok();
    let server = match &url {
        Some(_) => None,
        None => Some(Gateway::start(&gateway::binary()?, &["serve", "everything"], Ready::Accepting, UP)?),
    };
    let url = url.or_else(|| server.as_ref().map(|server| server.url("/mcp"))).expect("one of the two is there");

    let mut tally = Tally::default();
    let mut reports = Vec::new();
    for revision in revisions {
        let report = suite.run(&url, &revision, scenario.as_deref())?;
        tally += judge(&report, &expected, scenario.as_deref());
        reports.push(report);
    }
    print_counts(&reports);
    if write {
        note::write(&reports, &expected)?;
    }
    println!("  conformance: {} (a skipped one is known to fail, with its reason on the list)", tally.line());
    Ok(tally)
}

struct Suite {
    node: PathBuf,
    folder: PathBuf,
}

impl Suite {
    fn package(&self) -> PathBuf {
        self.folder.join("node_modules/@modelcontextprotocol/conformance")
    }

    fn run(&self, url: &str, revision: &str, scenario: Option<&str>) -> Result<Report> {
        let scratch = Scratch::new("conformance")?;
        let requirements = self.package().join(format!("requirements/{revision}.yaml"));
        let mut command = Command::new(&self.node);
        command.arg(self.package().join("dist/index.js")).args(["server", "--url", url]).arg("-o").arg(scratch.path());
        match scenario {
            Some(scenario) => command.args(["--spec-version", revision, "--scenario", scenario, "--force"]),
            None if requirements.is_file() => command.args(["--requirements", revision]),
            None => command.args(["--spec-version", revision, "--suite", "all"]),
        };
        let run = child::capture("the conformance suite", command.current_dir(scratch.path()), SUITE)?;
        let mut scenarios = results::read(&run.stdout, scratch.path(), scenario)?;
        if scenarios.is_empty() {
            bail!("the suite ran nothing for {revision}: {} {}", run.stdout.trim(), run.stderr.trim());
        }
        mark_unscored(&mut scenarios, &requirements);
        Ok(Report { revision: revision.to_owned(), scenarios })
    }
}

fn mark_unscored(scenarios: &mut [Scenario], requirements: &Path) {
    let unscored = std::fs::read_to_string(requirements).map(|text| results::unscored(&text)).unwrap_or_default();
    for scenario in scenarios {
        scenario.unscored = unscored.get(&scenario.name).cloned();
    }
}

fn judge(report: &Report, expected: &Expected, only: Option<&str>) -> Tally {
    let mut tally = Tally::default();
    println!("\n  {}:", report.revision);
    for scenario in &report.scenarios {
        let verdict = expected.judge(&report.revision, scenario);
        tally += verdict.tally();
        match &verdict {
            Verdict::Passed => {}
            Verdict::Skipped => println!("    - {}: skipped by the suite", scenario.name),
            Verdict::KnownFailure(reason) => println!("    ~ {}: fails as listed: {reason}", scenario.name),
            Verdict::Regression => println!("    ✗ {}:{}", scenario.name, scenario.complaints("\n        ")),
            Verdict::Stale => println!("    ✗ {}: passes; take it off the list of expected failures", scenario.name),
        }
    }
    if only.is_none() {
        let strangers = expected.strangers(&report.revision, &report.scenarios);
        strangers.iter().for_each(|name| println!("    ✗ {name}: on the list, but the suite has no such scenario"));
        tally.failed += strangers.len();
    }
    tally
}

fn print_counts(reports: &[Report]) {
    println!();
    let mut table = Table::new(&["revision", "required: passed", "failed", "not scored: passed", "failed", "skipped"]);
    for report in reports {
        let count = |scored, mark| report.count(scored, mark).to_string();
        table.row(vec![
            report.revision.clone(),
            count(Scored::Yes, Mark::Passed),
            count(Scored::Yes, Mark::Failed),
            count(Scored::No, Mark::Passed),
            count(Scored::No, Mark::Failed),
            (report.count(Scored::Yes, Mark::Skipped) + report.count(Scored::No, Mark::Skipped)).to_string(),
        ]);
    }
    table.print();
}
