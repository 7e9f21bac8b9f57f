//! How soon `toolbay up` is ready with six real servers and a seventh whose command does not exist.
//!
//! The yardstick is the slowest server's own start, from its process to the answer to `tools/list`. All six are started at
//! the same moment for it, as the gateway starts them: on a machine with few cores each is then slower than alone, and a
//! gateway cannot start six servers faster than the machine does.

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
    let (mut told, mut missing) = (false, Vec::new());
    for _ in 0..rounds {
        alone.push(stage.servers.iter().map(start).collect::<Result<Vec<_>>>()?);
        crowd.push(together(&stage.servers)?);
        let mut gateway = Gateway::start(&binary, &["up", "--config", &config], Ready::Announced, LIMIT)?;
        up.push(gateway.ready_after);
        missing.extend(missing_tools(&binary, &gateway.url("/mcp"), &stage.servers)?);
        told = reason_is_told(gateway.printed());
    }

    for (at, server) in stage.servers.iter().enumerate() {
        let median = |runs: &[Vec<Duration>]| seconds(middle(runs.iter().map(|run| run[at]).collect()));
        table.row(vec![server.name.to_owned(), median(&alone), median(&crowd)]);
    }
    let slowest = |runs: &[Vec<Duration>]| middle(runs.iter().filter_map(|run| run.iter().max().copied()).collect());
    let (alone, crowd, up) = (slowest(&alone), slowest(&crowd), middle(up));
    table.row(vec!["slowest".to_owned(), seconds(alone), seconds(crowd)]);
    table.row(vec!["toolbay up".to_owned(), String::new(), seconds(up)]);
    table.row(vec!["ratio".to_owned(), format!("{:.2}", ratio(up, alone)), format!("{:.2}", ratio(up, crowd))]);
    table.print();

    let fast = ratio(up, crowd) <= GOAL;
    let verdict = if fast { "within" } else { "MORE than" };
    println!("  ready in {:.2} × the slowest server's start, {verdict} {GOAL} (medians of {rounds})", ratio(up, crowd));
    println!("  the seventh server's reason {}", if told { "is told" } else { "is NOT told" });
    missing.iter().for_each(|name| println!("  {name} was not listed yet when the endpoint was announced"));
    // The ratio is a figure for people: on a busy machine it says more about the machine.
    let mut tally = Tally::one(missing.is_empty());
    tally += Tally::one(told);
    Ok(tally)
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

fn ratio(one: Duration, other: Duration) -> f32 {
    one.as_secs_f32() / other.as_secs_f32().max(0.001)
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f32())
}
