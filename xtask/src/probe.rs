//! A bare client over stdio: greets a server in JSON lines, reads its lists, and says how long that took.
//!
//! Written against no crate of ours, so that a mistake of ours cannot hide here.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::child::{self, Guard};
use crate::procs::Process;

/// A server started as a child and greeted.
pub(crate) struct Probe {
    guard: Guard,
    lines: Receiver<String>,
    stderr: Receiver<String>,
    deadline: Instant,
    next: u64,
    /// From the start of the process to the answer to `initialize`.
    pub(crate) greeted_after: Duration,
}

impl Probe {
    /// Starts a server and greets it in revision 2025-06-18, declaring no capability.
    pub(crate) fn start(command: &mut Command, limit: Duration) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let mut guard = Guard::spawn("server", command)?;
        let (send, lines) = mpsc::sync_channel(1024);
        child::forward(guard.child().stdout.take().expect("stdout is piped"), send);
        let (send, stderr) = mpsc::sync_channel(1024);
        child::forward(guard.child().stderr.take().expect("stderr is piped"), send);
        let deadline = started + limit;
        let mut probe = Self { guard, lines, stderr, deadline, next: 1, greeted_after: Duration::ZERO };
        let who = json!({ "name": "probe", "version": "1" });
        probe.call("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who }))?;
        probe.greeted_after = started.elapsed();
        probe.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(probe)
    }

    /// Calls a method and gives its result; an error answer is an error.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.next;
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                let words: Vec<String> = self.stderr.try_iter().collect();
                bail!("no answer to {method}; the server said: {}", words.join(" | "));
            };
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else { continue };
            if message["id"] == id && message.get("method").is_none() {
                if let Some(error) = message.get("error") {
                    bail!("{method} was answered with the error {error}");
                }
                return Ok(message["result"].take());
            }
        }
    }

    /// Every item of a list, page by page; a method that the server does not know lists nothing.
    pub(crate) fn list(&mut self, method: &str, key: &str) -> Result<Vec<Value>> {
        let (mut items, mut params) = (Vec::new(), json!({}));
        for _ in 0..100 {
            let page = match self.call(method, params) {
                Ok(page) => page,
                Err(error) if error.to_string().contains("-32601") => return Ok(items),
                Err(error) => return Err(error),
            };
            items.extend(page[key].as_array().cloned().unwrap_or_default());
            match &page["nextCursor"] {
                Value::Null => return Ok(items),
                cursor => params = json!({ "cursor": cursor }),
            }
        }
        bail!("{method} did not end after 100 pages")
    }

    /// Closes stdin and waits for the server to end by itself; gives what was left behind, which is then ended.
    pub(crate) fn close(mut self) -> Vec<Process> {
        self.guard.end_by_closing_stdin(Duration::from_secs(10))
    }

    /// Kills the server alone, leaving what it started to its own means; gives what outlived it.
    pub(crate) fn kill_alone(mut self) -> Vec<Process> {
        self.guard.kill_alone(Duration::from_secs(5))
    }

    fn write(&mut self, message: &Value) -> Result<()> {
        let stdin = self.guard.child().stdin.as_mut().context("stdin is closed")?;
        stdin.write_all(format!("{message}\n").as_bytes()).context("the server reads no more")?;
        Ok(stdin.flush()?)
    }
}
