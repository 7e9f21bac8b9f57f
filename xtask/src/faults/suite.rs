//! Reads the command line, drives the targets and prints one row for each.

use std::path::Path;

use anyhow::{Result, bail};
use regex::Regex;

use super::case::{Line, Report, Verdict};
use super::player::Player;
use super::{client, guests, note, server, targets};
use crate::args::Args;
use crate::gateway;
use crate::table::Table;
use crate::tally::Tally;

/// Drives the chosen targets through the chosen cases.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    if let Some(scene) = args.values("--play")?.pop() {
        // The other end of a pipe: nothing but the script may be printed.
        client::pipe_script(&scene, &mut Player::new())?;
        return Ok(Tally::one(true));
    }
    let names = args.values("--target")?;
    let only = args.values("--only")?.pop().map(|text| Regex::new(&text)).transpose()?;
    let write = args.flag("--write");
    args.finish()?;
    if write && (only.is_some() || !names.is_empty()) {
        bail!("--write notes a whole run; leave out --target and --only");
    }
    let reports = drive(&gateway::binary()?, &names, only.as_ref())?;
    if reports.is_empty() {
        let servers = targets::all().into_iter().map(|target| target.name);
        let clients = guests::ALL.iter().map(|guest| guest.name.to_owned());
        let all: Vec<String> = servers.chain(clients).collect();
        bail!("no such target; a target is chosen by the start of its name: {}", all.join(", "));
    }
    print(&reports);
    if write {
        note::write(&reports)?;
    }
    Ok(tally(&reports))
}

/// Ours alone, as one of the steps of `cargo xtask test`.
pub(crate) fn run_ours() -> Result<Tally> {
    let reports = drive(&gateway::binary()?, &["toolbay".to_owned()], None)?;
    print(&reports);
    Ok(tally(&reports))
}

fn drive(binary: &Path, names: &[String], only: Option<&Regex>) -> Result<Vec<Report>> {
    let chosen = |name: &str| names.is_empty() || names.iter().any(|start| name.starts_with(start.as_str()));
    let (mut reports, mut late) = (Vec::new(), Vec::new());
    for target in targets::all().iter().filter(|target| chosen(&target.name)) {
        println!("\n  {}:", target.name);
        match server::run(target, binary, only) {
            Ok((report, rest)) => {
                late.extend(rest.map(|rest| (reports.len(), rest)));
                reports.push(report);
            }
            Err(error) => reports.push(unfit(&target.name, &error)),
        }
    }
    for guest in guests::ALL.into_iter().filter(|guest| chosen(guest.name)) {
        println!("\n  {}:", guest.name);
        reports.push(client::run(guest, binary, only).unwrap_or_else(|error| unfit(guest.name, &error)));
    }
    for (at, rest) in late {
        match rest.join() {
            Ok(lines) => reports[at].lines.extend(lines),
            Err(_) => anyhow::bail!("a thread of the suite broke"),
        }
    }
    Ok(reports)
}

/// A target that could not be tried at all.
fn unfit(name: &str, error: &anyhow::Error) -> Report {
    println!("    ✗ {error:#}");
    let verdict = Verdict::Broken(format!("{error:#}"));
    let line = Line { name: "starts".to_owned(), right: "the target starts", verdict, took: std::time::Duration::ZERO };
    Report { target: name.to_owned(), lines: vec![line] }
}

/// Prints one case as it ends.
pub(crate) fn tell(target: &str, line: &Line) {
    let took = line.took.as_secs_f32();
    match &line.verdict {
        Verdict::Held(seen) if std::env::var_os("FAULTS_ALL").is_some() => {
            println!("    · {}: {seen} [{took:.1} s]", line.name)
        }
        Verdict::Held(_) | Verdict::Skipped(_) => {}
        Verdict::Broken(seen) => println!("    ✗ {target} {}: {} — {seen} [{took:.1} s]", line.name, line.right),
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with("toolbay")
}

/// Only ours can fail the run; the others are there for comparison.
fn tally(reports: &[Report]) -> Tally {
    let mut tally = Tally::default();
    for report in reports {
        let [held, broken, skipped] = report.counts();
        let failed = if is_ours(&report.target) { broken } else { 0 };
        tally += Tally { passed: held, failed, skipped: skipped + broken - failed };
    }
    tally
}

fn print(reports: &[Report]) {
    println!();
    let mut table = Table::new(&["target", "passed", "failed", "not tried", "failed cases"]);
    for report in reports {
        let [held, broken, skipped] = report.counts();
        let failed: Vec<&str> = report.broken().map(|(line, _)| line.name.as_str()).collect();
        table.row(vec![
            report.target.clone(),
            held.to_string(),
            broken.to_string(),
            skipped.to_string(),
            failed.join(" "),
        ]);
    }
    table.print();
    println!("  faults: {} (a failure of a peer counts as skipped)", tally(reports).line());
}
