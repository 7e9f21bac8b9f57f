//! Compares results with the list of expected failures, and prints both.

use super::expected::{Expected, Verdict};
use super::report::{Report, Scored};
use super::results::Mark;
use crate::table::Table;
use crate::tally::Tally;

/// Judges every report; `whole` when entries without a scenario are to be complained of.
pub(super) fn all(reports: &[Report], expected: &Expected, whole: bool) -> Tally {
    let mut tally = Tally::default();
    for report in reports {
        tally += one(report, expected);
        if whole {
            let strangers = expected.strangers(report);
            strangers.iter().for_each(|name| println!("    ✗ {name}: on the list, but the suite has no such scenario"));
            tally.failed += strangers.len();
        }
    }
    tally
}

fn one(report: &Report, expected: &Expected) -> Tally {
    let mut tally = Tally::default();
    println!("\n  {} at {}:", report.side, report.revision);
    for scenario in &report.scenarios {
        let verdict = expected.judge(report, scenario);
        tally += verdict.tally();
        match &verdict {
            Verdict::Passed => {}
            Verdict::Skipped => println!("    - {}: skipped by the suite", scenario.name),
            Verdict::KnownFailure(reason) => println!("    ~ {}: fails as listed: {reason}", scenario.name),
            Verdict::Regression => println!("    ✗ {}:{}", scenario.name, scenario.complaints("\n        ")),
            Verdict::Stale => println!("    ✗ {}: passes; take it off the list of expected failures", scenario.name),
        }
    }
    tally
}

/// One row for each report.
pub(super) fn print_counts(reports: &[Report]) {
    println!();
    let mut table = Table::new(&[
        "side",
        "revision",
        "basis",
        "counted: passed",
        "failed",
        "not scored: passed",
        "failed",
        "skipped",
    ]);
    for report in reports {
        let count = |scored, mark| report.count(scored, mark).to_string();
        table.row(vec![
            report.side.to_string(),
            report.revision.clone(),
            report.basis.word().to_owned(),
            count(Scored::Yes, Mark::Passed),
            count(Scored::Yes, Mark::Failed),
            count(Scored::No, Mark::Passed),
            count(Scored::No, Mark::Failed),
            report.skipped().to_string(),
        ]);
    }
    table.print();
}
