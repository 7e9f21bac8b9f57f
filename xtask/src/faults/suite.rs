//! Reads the command line, drives the targets and prints one row for each.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Result, bail};
use regex::Regex;

use super::case::{Line, Report, Verdict};
use super::guests::Guest;
use super::player::Player;
use super::targets::Target;
use super::{client, guests, note, server, targets};
use crate::args::Args;
use crate::gateway;
use crate::table::Table;
use crate::tally::Tally;

/// Drives the chosen targets through the chosen cases.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    if args.flag("--ours") {
        args.finish()?;
        return run_ours();
    }
    if let Some(scene) = args.values("--play")?.pop() {
        // The other end of a pipe: nothing but the script may be printed. A client may start us more than once.
        if let Some(sign) = args.values("--sign")?.pop() {
            let mut sign = std::fs::OpenOptions::new().create(true).append(true).open(sign)?;
            writeln!(sign, "{}", std::process::id())?;
        }
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

/// Ours alone: no failure of theirs is to be explained, and none is waited for.
pub(crate) fn run_ours() -> Result<Tally> {
    let reports = drive(&gateway::binary()?, &["toolbay".to_owned()], None)?;
    print(&reports);
    Ok(tally(&reports))
}

fn drive(binary: &Path, names: &[String], only: Option<&Regex>) -> Result<Vec<Report>> {
    let chosen = |name: &str| names.is_empty() || names.iter().any(|start| name.starts_with(start.as_str()));
    let broke = |_| anyhow::anyhow!("a thread of the suite broke");
    let targets: Vec<Target> = targets::all().into_iter().filter(|target| chosen(&target.name)).collect();
    let guests: Vec<Guest> = guests::ALL.into_iter().filter(|guest| chosen(guest.name)).collect();
    // Clients wait more than they work, servers the other way round.
    thread::scope(|scope| {
        let run = |guest| client::run(guest, binary, only).unwrap_or_else(|error| unfit(guest.name, &error));
        let clients = scope.spawn(move || two_by_two(guests, run));
        let run = |target: Target| {
            server::run(&target, binary, only).unwrap_or_else(|error| (unfit(&target.name, &error), None))
        };
        let mut reports = Vec::new();
        for (mut report, late) in two_by_two(targets, run) {
            if let Some(late) = late {
                report.lines.extend(late.join().map_err(broke)?);
            }
            reports.push(report);
        }
        reports.extend(clients.join().map_err(broke)?);
        Ok(reports)
    })
}

/// Runs all, two at a time, and gives what came of them in their order.
fn two_by_two<T: Send, R: Send>(items: Vec<T>, run: impl Fn(T) -> R + Sync) -> Vec<R> {
    let queue = Mutex::new(items.into_iter().enumerate());
    let done = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((at, item)) = next else { return };
                    let result = run(item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(at, result);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
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
            println!("    · {target} {}: {seen} [{took:.1} s]", line.name)
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
