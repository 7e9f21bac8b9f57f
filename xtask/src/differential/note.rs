//! Writes `docs/differential.md` from a run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::time::Duration;

use anyhow::{Result, bail};

use super::play::{Mark, Played};
use super::scripts::FEATURES;
use crate::{child, places};

const HEAD: &str = "\
# Direct and through the bay

Written by `cargo xtask differential --write`; do not edit. The same conversation is held with a server direct and through the bay,
and all that the client hears is compared: results, errors with code, words and data, notes in their order, questions. Left out or
evened are: the prefix of names; ids that are minted anew each time; what only one of two eras writes (`resultType`, `ttlMs`,
`cacheScope`, who answered, `execution`); the number of the error for a resource that is not there; questions for roots, which
clients answer from memory; lines of log that a client did not ask for; and of tasks all but their questions and outcome.

";

const FOREIGN: &str = "\
## Other people's servers

`toolbay up` before each, and callers over each transport in both eras. The client is the example `differential-client`; direct it
speaks the revision that the bay speaks with the server. *ok*: the same. *own*: the bay's own words. *n/a*: the server does not
offer it.

";

const OURS: &str = "\
## Each pair of eras over each pair of carriers

A server of our own that has everything (`crates/toolbay-gateway/tests/differential`, a test of the gateway); *legacy* is 2025-11-25,
*modern* 2026-07-28. *cut* is Streamable HTTP over a line that breaks off after each event, so that the client comes back for the rest.
A column is the client's carrier → the server's. `=`: the same. Of a task its name and the time of its last change are left out.

";

const LIMIT: Duration = Duration::from_secs(30 * 60);

/// Renews the note.
pub(super) fn write(played: &[Played]) -> Result<()> {
    let mut text = HEAD.to_owned();
    text += FOREIGN;
    foreign(&mut text, played)?;
    text += OURS;
    text += &ours()?;
    fs::write(places::root().join("docs/differential.md"), text)?;
    println!("  wrote docs/differential.md");
    Ok(())
}

fn foreign(text: &mut String, played: &[Played]) -> Result<()> {
    writeln!(text, "| server, over | caller | {} |", FEATURES.join(" | "))?;
    writeln!(text, "|---|---|{}", "---|".repeat(FEATURES.len()))?;
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for one in played {
        for way in &one.ways {
            let words: Vec<_> = way.marks.iter().map(Mark::word).collect();
            writeln!(text, "| {} ({}) | {} | {} |", one.title, one.revision, way.caller, words.join(" | "))?;
            for (feature, mark) in FEATURES.iter().zip(&way.marks) {
                let reason = match mark {
                    Mark::Instead(why) => format!("*own*, {feature}: {why}"),
                    Mark::NotApplicable(why) => format!("*n/a*, {feature}: {why}"),
                    Mark::Same | Mark::Different(_) => continue,
                };
                let name = one.title.split(',').next().unwrap_or_default();
                let names = reasons.entry(reason).or_default();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
    }
    writeln!(text)?;
    for (reason, names) in reasons {
        writeln!(text, "- {reason} ({}).", names.join(", "))?;
    }
    writeln!(text)?;
    Ok(())
}

/// The tables of the gateway's own test.
fn ours() -> Result<String> {
    let mut cargo = places::cargo();
    cargo.args(["test", "--package", "toolbay-gateway", "--test", "differential", "--", "--nocapture"]);
    let run = child::capture("cargo test", &mut cargo, LIMIT)?;
    if !run.status.success() {
        bail!("the gateway's own differential test fails:\n{}", run.stderr.trim());
    }
    Ok(run.stdout)
}
