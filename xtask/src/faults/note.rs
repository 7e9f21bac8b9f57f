//! Writes `docs/faults.md` from a run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use anyhow::Result;

use super::case::Report;
use crate::places;

const HEAD: &str = "\
# Faults

Written by `cargo xtask faults --write`; do not edit. Our own suite of what the official one leaves out: broken input,
broken streams, and ends in the middle. A server is driven by hand-written bytes; a client is let loose on scripted servers
that misbehave. `toolbay` is `toolbay serve everything --faults` and `toolbay call`; the peers, pinned in `interop/`, are the
official SDKs with their defaults: `ts1` is `@modelcontextprotocol/server-everything`, the others are the small programs in
`interop/faults`. What the specification leaves open we judge by what keeps a caller from hanging, a server from falling,
and two readers from reading two things; so a failed case of a peer is not always a breach of the specification.

";

/// Renews the note.
pub(crate) fn write(reports: &[Report]) -> Result<()> {
    fs::write(places::root().join("docs/faults.md"), text(reports)?)?;
    println!("  wrote docs/faults.md");
    Ok(())
}

fn text(reports: &[Report]) -> Result<String> {
    let mut text = HEAD.to_owned();
    writeln!(text, "| target | passed | failed | not tried |\n| --- | --- | --- | --- |")?;
    for report in reports {
        let [held, broken, skipped] = report.counts();
        writeln!(text, "| {} | {held} | {broken} | {skipped} |", report.target)?;
    }
    writeln!(text, "\n## What failed\n\n| target | case | what was seen |\n| --- | --- | --- |")?;
    for report in reports {
        for (line, seen) in report.broken() {
            writeln!(text, "| {} | {} | {} |", report.target, line.name, seen.replace('|', "\\|").replace('`', "'"))?;
        }
    }
    let rights: BTreeMap<(bool, &str), &str> = reports
        .iter()
        .flat_map(|report| report.lines.iter().map(|line| (report.target.ends_with("client"), line)))
        .map(|(client, line)| ((client, line.name.as_str()), line.right))
        .collect();
    for (side, client) in [("server", false), ("client", true)] {
        writeln!(text, "\n## What is right, {side} side\n\n| case | what is right |\n| --- | --- |")?;
        for ((_, name), right) in rights.iter().filter(|((is_client, _), _)| *is_client == client) {
            writeln!(text, "| {name} | {right} |")?;
        }
    }
    Ok(text)
}
