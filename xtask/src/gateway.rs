//! The `toolbay` binary: built here, or named by TOOLBAY_BIN; and `toolbay up` as a child that says when it is ready.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::child::{self, Guard};
use crate::places;
use crate::procs::Process;

const BUILD: Duration = Duration::from_secs(45 * 60);

/// The binary under test, built in release mode unless TOOLBAY_BIN names one.
pub(crate) fn binary() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("TOOLBAY_BIN") {
        let path = Path::new(&given)
            .canonicalize()
            .with_context(|| format!("TOOLBAY_BIN={} is not there", given.display()))?;
        return Ok(path);
    }
    let mut cargo = places::cargo();
    cargo.args(["build", "--release", "--package", "toolbay-cli", "--message-format=json-render-diagnostics"]);
    let built = child::capture("cargo build", &mut cargo, BUILD)?;
    if !built.status.success() {
        bail!("the release build failed:\n{}", built.stderr.trim());
    }
    let messages = built.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let path = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).next_back();
    path.context("cargo built no binary from toolbay-cli")
}

/// When a gateway counts as ready.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ready {
    /// It has printed its endpoint, and accepts a connection there.
    Announced,
    /// It accepts a connection.
    Accepting,
}

/// `toolbay up --listen …` or `toolbay serve … --listen …`, as a child.
pub(crate) struct Gateway {
    guard: Guard,
    lines: Receiver<String>,
    /// What it printed so far.
    pub(crate) printed: Vec<String>,
    /// The port it listens on.
    pub(crate) port: u16,
    /// How long it took to say that it is ready.
    pub(crate) ready_after: Duration,
}

impl Gateway {
    /// Starts `toolbay ARGS… --listen 127.0.0.1:PORT` and waits until it is ready.
    pub(crate) fn start(binary: &Path, args: &[&str], ready: Ready, limit: Duration) -> Result<Self> {
        let port = places::free_port()?;
        let mut command = Command::new(binary);
        command.args(args).args(["--listen", &format!("127.0.0.1:{port}")]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let mut guard = Guard::spawn("toolbay", &mut command)?;
        let (send, lines) = mpsc::sync_channel(4096);
        child::forward(guard.child().stdout.take().expect("stdout is piped"), send.clone());
        child::forward(guard.child().stderr.take().expect("stderr is piped"), send);
        let mut gateway = Self { guard, lines, printed: Vec::new(), port, ready_after: Duration::ZERO };
        if ready == Ready::Announced {
            gateway.await_announcement(started, limit)?;
        }
        gateway.await_connection(started, limit)?;
        gateway.ready_after = started.elapsed();
        Ok(gateway)
    }

    fn await_announcement(&mut self, started: Instant, limit: Duration) -> Result<()> {
        let endpoint = format!("127.0.0.1:{}/mcp", self.port);
        loop {
            let left = limit.saturating_sub(started.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let ready = line.contains(&endpoint);
                    self.printed.push(line);
                    if ready {
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    return self.complain(&format!("did not print its endpoint {endpoint}"));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return self.complain(&format!("closed its output without {endpoint}"));
                }
            }
        }
    }

    fn await_connection(&mut self, started: Instant, limit: Duration) -> Result<()> {
        let mut accepts = false;
        child::wait_until(limit.saturating_sub(started.elapsed()), || {
            accepts = std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok();
            accepts || !matches!(self.guard.exited(), Ok(None))
        });
        if accepts { Ok(()) } else { self.complain("does not accept connections") }
    }

    fn complain(&mut self, what: &str) -> Result<()> {
        let ended = self
            .guard
            .wait(Duration::from_secs(1))
            .map_or("still runs".to_owned(), |status| format!("ended: {status}"));
        bail!("toolbay {what} (it {ended}):\n{}", self.printed().join("\n"))
    }

    /// The URL of a path on it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.guard.pid()
    }

    /// Everything printed until now.
    pub(crate) fn printed(&mut self) -> &[String] {
        self.printed.extend(self.lines.try_iter());
        &self.printed
    }

    /// Ends it with TERM; gives what it left behind.
    pub(crate) fn end(mut self) -> Vec<Process> {
        self.guard.end(Duration::from_secs(10))
    }
}
