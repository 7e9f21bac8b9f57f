//! Our SDK beside the floor and the peers, in one run: CPU ratios and exact instruction counts. The harness is in
//! `benches/peers`; it builds the peers outside this workspace and its lock file.
//!
//! Never part of the tests: what a clock says depends on the machine.

use std::{fmt::Write as _, fs, path::Path, process::Command, time::Duration};

use anyhow::{Context as _, Result, bail};

use crate::{args::Args, child, places, tally::Tally};

const LIMIT: Duration = Duration::from_secs(60 * 60);
const SUITES: [&str; 7] = ["sdk-http", "sdk-http-stateless", "sdk-stdio", "sdk-big", "sdk-list", "sessions", "startup"];

/// Builds what is compared, compares, and prints a table per suite.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    if args.command() != "sdk" {
        bail!("`cargo xtask bench sdk` is what there is");
    }
    let (all, quick, write) = (args.flag("--all"), args.flag("--quick"), args.flag("--write"));
    args.finish()?;
    let harness = places::root().join("benches/peers");
    let out = places::cache()?.join("bench");
    let ours = ours(&out)?;
    let mut setup = Command::new(harness.join("setup.sh"));
    setup.arg(if all { "sdk" } else { "core" }).env("BENCH_DIR", &out);
    if !child::show("setup.sh", &mut setup, LIMIT, |_| ())?.success() {
        bail!("the peers could not be built");
    }
    let mut text = HEAD.to_owned();
    for suite in SUITES {
        text += &measured(&harness.join("compare.py"), &[&[suite], only(all), quickly(quick)].concat(), &out, &ours)?;
    }
    text += "\n## Instructions per request (callgrind)\n\n";
    let exact = ["--only", "toolbay|rmcp|floor-(stdio|hyper)"];
    text += &measured(&harness.join("instr.py"), &exact, &out, &ours)?;
    if write {
        let file = places::root().join("docs/performance.md");
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        println!("  wrote docs/performance.md");
    }
    Ok(Tally::one(true))
}

fn only(all: bool) -> &'static [&'static str] {
    if all { &[] } else { &["--only", "floor|toolbay|rmcp"] }
}

fn quickly(quick: bool) -> &'static [&'static str] {
    if quick { &["--quick", "--rounds", "3"] } else { &[] }
}

/// Our echo server, built as its users would build theirs.
fn ours(out: &Path) -> Result<std::path::PathBuf> {
    let target = out.join("target-ours");
    let mut build = places::cargo();
    build.args(["build", "--release", "--package", "toolbay", "--example", "echo"]).env("CARGO_TARGET_DIR", &target);
    if !child::show("cargo", &mut build, LIMIT, |_| ())?.success() {
        bail!("the echo server does not build");
    }
    Ok(target.join("release/examples/echo"))
}

/// What a script of the harness prints, from its first table on.
fn measured(script: &Path, args: &[&str], out: &Path, ours: &Path) -> Result<String> {
    let mut command = Command::new("python3");
    command.arg(script).args(args).env("BENCH_DIR", out).env("TOOLBAY_BIN", ours);
    let (mut text, mut begun) = (String::new(), false);
    let status = child::show("python3", &mut command, LIMIT, |line| {
        begun |= line.starts_with("## ") || line.starts_with('|');
        if begun && !line.starts_with("(raw:") {
            // A string takes every write.
            let _ = writeln!(text, "{line}");
        }
    })?;
    if !status.success() {
        bail!("{} {} failed", script.display(), args.join(" "));
    }
    Ok(text + "\n")
}

const HEAD: &str = "\
# Performance of the SDK

Written by `cargo xtask bench sdk --write`; do not edit. An echo server of each SDK and the floor (a bare hyper handler, a bare
stdio loop that parse the body and echo) in one interleaved run on one machine: medians, and ratios to the floor **of the same
run**. The server is pinned to one core, the load generator to another. Ratios of CPU are steady; times are not, on a machine
that does other things. `benches/peers/README.md` says how each figure comes about.

";
