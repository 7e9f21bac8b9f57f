//! How soon `toolbay up` is ready with six real servers and a seventh whose command does not exist.
//!
//! The yardstick is the slowest server's own start, from its process to the answer to `tools/list`. A gateway cannot start
//! six programs faster than the machine does, so it is measured twice: with six programs to start, beside which all six
//! are also started at the same moment without a gateway; and with three of them running elsewhere, as URLs.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;

use crate::args::Args;
use crate::child;
use crate::gateway::{self, Gateway, Ready};
use crate::interop::{Server, Stage};
use crate::probe::Probe;
use crate::table::Table;
use crate::tally::Tally;

const GOAL: f32 = 1.3;
const LIMIT: Duration = Duration::from_secs(60);
const MISSING: &str = "toolbay-no-such-command";

/// Measures `rounds` times, prints the medians, and judges only what is listed and told.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let rounds = args.number("--rounds", 3)?.max(1);
    args.finish()?;
    let binary = gateway::binary()?;
    let stage = Stage::set("ready")?;
    let config = stage.write_config("seven.json", &[("seventh", json!({ "command": MISSING, "args": [] }))])?;
    let config = config.to_string_lossy();

    // A first round fills the page cache, for both sides alike.
    together(&stage.servers)?;
    let mut table = Table::new(&["server", "alone", "all six at once"]);
    let (mut alone, mut crowd, mut up) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = Seen::default();
    for _ in 0..rounds {
        alone.push(stage.servers.iter().map(start).collect::<Result<Vec<_>>>()?);
        crowd.push(together(&stage.servers)?);
        up.push(seen.start(&binary, &config, &stage.servers)?);
    }
    let mixed = stage.path().join("mixed.json");
    let others = elsewhere(&binary, &stage, stage.servers.iter().skip(1).step_by(2))?;
    let urls = others.iter().map(|(name, gateway)| (*name, json!({ "url": gateway.url("/mcp") })));
    let urls: Vec<_> = urls.chain([("seventh", json!({ "command": MISSING, "args": [] }))]).collect();
    Stage::write_only(&mixed, stage.servers.iter().step_by(2), &urls)?;
    let mut with_urls = Vec::new();
    for _ in 0..rounds {
        with_urls.push(seen.start(&binary, &mixed.to_string_lossy(), &stage.servers)?);
    }

    for (at, server) in stage.servers.iter().enumerate() {
        let median = |runs: &[Vec<Duration>]| seconds(middle(runs.iter().map(|run| run[at]).collect()));
        table.row(vec![server.name.to_owned(), median(&alone), median(&crowd)]);
    }
    let slowest = |runs: &[Vec<Duration>]| middle(runs.iter().filter_map(|run| run.iter().max().copied()).collect());
    table.row(vec!["slowest".to_owned(), seconds(slowest(&alone)), seconds(slowest(&crowd))]);
    table.print();

    let mut table = Table::new(&["toolbay up with", "ready in", "slowest of them alone", "ratio", "at once", "ratio"]);
    let (crowd, six) = (slowest(&crowd), slowest(&alone));
    let three = middle(alone.iter().filter_map(|run| run.iter().step_by(2).max().copied()).collect());
    let (up, with_urls) = (middle(up), middle(with_urls));
    let row = |name: &str, up, alone| vec![name.to_owned(), seconds(up), seconds(alone), ratio(up, alone)];
    table.row([row("six programs", up, six), vec![seconds(crowd), ratio(up, crowd)]].concat());
    table.row([row("three programs, three URLs", with_urls, three), vec![String::new(), String::new()]].concat());
    table.print();

    // The ratios are figures for people: on a busy machine they say more about the machine.
    println!("  wanted: at most {GOAL}; medians of {rounds}");
    println!("  the seventh server's reason {}", if seen.told { "is told" } else { "is NOT told" });
    seen.missing.iter().for_each(|name| println!("  {name} was not listed yet when the endpoint was announced"));
    let mut tally = Tally::one(seen.missing.is_empty());
    tally += Tally::one(seen.told);
    Ok(tally)
}

/// What was seen of all starts.
#[derive(Default)]
struct Seen {
    told: bool,
    missing: Vec<&'static str>,
}

impl Seen {
    /// One start of the gateway, from its process to its announcement.
    fn start(&mut self, binary: &Path, config: &str, servers: &[Server]) -> Result<Duration> {
        let mut gateway = Gateway::start(binary, &["up", "--config", config], Ready::Announced, LIMIT)?;
        self.missing.extend(missing_tools(binary, &gateway.url("/mcp"), servers)?);
        self.told = reason_is_told(gateway.printed());
        Ok(gateway.ready_after)
    }
}

/// Each server behind an endpoint of its own that is already running.
fn elsewhere<'s>(
    binary: &Path,
    stage: &Stage,
    servers: impl Iterator<Item = &'s Server>,
) -> Result<Vec<(&'static str, Gateway)>> {
    let mut running = Vec::new();
    for server in servers {
        let config = stage.path().join(format!("{}.json", server.name));
        Stage::write_only(&config, [server], &[])?;
        let config = config.to_string_lossy();
        running.push((server.name, Gateway::start(binary, &["up", "--config", &config], Ready::Announced, LIMIT)?));
    }
    Ok(running)
}

/// Each server's start while all of them start.
fn together(servers: &[Server]) -> Result<Vec<Duration>> {
    thread::scope(|scope| {
        let starts: Vec<_> = servers.iter().map(|server| scope.spawn(move || start(server))).collect();
        starts.into_iter().map(|start| start.join().map_err(|_| anyhow!("a measurement panicked"))?).collect()
    })
}

/// From the start of the process to the answer to `tools/list`.
fn start(server: &Server) -> Result<Duration> {
    let mut command: Command = server.command();
    let started = Instant::now();
    let mut probe = Probe::start(&mut command, LIMIT).with_context(|| format!("server {}", server.name))?;
    probe.list("tools/list", "tools")?;
    let took = started.elapsed();
    probe.close();
    Ok(took)
}

/// Servers whose tool is not listed: an endpoint that is announced before its servers are there is not ready.
fn missing_tools(binary: &Path, url: &str, servers: &[Server]) -> Result<Vec<&'static str>> {
    let mut list = Command::new(binary);
    list.args(["list", "tools", "--json", "--url", url]);
    let run = child::capture("toolbay list", &mut list, LIMIT)?;
    if !run.status.success() {
        bail!("toolbay list tools --url {url} ended with {}: {}", run.status, run.stderr.trim());
    }
    Ok(servers.iter().filter(|server| !run.stdout.contains(server.call.0)).map(|server| server.name).collect())
}

/// Whether some line names the seventh and says more than its name: what could not be found.
fn reason_is_told(printed: &[String]) -> bool {
    let lines = printed.iter().filter(|line| line.contains("seventh"));
    let mut reasons = lines.filter(|line| line.contains(MISSING) || line.to_lowercase().contains("not found"));
    reasons.next().inspect(|line| println!("  | {line}")).is_some()
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn ratio(one: Duration, other: Duration) -> String {
    format!("{:.2}", one.as_secs_f32() / other.as_secs_f32().max(0.001))
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f32())
}
