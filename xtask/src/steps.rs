//! `cargo xtask test`: every check of the project, in order, each to its end; one line counts them all.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::args::Args;
use crate::child::{self, Captured};
use crate::table::Table;
use crate::tally::Tally;
use crate::{
    chaos, chat, churn, conformance, devices, differential, eval, faults, fuzz, gateway, interop, interop_sdk, peers,
    places, providers, ready, rules, tidy,
};

const LIMIT: Duration = Duration::from_secs(60 * 60);

type Step = (&'static str, fn() -> Result<Tally>);

const HERE: [Step; 9] = [
    ("format", || cargo(&["fmt", "--all", "--", "--check"])),
    ("clippy", || cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"])),
    ("tidy", tidy::run),
    ("tests", tests),
    ("documentation", documentation),
    ("dependencies", deny),
    ("release build", || gateway::binary().map(|path| said(&path.display().to_string()))),
    ("rules", || rules::run(Args::none())),
    ("chaos", || chaos::run(Args::none())),
];

const WITH_PEERS: [Step; 12] = [
    ("peers", peers::fetch_all),
    ("conformance", || conformance::run(Args::none())),
    ("interop", || interop::run(Args::none())),
    ("interop sdk", || interop_sdk::run(Args::none())),
    ("providers", || providers::run(Args::none())),
    ("differential", || differential::run(Args::none())),
    ("chat", || chat::run(Args::none())),
    ("devices", || devices::run(Args::none())),
    ("faults", faults::run_ours),
    ("fuzz", fuzz::run_in_tests),
    ("ready", || ready::run(Args::none())),
    ("churn", || churn::run(Args::none())),
];

/// Runs all steps; `--quick` leaves out what needs foreign peers.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let quick = args.flag("--quick");
    let corpora = eval::corpora(&mut args)?;
    args.finish()?;
    let peers: &[Step] = if quick { &[] } else { &WITH_PEERS };
    let started = Instant::now();
    let mut table = Table::new(&["step", "time", "passed", "failed", "skipped"]);
    let mut all = Tally::default();
    let eval: (&str, Box<dyn Fn() -> Result<Tally>>) = ("eval", Box::new(|| eval::run_in_tests(&corpora)));
    let boxed = |(name, step): &Step| (*name, Box::new(*step) as Box<dyn Fn() -> Result<Tally>>);
    for (name, step) in HERE.iter().map(boxed).chain([eval]).chain(peers.iter().map(boxed)) {
        println!("\n── {name} ──");
        let begun = Instant::now();
        let tally = step().unwrap_or_else(|error| {
            println!("error: {error:#}");
            Tally::one(false)
        });
        let time = format!("{:.1} s", begun.elapsed().as_secs_f32());
        println!("── {name}: {} in {time}", if tally.failed == 0 { "held" } else { "FAILED" });
        table.row(vec![
            name.to_owned(),
            time,
            tally.passed.to_string(),
            tally.failed.to_string(),
            tally.skipped.to_string(),
        ]);
        all += tally;
    }
    println!("\n── all steps, {:.0} s ──", started.elapsed().as_secs_f32());
    table.print();
    println!("{}", all.line());
    Ok(all)
}

fn said(words: &str) -> Tally {
    println!("  {words}");
    Tally::one(true)
}

fn command(args: &[&str]) -> Command {
    let mut command = places::cargo();
    command.args(args);
    command
}

fn cargo(args: &[&str]) -> Result<Tally> {
    let status = child::show("cargo", &mut command(args), LIMIT, |_| ())?;
    Ok(Tally::one(status.success()))
}

fn has(subcommand: &str) -> bool {
    let run = child::capture("cargo", &mut command(&[subcommand, "--version"]), Duration::from_secs(60));
    run.is_ok_and(|Captured { status, .. }| status.success())
}

/// All tests; doc tests apart, since nextest does not run them.
fn tests() -> Result<Tally> {
    if has("nextest") {
        let nextest = ["nextest", "run", "--workspace", "--all-features", "--no-tests=warn", "--no-fail-fast"];
        let mut tally = counted(&nextest, nextest_count)?;
        tally += counted(&["test", "--workspace", "--all-features", "--doc", "--no-fail-fast"], cargo_count)?;
        Ok(tally)
    } else {
        counted(&["test", "--workspace", "--all-features", "--no-fail-fast"], cargo_count)
    }
}

/// Runs tests and counts them from their closing lines; a run that breaks off counts as one failure.
fn counted(args: &[&str], count: fn(&str) -> Option<Tally>) -> Result<Tally> {
    let mut tally = Tally::default();
    let status = child::show("cargo", &mut command(args), LIMIT, |line| {
        if let Some(count) = count(&strip_colour(line)) {
            tally += count;
        }
    })?;
    if !status.success() && tally.failed == 0 {
        tally.failed = 1;
    }
    Ok(tally)
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; …`
fn cargo_count(line: &str) -> Option<Tally> {
    Some(numbers(line.strip_prefix("test result: ")?))
}

/// `Summary [ 1s] 4 tests run: 3 passed, 1 failed, 0 skipped`; it shows the output of failed tests too, which holds
/// lines of the other form.
fn nextest_count(line: &str) -> Option<Tally> {
    Some(numbers(line.trim_start().strip_prefix("Summary [")?.split_once(" run: ")?.1))
}

fn numbers(text: &str) -> Tally {
    let mut tally = Tally::default();
    for part in text.split([';', ',', '.']) {
        let mut words = part.split_whitespace();
        match (words.next().and_then(|number| number.parse::<usize>().ok()), words.next()) {
            (Some(number), Some("passed")) => tally.passed = number,
            (Some(number), Some("failed" | "timed")) => tally.failed += number,
            (Some(number), Some("ignored" | "skipped")) => tally.skipped = number,
            _ => {}
        }
    }
    tally
}

fn strip_colour(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

fn documentation() -> Result<Tally> {
    let mut doc = command(&["doc", "--workspace", "--no-deps", "--all-features"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    let status = child::show("cargo doc", &mut doc, LIMIT, |_| ())?;
    Ok(Tally::one(status.success()))
}

/// Licences, bans and sources always; advisories where their database can be reached.
fn deny() -> Result<Tally> {
    if !has("deny") {
        println!("  skipped: cargo-deny is not installed (`cargo install cargo-deny --locked`)");
        return Ok(Tally::skip());
    }
    let mut tally = cargo(&["deny", "--log-level=error", "check", "bans", "licenses", "sources"])?;
    let mut advisories = command(&["deny", "check", "advisories"]);
    let run = child::capture("cargo deny", &mut advisories, Duration::from_secs(120));
    match run {
        Ok(run) if run.status.success() => tally += Tally::one(true),
        Ok(run) if !run.stderr.contains("failed to fetch") && !run.stderr.contains("advisory database") => {
            println!("{}{}", run.stdout, run.stderr);
            tally += Tally::one(false);
        }
        Ok(_) | Err(_) => {
            println!("  advisories skipped: their database cannot be reached from here");
            tally += Tally::skip();
        }
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_of_both_runners_are_counted() {
        let tally = |passed, failed, skipped| Some(Tally { passed, failed, skipped });
        let cargo = "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(cargo_count(cargo), tally(3, 1, 2));
        assert_eq!(nextest_count(cargo), None);
        assert_eq!(nextest_count("     Summary [   0.010s] 10 tests run: 10 passed, 0 skipped"), tally(10, 0, 0));
        let late = "     Summary [   9.0s] 5 tests run: 2 passed (1 slow), 1 failed, 2 timed out, 4 skipped";
        assert_eq!(nextest_count(late), tally(2, 3, 4));
        let colours =
            "\u{1b}[32;1m     Summary\u{1b}[0m [ 0.0s] \u{1b}[1m1\u{1b}[0m test run: \u{1b}[1m1\u{1b}[0m passed";
        assert_eq!(nextest_count(&strip_colour(colours)), tally(1, 0, 0));
        assert_eq!(nextest_count("Summary of nothing"), None);
    }
}
