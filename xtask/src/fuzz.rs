//! `cargo xtask fuzz`: builds the targets of `fuzz/` with the marks that libFuzzer steers by, and runs them, each for a
//! while. Stable Rust and a C++ compiler are enough.
//!
//! Seeds are read from the clone and never written; what a run finds is kept in the cache and read by the next one.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::child::{self, Captured, Guard};
use crate::places;
use crate::table::Table;
use crate::tally::Tally;

/// Targets, and how many bytes an input may have.
const TARGETS: [(&str, usize); 7] = [
    ("frame", 1 << 16),
    ("sse", 1 << 14),
    ("headers", 1 << 14),
    ("uri_template", 1 << 12),
    ("conform", 1 << 14),
    ("peer_ops", 1 << 12),
    ("http_endpoint", 1 << 14),
];

/// Has LLVM count edges and report comparisons; `level=4` is what its own fuzzers use.
const MARKS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

/// How long one input may take; thousands of times what it needs, so that a busy machine is no finding.
const SECONDS_AN_INPUT: usize = 10;
const MEGABYTES: usize = 2048;
const BUILD: Duration = Duration::from_secs(60 * 60);
/// How much longer than told a run may take: reading what earlier runs found.
const BEGINNING: Duration = Duration::from_secs(10 * 60);

/// Runs all targets a little while, from the seeds alone and each time in the same ways, so that a test run says something
/// of the clone and not of its luck: what is new is found by hand, with other chances.
pub(crate) fn run_in_tests() -> Result<Tally> {
    run(Args::of(&["--seed", "1", "--fresh"]))
}

/// Runs all targets, or those named. `--seed 0` leaves the chances to chance; `--fresh` forgets what earlier runs found.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let seed = args.number("--seed", 0)?;
    let seconds = args.number("--seconds", 30)?;
    let jobs = args.number("--jobs", 2)?.max(1);
    let kept = if args.flag("--fresh") { Kept::Nothing } else { Kept::Earlier };
    let mut named = Vec::new();
    loop {
        let word = args.command();
        match TARGETS.iter().find(|(target, _)| *target == word) {
            Some(target) => named.push(*target),
            None if word.is_empty() => break,
            None => bail!("there is no target `{word}`; there are {}", TARGETS.map(|(target, _)| target).join(", ")),
        }
    }
    args.finish()?;
    let targets = if named.is_empty() { TARGETS.to_vec() } else { named };
    let cache = places::cache()?.join("fuzz");
    let programs = build(&cache, &targets)?;
    let ends = all(&targets, jobs, &|target| fuzz(&programs, &cache, target, (seconds, seed, kept)));
    let mut table = Table::new(&["target", "executions", "per second", "edges", "inputs kept", "MiB", "outcome"]);
    let mut tally = Tally::default();
    for ((target, _), end) in targets.iter().zip(ends) {
        let end = end?;
        table.row([vec![(*target).to_owned()], end.figures, vec![end.outcome]].concat());
        tally += Tally::one(end.held);
    }
    table.print();
    Ok(tally)
}

/// Does the same for all, so many at once; outcomes in the order of the targets.
fn all<T: Send>(targets: &[(&str, usize)], jobs: usize, one: &(impl Fn((&str, usize)) -> T + Sync)) -> Vec<T> {
    let (waiting, ends) = (Mutex::new(targets.iter().enumerate()), Mutex::new(Vec::new()));
    let next = || waiting.lock().expect("nobody panics while taking a target").next();
    thread::scope(|scope| {
        for _ in 0..jobs.min(targets.len()) {
            scope.spawn(|| {
                while let Some((at, target)) = next() {
                    let end = one(*target);
                    ends.lock().expect("nobody panics while ends are noted").push((at, end));
                }
            });
        }
    });
    let mut ends = ends.into_inner().expect("nobody panics while ends are noted");
    ends.sort_by_key(|(at, _)| *at);
    ends.into_iter().map(|(_, end)| end).collect()
}

/// Builds the programs; gives the folder they are in.
fn build(cache: &Path, targets: &[(&str, usize)]) -> Result<PathBuf> {
    let (root, triple) = (places::root().join("fuzz"), triple()?);
    // The same versions of everything as in the workspace, and the few beside them that fuzzing needs.
    let (lock, theirs) = (root.join("Cargo.lock"), places::root().join("Cargo.lock"));
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    if time(&lock) < time(&theirs) {
        fs::copy(&theirs, &lock).with_context(|| format!("cannot write {}", lock.display()))?;
    }
    let target_dir = cache.join("target");
    let mut build = places::cargo();
    // With a target named, the flags are for it alone, not for macros and build scripts.
    build.current_dir(&root).args(["build", "--release", "--target", &triple, "--target-dir"]).arg(&target_dir);
    build.args(targets.iter().flat_map(|(target, _)| ["--bin", target]));
    build.env("RUSTFLAGS", MARKS).env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
    if !child::show("cargo", &mut build, BUILD, |_| ())?.success() {
        bail!("the fuzz targets do not build (libFuzzer wants a C++ compiler)");
    }
    Ok(target_dir.join(triple).join("release"))
}

/// The machine as rustc names it.
fn triple() -> Result<String> {
    let mut rustc = Command::new("rustc");
    rustc.arg("-vV").current_dir(places::root());
    let Captured { stdout, .. } = child::capture("rustc", &mut rustc, Duration::from_secs(60))?;
    let host = stdout.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say what machine this is")
}

/// Which inputs a run begins with, besides the seeds.
#[derive(Clone, Copy)]
enum Kept {
    Earlier,
    Nothing,
}

fn emptied(folder: PathBuf) -> Result<PathBuf> {
    fs::remove_dir_all(&folder).and_then(|()| fs::create_dir(&folder)).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// How a target's run went.
struct End {
    held: bool,
    figures: Vec<String>,
    outcome: String,
}

fn fuzz(
    programs: &Path,
    cache: &Path,
    (target, longest): (&str, usize),
    (seconds, seed, kept): (usize, usize, Kept),
) -> Result<End> {
    let place = |what: &str| -> Result<PathBuf> {
        let folder = cache.join(what).join(target);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    };
    let corpus = match kept {
        Kept::Earlier => place("corpus")?,
        Kept::Nothing => emptied(place("fresh")?)?,
    };
    let broken = place("broken")?;
    let log = cache.join(format!("{target}.log"));
    let out = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(programs.join(target));
    command.arg(&corpus).arg(places::root().join("fuzz/seeds").join(target));
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={longest}"));
    command.arg(format!("-seed={seed}"));
    command.arg(format!("-timeout={SECONDS_AN_INPUT}")).arg(format!("-rss_limit_mb={MEGABYTES}"));
    command.arg(format!("-artifact_prefix={}/", broken.display())).arg("-print_final_stats=1");
    let words = places::root().join("fuzz/words.dict");
    command.arg(format!("-dict={}", words.display()));
    command.stdout(out.try_clone()?).stderr(out);
    println!("  {target}: {seconds} s");
    let limit = Duration::from_secs(seconds as u64) + BEGINNING;
    let status = Guard::spawn(target, &mut command)?.wait(limit);
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let held = status.as_ref().is_ok_and(std::process::ExitStatus::success);
    if !held {
        let from = text.lines().count().saturating_sub(60);
        text.lines().skip(from).for_each(|line| println!("  {target} | {line}"));
        println!("  {target}: mended, the input above belongs into fuzz/seeds/{target}/");
    }
    let outcome = if held { "held".to_owned() } else { format!("BROKEN, see {}", log.display()) };
    Ok(End { held, figures: figures(&text), outcome })
}

/// Executions, executions a second, edges, inputs kept, memory, from what libFuzzer prints.
fn figures(text: &str) -> Vec<String> {
    let stat =
        |name: &str| text.lines().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name)?.split(':').nth(1));
    let pulse = text.lines().rev().find(|line| line.starts_with('#') && line.contains(" cov: "));
    let word = |name: &str| {
        let mut words = pulse?.split_whitespace().skip_while(|word| *word != name);
        words.nth(1).map(|word| word.split('/').next().unwrap_or(word))
    };
    let all = [
        stat("number_of_executed_units"),
        stat("average_exec_per_sec"),
        word("cov:"),
        word("corp:"),
        stat("peak_rss_mb"),
    ];
    all.into_iter().map(|figure| figure.unwrap_or("?").trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_the_last_lines() {
        let text = "#2\tINITED cov: 1 ft: 1 corp: 1/1b exec/s: 0 rss: 30Mb\n\
            #81\tDONE   cov: 12 ft: 20 corp: 3/5b lim: 4 exec/s: 40 rss: 31Mb\nDone 81 runs in 2 second(s)\n\
            stat::number_of_executed_units: 81\nstat::average_exec_per_sec:     40\nstat::peak_rss_mb:              31\n";
        assert_eq!(figures(text), ["81", "40", "12", "3", "31"]);
        assert_eq!(figures("nothing"), ["?"; 5]);
    }

    #[test]
    fn outcomes_keep_the_order_of_targets() {
        let lengths = all(&TARGETS, 3, &|(target, _)| target.len());
        assert_eq!(lengths, TARGETS.map(|(target, _)| target.len()));
    }
}
