//! Connect, call, disconnect, many times, with a server started through `npx`: no process may stay behind.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::args::Args;
use crate::child::{self, Guard};
use crate::gateway;
use crate::peers::{self, Peer};
use crate::places::Scratch;
use crate::probe::Probe;
use crate::procs::{self, Process};
use crate::tally::Tally;

const LIMIT: Duration = Duration::from_secs(60);
const KILLS: usize = 3;

/// Runs the rounds: half of them `toolbay call`, half a client of `toolbay up --stdio`; then some with toolbay killed.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let rounds = args.number("--rounds", 50)?;
    args.finish()?;
    if !procs::readable() {
        println!("  skipped: counting processes needs /proc");
        return Ok(Tally::skip());
    }
    let churn = Churn::new()?;
    let (before, started) = (churn.count(), Instant::now());
    for round in 0..rounds {
        let one = if round % 2 == 0 { churn.call() } else { churn.up_and_close() };
        one.with_context(|| format!("round {}", round + 1))?;
    }
    let mut tally = churn.verdict(&format!("{rounds} rounds of connect, call and disconnect"), before);
    println!(
        "  {:.1} s, {} ms a round",
        started.elapsed().as_secs_f32(),
        started.elapsed().as_millis() / rounds.max(1) as u128
    );

    let before = churn.count();
    for _ in 0..KILLS {
        churn
            .up()?
            .kill_alone()
            .iter()
            .for_each(|one| println!("  outlived its killed gateway: {} {}", one.pid, one.command));
    }
    tally += churn.verdict(&format!("{KILLS} rounds with toolbay killed outright"), before);
    Ok(tally)
}

struct Churn {
    binary: PathBuf,
    scratch: Scratch,
    /// npx finds the fetched server here, without asking a registry.
    folder: PathBuf,
    /// A word on the server's command line that tells our processes from anybody else's.
    marker: String,
}

impl Churn {
    fn new() -> Result<Self> {
        let (binary, scratch) = (gateway::binary()?, Scratch::new("churn")?);
        let folder = peers::folder(Peer::NpmServers)?;
        let churn = Self { binary, scratch, folder, marker: format!("churn-{}", std::process::id()) };
        let server = churn.server();
        let entry = json!({ "command": server[0], "args": server[1..], "cwd": churn.folder });
        let config = json!({ "mcpServers": { "everything": entry } });
        fs::write(churn.config(), config.to_string())?;
        Ok(churn)
    }

    fn server(&self) -> [&str; 5] {
        ["npx", "-y", "@modelcontextprotocol/server-everything", "stdio", &self.marker]
    }

    fn config(&self) -> PathBuf {
        self.scratch.path().join("toolbay.json")
    }

    fn toolbay(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.folder);
        command
    }

    /// `toolbay call echo … -- npx …`.
    fn call(&self) -> Result<()> {
        let answer = self.scratch.path().join("answer");
        let (out, err) = (File::create(&answer)?, File::create(self.scratch.path().join("stderr"))?);
        let mut command = self.toolbay();
        command.args(["call", "echo", "message=ahoy", "--"]).args(self.server());
        let mut guard = Guard::spawn("toolbay call", command.stdin(Stdio::null()).stdout(out).stderr(err))?;
        let status = guard.wait(LIMIT)?;
        // Looked for before the guard is dropped, which would end them.
        self.no_strays()?;
        let answer = fs::read_to_string(&answer)?;
        if !status.success() || !answer.contains("Echo: ahoy") {
            let words = fs::read_to_string(self.scratch.path().join("stderr"))?;
            bail!("toolbay call ended with {status}: {} {}", answer.trim(), words.trim());
        }
        Ok(())
    }

    fn up_and_close(&self) -> Result<()> {
        if let Some(left) = self.up()?.close().first() {
            bail!("toolbay up --stdio left behind: {} {}", left.pid, left.command);
        }
        self.no_strays()
    }

    fn no_strays(&self) -> Result<()> {
        let strays = || procs::all().into_iter().filter(|one| self.is_ours(one));
        if !child::wait_until(Duration::from_secs(5), || strays().next().is_none()) {
            let lines: Vec<String> = strays().map(|one| format!("{} {}", one.pid, one.command)).collect();
            bail!("left behind: {}", lines.join("; "));
        }
        Ok(())
    }

    /// `toolbay up --stdio`, with a client that has called a tool.
    fn up(&self) -> Result<Probe> {
        let mut command = self.toolbay();
        command.args(["up", "--stdio", "--config"]).arg(self.config());
        let mut probe = Probe::start(&mut command, LIMIT)?;
        let tools = probe.list("tools/list", "tools")?;
        let name = tools.iter().filter_map(|tool| tool["name"].as_str()).find(|name| name.ends_with("echo"));
        let name = name.with_context(|| format!("no echo among the tools {tools:?}"))?;
        let result: Value = probe.call("tools/call", json!({ "name": name, "arguments": { "message": "ahoy" } }))?;
        if !result.to_string().contains("Echo: ahoy") {
            bail!("{name} answered {result}");
        }
        Ok(probe)
    }

    /// Our descendants, and whoever carries the marker wherever it was adopted.
    fn processes(&self) -> Vec<Process> {
        let mut found = procs::family(std::process::id());
        let strays = procs::all().into_iter().filter(|one| self.is_ours(one));
        for stray in strays {
            if !found.contains(&stray) {
                found.push(stray);
            }
        }
        found
    }

    fn is_ours(&self, process: &Process) -> bool {
        process.command.contains(&self.marker) || process.command.contains(&*self.config().to_string_lossy())
    }

    fn count(&self) -> usize {
        self.processes().len()
    }

    fn verdict(&self, what: &str, before: usize) -> Tally {
        child::wait_until(Duration::from_secs(5), || self.count() <= before);
        let after = self.processes();
        let held = after.len() == before;
        println!("  {what}: {before} processes before, {} after{}", after.len(), if held { "" } else { " — WRONG" });
        if !held {
            after.iter().for_each(|one| println!("    {} {}", one.pid, one.command));
        }
        Tally::one(held)
    }
}
