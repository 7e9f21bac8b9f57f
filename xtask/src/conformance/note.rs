//! Writes `docs/conformance.md` from a run, so that the note cannot say more than the suite did.

use std::fmt::Write;
use std::fs;

use anyhow::Result;

use super::expected::Expected;
use super::report::{Report, Scored};
use super::results::{Mark, Scenario};
use super::through::Compared;
use crate::places;

const HEAD: &str = "\
# Conformance

Written by `cargo xtask conformance --write`; do not edit. The same command without `--write` repeats the run, `--server`,
`--client`, `--through`, `--revision R` and `--scenario S` a part of it; `cargo xtask test` contains it.

The server is `toolbay serve everything` over Streamable HTTP; the client is the example `conformance-client`. \"Required\"
is the suite's frozen set for a revision; older revisions have none, so there every scenario counts that the suite calls
applicable, and a forwarder makes the suite's own client open the handshake with that revision instead of the newest. \"Not
scored\" are scenarios that the suite itself runs without counting them: extensions, and scenarios that are
pending or were added after the revision's release. Not run: the client's `auth/` scenarios and those of the skills extension
(`sep-2640-*`), which are not shipped. The suite has scenarios for the tasks extension of 2026-07-28 and none for the tasks of
2025-11-25; those are held by our own tests.

";

const THROUGH: &str = "
## Through the bay

The same scenarios, with the same server behind `toolbay up` under its own names (`\"names\": \"own\"`), compared one by one with
its results without a bay: passed, failed or skipped alike. What crosses between the eras is compared by the gateway's own tests
as well.

";

/// Renews the note.
pub(super) fn write(reports: &[Report], compared: &[Compared], expected: &Expected, version: &str) -> Result<()> {
    let path = places::root().join("docs/conformance.md");
    fs::write(&path, text(reports, compared, expected, version)?)?;
    println!("  wrote docs/conformance.md");
    Ok(())
}

fn text(reports: &[Report], compared: &[Compared], expected: &Expected, version: &str) -> Result<String> {
    let mut text = HEAD.to_owned();
    let day = reports.iter().filter_map(|report| report.day.as_deref()).max().unwrap_or("an unknown day");
    writeln!(
        text,
        "Suite: `@modelcontextprotocol/conformance` {version}, pinned in `interop/npm/conformance`. Run: {day}.\n"
    )?;
    writeln!(text, "| side | revision | basis | counted | passed | failed | not scored | passed | failed | skipped |")?;
    writeln!(text, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
    for report in reports {
        let count = |scored, mark| report.count(scored, mark);
        let all = |scored| [Mark::Passed, Mark::Failed, Mark::Skipped].iter().map(|mark| count(scored, *mark)).sum();
        let (counted, unscored): (usize, usize) = (all(Scored::Yes), all(Scored::No));
        writeln!(
            text,
            "| {} | {} | {} | {counted} | {} | {} | {unscored} | {} | {} | {} |",
            report.side,
            report.revision,
            report.basis.word(),
            count(Scored::Yes, Mark::Passed),
            count(Scored::Yes, Mark::Failed),
            count(Scored::No, Mark::Passed),
            count(Scored::No, Mark::Failed),
            report.skipped(),
        )?;
    }
    failures(&mut text, reports, expected)?;
    through(&mut text, compared)?;
    unscored(&mut text, reports)?;
    for report in reports.iter().filter(|report| !report.scenarios.is_empty()) {
        names(&mut text, report)?;
    }
    Ok(text)
}

fn failures(text: &mut String, reports: &[Report], expected: &Expected) -> Result<()> {
    let failed: Vec<_> = with(reports, |scenario| scenario.mark == Mark::Failed).collect();
    if failed.is_empty() {
        writeln!(text, "\nNothing fails; the list of expected failures is empty.")?;
        return Ok(());
    }
    writeln!(text, "\n## What fails\n\n| side | revision | scenario | why |\n| --- | --- | --- | --- |")?;
    for (report, scenario) in failed {
        let why = expected.reason(report, &scenario.name).unwrap_or("not yet explained");
        writeln!(text, "| {} | {} | {} | {why} |", report.side, report.revision, scenario.name)?;
    }
    Ok(())
}

fn through(text: &mut String, compared: &[Compared]) -> Result<()> {
    text.push_str(THROUGH);
    writeln!(
        text,
        "| suite's client at | the bay's server over | scenarios | as without | not |\n| --- | --- | --- | --- | --- |"
    )?;
    for one in compared {
        let (all, alike) = (one.pairs.len(), one.alike());
        writeln!(text, "| {} | {} | {all} | {alike} | {} |", one.revision, one.way.word(), all - alike)?;
    }
    let differing = |one: &Compared| one.pairs.iter().any(|pair| pair.direct != pair.through);
    if !compared.iter().any(differing) {
        return Ok(());
    }
    writeln!(
        text,
        "\n| suite's client at | server over | scenario | without | through | why |\n| --- | --- | --- | --- | --- | --- |"
    )?;
    for one in compared {
        for pair in one.pairs.iter().filter(|pair| pair.direct != pair.through) {
            let (direct, through) = (pair.direct.word(), pair.through.word());
            let why = pair.excuse.unwrap_or("not yet explained");
            writeln!(text, "| {} | {} | {} | {direct} | {through} | {why} |", one.revision, one.way.word(), pair.name)?;
        }
    }
    Ok(())
}

fn unscored(text: &mut String, reports: &[Report]) -> Result<()> {
    writeln!(
        text,
        "\n## Not scored\n\n| side | revision | scenario | why not | result |\n| --- | --- | --- | --- | --- |"
    )?;
    for (report, scenario) in with(reports, |scenario| scenario.unscored.is_some()) {
        let why = scenario.unscored.as_deref().unwrap_or_default();
        let excuse = scenario.excuse.as_deref().filter(|_| scenario.mark == Mark::Skipped);
        let excuse = excuse.map(|excuse| format!(": {}", excuse.replace('|', "\\|"))).unwrap_or_default();
        let result = format!("{}{excuse}", scenario.mark.word());
        writeln!(text, "| {} | {} | {} | {why} | {result} |", report.side, report.revision, scenario.name)?;
    }
    Ok(())
}

fn names(text: &mut String, report: &Report) -> Result<()> {
    let counted = report.scenarios.iter().filter(|scenario| scenario.unscored.is_none());
    let name = |scenario: &Scenario| match scenario.mark {
        Mark::Passed => scenario.name.clone(),
        Mark::Failed | Mark::Skipped => format!("{} ({})", scenario.name, scenario.mark.word()),
    };
    let names: Vec<String> = counted.map(name).collect();
    writeln!(text, "\n## Counted for the {} at {}\n\n{}", report.side, report.revision, names.join(", "))?;
    Ok(())
}

fn with(reports: &[Report], is: fn(&Scenario) -> bool) -> impl Iterator<Item = (&Report, &Scenario)> {
    reports.iter().flat_map(move |report| {
        report.scenarios.iter().filter(move |scenario| is(scenario)).map(move |scenario| (report, scenario))
    })
}
