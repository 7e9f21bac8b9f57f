//! `cargo xtask soak`: sessions and calls through `toolbay up`, many of them; its memory and handles must stay as they are.
//!
//! The figure is the slope over the later two thirds. Nothing breaks here (that is `chaos`).

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};

use crate::args::Args;
use crate::chaos::Figures;
use crate::chaos::http::{self, Pace, Wire};
use crate::gateway::{self, Gateway, Ready};
use crate::places::Scratch;
use crate::procs;
use crate::table::Table;
use crate::tally::Tally;

const UP: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(30);
const WORKERS: usize = 4;
const SAMPLES: usize = 60;
/// Each so-manieth session has a server's connection of its own.
const OWN: usize = 10;
/// What an allocator may take while nothing grows, in KiB.
const NOISE: f64 = 2048.0;
/// What a session or a call may leave behind, in bytes.
const CRUMBS: f64 = 64.0;

/// Runs it.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let (sessions, calls) = (args.number("--sessions", 2000)?, args.number("--calls", 20_000)?);
    args.finish()?;
    if !procs::readable() {
        println!("  skipped: measuring a process needs /proc");
        return Ok(Tally::skip());
    }
    let (binary, scratch) = (gateway::binary()?, Scratch::new("soak")?);
    let server = Gateway::start(&binary, &["serve", "everything"], Ready::Accepting, UP)?;
    let config = scratch.path().join("toolbay.json");
    let servers = json!({
        "web": { "url": server.url("/mcp") },
        "pipe": { "command": binary, "args": ["serve", "everything"] },
        "own": { "type": "sse", "url": server.url("/sse"), "isolation": "per-session" },
    });
    fs::write(&config, json!({ "mcpServers": servers }).to_string())?;
    let config = config.to_string_lossy();
    let bay = Gateway::start(&binary, &["up", "--config", &config], Ready::Announced, UP)?;
    let soak = Soak { port: bay.port, pid: bay.pid() };

    let mut table =
        Table::new(&["of", "number", "time", "memory before", "after", "bytes each", "handles before", "after"]);
    let mut tally = Tally::default();
    for (what, number, one) in [("sessions", sessions, session as One), ("calls", calls, call as One)] {
        let begun = Instant::now();
        let samples = soak.work(number, one)?;
        let took = begun.elapsed();
        thread::sleep(Duration::from_secs(2));
        let end = Figures::of(soak.pid);
        let (slope, first) = (slope(&samples), samples.first().context("something was measured")?.1);
        let grown = slope * number as f64 / 1024.0 * 2.0 / 3.0;
        let steady = slope <= CRUMBS || grown <= NOISE;
        let handles = end.handles <= first.handles + 2 * WORKERS + 4;
        let mib = |kib: u64| format!("{:.1} MiB", kib as f64 / 1024.0);
        table.row(vec![
            what.to_owned(),
            number.to_string(),
            format!("{:.0} s", took.as_secs_f32()),
            mib(first.memory),
            mib(end.memory),
            format!("{slope:.1}{}", if steady { "" } else { " ✗" }),
            first.handles.to_string(),
            format!("{}{}", end.handles, if handles { "" } else { " ✗" }),
        ]);
        tally += Tally::one(steady);
        tally += Tally::one(handles);
    }
    table.print();
    println!("  soak: {}", tally.line());
    Ok(tally)
}

/// One session or one call, over a connection that is used again.
type One = fn(&mut Worker, usize) -> Result<()>;

struct Soak {
    port: u16,
    pid: u32,
}

impl Soak {
    /// Does `one` so often, and looks at the bay from time to time.
    fn work(&self, number: usize, one: One) -> Result<Vec<(usize, Figures)>> {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            let work = || -> Result<()> {
                let mut worker = Worker { port: self.port, wire: None };
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= number {
                        return Ok(());
                    }
                    one(&mut worker, at).with_context(|| format!("number {at}"))?;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            };
            let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
            let mut samples = vec![(0, Figures::of(self.pid))];
            while workers.iter().any(|worker| !worker.is_finished()) {
                thread::sleep(Duration::from_millis(20));
                let at = done.load(Ordering::Relaxed);
                if at >= samples.len() * number / SAMPLES {
                    samples.push((at, Figures::of(self.pid)));
                }
            }
            samples.push((number, Figures::of(self.pid)));
            for worker in workers {
                worker.join().map_err(|_| anyhow!("a worker panicked"))??;
            }
            Ok(samples)
        })
    }
}

/// Bytes for each, by least squares over the later two thirds.
fn slope(samples: &[(usize, Figures)]) -> f64 {
    let later = &samples[samples.len() / 3..];
    let count = later.len() as f64;
    let mean = |of: fn(&(usize, Figures)) -> f64| later.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|one| one.0 as f64), mean(|one| one.1.memory as f64 * 1024.0));
    let (mut above, mut below) = (0.0, 0.0);
    for (at, figures) in later {
        let dx = *at as f64 - x;
        above += dx * (figures.memory as f64 * 1024.0 - y);
        below += dx * dx;
    }
    if below == 0.0 { 0.0 } else { above / below }
}

struct Worker {
    port: u16,
    wire: Option<Wire>,
}

impl Worker {
    fn send(&mut self, method: &str, fields: &[(&str, &str)], body: &str) -> Result<(Option<String>, Option<Value>)> {
        let mut wire = match self.wire.take() {
            Some(wire) => wire,
            None => Wire::open(self.port)?,
        };
        wire.send(&http::request(method, self.port, fields, body), LIMIT, Pace::Fast)?;
        let (head, mut answer) = (wire.head()?, None);
        wire.messages(&head, |message| {
            if message.get("method").is_none() {
                answer = Some(message);
            }
            Ok(())
        })?;
        ensure!(head.status < 300, "{method} was answered with {}: {answer:?}", head.status);
        self.wire = Some(wire);
        Ok((head.session, answer))
    }
}

/// A client of 2025-11-25 opens a session, calls a tool, and closes it.
fn session(worker: &mut Worker, at: usize) -> Result<()> {
    let own = at.is_multiple_of(OWN);
    let capabilities = if own { json!({ "elicitation": {} }) } else { json!({}) };
    let who = json!({ "name": "soak", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": who });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let (session, _) = worker.send("POST", &[], &body.to_string())?;
    let session = session.context("no session was opened")?;
    let fields = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    worker.send("POST", &fields, &body.to_string())?;
    let server = if own { "own" } else { ["web", "pipe"][at % 2] };
    let params = json!({ "name": format!("{server}__test_simple_text"), "arguments": {} });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    answered(worker.send("POST", &fields, &body.to_string())?.1)?;
    worker.send("DELETE", &fields, "").map(|_| ())
}

/// A client of 2026-07-28 calls a tool.
fn call(worker: &mut Worker, at: usize) -> Result<()> {
    let name = format!("{}__test_simple_text", ["web", "pipe"][at % 2]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "soak", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": name, "arguments": {}, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": at, "method": "tools/call", "params": params });
    let fields = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", name.as_str())];
    answered(worker.send("POST", &fields, &body.to_string())?.1)
}

fn answered(answer: Option<Value>) -> Result<()> {
    let answer = answer.context("no answer")?;
    ensure!(answer["result"]["content"].is_array(), "answered {answer}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_the_later_samples() {
        let sample = |at: usize, memory| (at, Figures { memory, ..Figures::default() });
        let samples: Vec<_> = (0..30).map(|at| sample(at * 10, if at < 10 { 0 } else { 1000 + at as u64 })).collect();
        assert!((slope(&samples) - 102.4).abs() < 0.1);
        assert!(slope(&[sample(0, 5), sample(0, 5)]).abs() < 0.1);
    }
}
