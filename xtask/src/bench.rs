//! Our SDK beside the floor and the peers, in one run: CPU ratios and exact instruction counts. The harness is in
//! `benches/peers`; it builds the peers outside this workspace and its lock file.
//!
//! Never part of the tests: what a clock says depends on the machine.

mod agent;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

use crate::{args::Args, child, gateway, places, tally::Tally};

const LIMIT: Duration = Duration::from_secs(60 * 60);

/// What is compared: the suites of the harness, what else stands in them in a short run, and what is said of it.
struct Subject {
    name: &'static str,
    suites: &'static [&'static str],
    /// Who takes part where not everybody does.
    few: &'static str,
    /// Whose instructions are counted.
    exact: &'static str,
    /// How much of the harness is built, in a short run and in a long one.
    setup: [&'static str; 2],
    head: &'static str,
}

const SUBJECTS: [Subject; 2] = [
    Subject {
        name: "sdk",
        suites: &["sdk-http", "sdk-http-stateless", "sdk-stdio", "sdk-big", "sdk-list", "sessions", "startup"],
        few: "floor|toolbay|rmcp",
        exact: "^(toolbay|rmcp|floor-(stdio|hyper))",
        setup: ["core", "sdk"],
        head: SDK,
    },
    Subject {
        name: "gateway",
        suites: &["gateways", "gateways-http", "gw-startup", "gw-list", "gw-sessions"],
        few: "floor|toolbay|mcp-hub|mcp-proxy-rs",
        exact: "^gw-",
        setup: ["gateways", "all"],
        head: GATEWAY,
    },
];

/// Builds what is compared, compares, and prints a table per suite.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let wanted = args.command();
    if wanted == "agent" {
        let write = args.flag("--write");
        args.finish()?;
        let text = format!("{}{}\n\n{}", agent::HEAD, machine(), agent::measured()?);
        if write {
            renew(agent::HEAD, &text)?;
        }
        return Ok(Tally::one(true));
    }
    let Some(subject) = SUBJECTS.iter().find(|subject| subject.name == wanted) else {
        bail!("what is to be measured: `cargo xtask bench` with `sdk`, `gateway` or `agent`");
    };
    let (all, quick, write) = (args.flag("--all"), args.flag("--quick"), args.flag("--write"));
    args.finish()?;
    let harness = places::root().join("benches/peers");
    let out = places::cache()?.join("bench");
    let bench = Bench { ours: subject.ours(&out)?, out };
    let mut setup = Command::new(harness.join("setup.sh"));
    setup.arg(subject.setup[usize::from(all)]).env("BENCH_DIR", &bench.out);
    if !child::show("setup.sh", &mut setup, LIMIT, |_| ())?.success() {
        bail!("the peers could not be built");
    }
    let mut text = format!("{}{}\n\n", subject.head, machine());
    let few: &[&str] = if all { &[] } else { &["--only", subject.few] };
    for suite in subject.suites {
        let quickly: &[&str] = if quick { &["--quick", "--rounds", "3"] } else { &[] };
        text += &bench.measured(&harness.join("compare.py"), &[&[*suite], few, quickly].concat())?;
    }
    text += "### Instructions per request (callgrind, one in flight)\n\n";
    text += &bench.measured(&harness.join("instr.py"), &["--only", subject.exact])?;
    if write {
        renew(subject.head, &text)?;
    }
    Ok(Tally::one(true))
}

/// Writes one part of the page anew.
fn renew(head: &str, text: &str) -> Result<()> {
    let file = places::root().join("docs/performance.md");
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(&file, with_part(&before, head, text)).with_context(|| format!("cannot write {}", file.display()))?;
    println!("  wrote docs/performance.md");
    Ok(())
}

/// The page with one part replaced: the part that begins like `head`, up to the next part.
fn with_part(page: &str, head: &str, text: &str) -> String {
    let title = |part: &str| part.lines().next().unwrap_or_default().to_owned();
    let parts = page.split("\n## ").skip(1).map(|part| format!("## {}\n", part.trim_end()));
    let mut parts: Vec<String> = parts.filter(|part| title(part) != title(head)).collect();
    parts.push(format!("{}\n", text.trim_end()));
    // The parts stand in the order of their subjects, whichever was measured last.
    let heads = || SUBJECTS.iter().map(|subject| subject.head).chain([agent::HEAD]);
    let place = |part: &String| heads().position(|head| title(head) == title(part));
    parts.sort_by_key(place);
    format!("{PAGE}\n{}", parts.join("\n"))
}

/// What this machine is, as far as it says so.
fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let rustc = child::capture("rustc", Command::new("rustc").arg("--version"), Duration::from_secs(30));
    let rustc = rustc.map(|run| run.stdout.trim().to_owned()).unwrap_or_default();
    let model = model.unwrap_or("unknown processor");
    format!("Measured on: {model}, {cores} cores, Linux {}; {rustc}.", kernel.trim())
}

struct Bench {
    ours: (&'static str, PathBuf),
    out: PathBuf,
}

impl Subject {
    /// What is ours among the compared, built as its users would build it, and the variable that names it.
    fn ours(&self, out: &Path) -> Result<(&'static str, PathBuf)> {
        if self.name == "gateway" {
            return Ok(("TOOLBAY_GATEWAY", gateway::binary()?));
        }
        let target = out.join("target-ours");
        let mut build = places::cargo();
        build
            .args(["build", "--release", "--package", "toolbay", "--example", "echo"])
            .env("CARGO_TARGET_DIR", &target);
        if !child::show("cargo", &mut build, LIMIT, |_| ())?.success() {
            bail!("the echo server does not build");
        }
        Ok(("TOOLBAY_BIN", target.join("release/examples/echo")))
    }
}

impl Bench {
    /// What a script of the harness prints, from its first table on.
    fn measured(&self, script: &Path, args: &[&str]) -> Result<String> {
        let mut command = Command::new("python3");
        command.arg(script).args(args).env("BENCH_DIR", &self.out).env(self.ours.0, &self.ours.1);
        let (mut text, mut begun) = (String::new(), false);
        let status = child::show("python3", &mut command, LIMIT, |line| {
            begun |= line.starts_with("## ") || line.starts_with('|');
            let aside = line.starts_with("(raw:") || line.starts_with("  ");
            if begun && !aside {
                let level = if line.starts_with("## ") { "#" } else { "" };
                // A string takes every write.
                let _ = writeln!(text, "{level}{line}");
            }
        })?;
        if !status.success() {
            bail!("{} {} failed", script.display(), args.join(" "));
        }
        Ok(text + "\n")
    }
}

const PAGE: &str = "\
# Performance

Written by `cargo xtask bench sdk --write`, the same with `gateway`, and with `agent`; do not edit. SDKs and gateways are
measured in one interleaved run on one machine, beside a floor that does the same work without a library: medians, and ratios
to the floor **of the same run**. Ratios of CPU are steady; times are not, on a machine that does other things. Instructions are exact.
`benches/peers/README.md` says how each figure comes about.
";

const SDK: &str = "\
## The SDK

An echo server of each SDK. The floor is a bare hyper handler or a bare stdio loop that parses the body and echoes. The server
is pinned to one core, the load generator to another.

";

const GATEWAY: &str = "\
## The gateway

Each gateway in front of echo servers. The floor is a bare proxy that parses, takes the prefix off the tool's name, swaps the id
and passes on. The gateway is pinned to one core; upstreams and the load generator have the other. Only the gateway's own CPU
counts.

";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_takes_the_place_of_its_older_self() {
        let first = with_part("", GATEWAY, &format!("{GATEWAY}### a\n\n1\n"));
        let both = with_part(&first, SDK, &format!("{SDK}### b\n\n2\n"));
        let again = with_part(&both, GATEWAY, &format!("{GATEWAY}### c\n\n3\n"));
        let (sdk, gateway) = (again.find("## The SDK"), again.find("## The gateway"));
        assert!(again.starts_with(PAGE) && sdk.is_some() && sdk < gateway, "{again}");
        assert!(
            again.contains("### b\n\n2\n") && again.contains("### c\n\n3\n") && !again.contains("### a"),
            "{again}"
        );
        assert_eq!(again.matches("## The gateway").count(), 1);
    }
}
