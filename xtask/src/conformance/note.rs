//! Writes `docs/conformance.md` from a run, so that the note cannot say more than the suite did.

use std::fmt::Write;
use std::fs;

use anyhow::Result;

use super::expected::Expected;
use super::results::Mark;
use super::{Report, Scored};
use crate::places;

const HEAD: &str = "\
# Conformance

Written by `cargo xtask conformance --write`; do not edit. The official suite
(`@modelcontextprotocol/conformance`, pinned in `interop/npm/conformance`) ran against
`toolbay serve everything` over Streamable HTTP, once for each revision that has a requirement set.
\"Not scored\" are scenarios that the suite itself runs without counting them: extensions, and scenarios still pending or
added after the revision's release.

";

/// Renews the note.
pub(crate) fn write(reports: &[Report], expected: &Expected) -> Result<()> {
    let path = places::root().join("docs/conformance.md");
    fs::write(&path, text(reports, expected)?)?;
    println!("  wrote docs/conformance.md");
    Ok(())
}

fn text(reports: &[Report], expected: &Expected) -> Result<String> {
    let mut text = HEAD.to_owned();
    writeln!(text, "| revision | required | passed | failed | not scored | passed | failed | skipped |")?;
    writeln!(text, "| --- | --- | --- | --- | --- | --- | --- | --- |")?;
    for report in reports {
        let count = |scored, mark| report.count(scored, mark);
        let all =
            |scored| [Mark::Passed, Mark::Failed, Mark::Skipped].map(|mark| count(scored, mark)).iter().sum::<usize>();
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            report.revision,
            all(Scored::Yes),
            count(Scored::Yes, Mark::Passed),
            count(Scored::Yes, Mark::Failed),
            all(Scored::No),
            count(Scored::No, Mark::Passed),
            count(Scored::No, Mark::Failed),
            count(Scored::Yes, Mark::Skipped) + count(Scored::No, Mark::Skipped),
        )?;
    }
    for report in reports {
        failures(&mut text, report, expected)?;
    }
    Ok(text)
}

fn failures(text: &mut String, report: &Report, expected: &Expected) -> Result<()> {
    let failed: Vec<_> = report.scenarios.iter().filter(|scenario| scenario.mark == Mark::Failed).collect();
    if failed.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n## What fails at {}\n\n| scenario | counts | why |\n| --- | --- | --- |", report.revision)?;
    for scenario in failed {
        let counts = scenario.unscored.as_deref().map_or("required".to_owned(), |why| format!("not scored ({why})"));
        let why = expected.reason(&report.revision, &scenario.name).unwrap_or("not yet explained");
        writeln!(text, "| {} | {counts} | {why} |", scenario.name)?;
    }
    Ok(())
}
