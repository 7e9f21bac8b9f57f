//! A server as a child, its pipes driven line by line.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::child::{self, Guard};

/// Lines that wait to be read; beyond that the server feels it.
const WAITING: usize = 64;
const STDERR_KEPT: usize = 20;

/// The child. A thread writes, so that a server that does not read cannot hold us up.
pub(crate) struct Pipe {
    pub(crate) guard: Guard,
    lines: Receiver<String>,
    stderr: Receiver<String>,
    writer: Option<SyncSender<Vec<u8>>>,
}

impl Pipe {
    /// Starts it.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut guard = Guard::spawn("the server", command)?;
        let (send, lines) = mpsc::sync_channel(WAITING);
        child::forward(guard.child().stdout.take().expect("stdout is piped"), send);
        let stderr = keep_last(guard.child().stderr.take().expect("stderr is piped"));
        let mut stdin = guard.child().stdin.take().expect("stdin is piped");
        let (writer, written) = mpsc::sync_channel::<Vec<u8>>(4096);
        thread::spawn(move || {
            while let Ok(bytes) = written.recv() {
                if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
                    return;
                }
            }
        });
        Ok(Self { guard, lines, stderr, writer: Some(writer) })
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let writer = self.writer.as_ref().context("stdin is closed")?;
        writer.send(bytes.to_vec()).ok().context("the server reads no more")
    }

    /// Sends one line.
    pub(crate) fn line(&mut self, text: &[u8]) -> Result<()> {
        self.send(&[text, b"\n"].concat())
    }

    /// The next line.
    pub(crate) fn next(&mut self, limit: Duration) -> Result<String> {
        match self.lines.recv_timeout(limit) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => bail!("silence for {:.1} s", limit.as_secs_f32()),
            Err(RecvTimeoutError::Disconnected) => bail!("the server ended; it said: {}", self.said()),
        }
    }

    /// The answer to an id, and what came before it.
    pub(crate) fn answer_to(&mut self, id: &Value, limit: Duration) -> Result<(String, Vec<String>)> {
        let deadline = Instant::now() + limit;
        let mut before = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.next(left).with_context(|| format!("no answer to {id}"))?;
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message.get("method").is_none() && message["id"] == *id {
                return Ok((line, before));
            }
            before.push(line);
        }
    }

    /// Ends the input, after what was sent.
    pub(crate) fn close(&mut self) {
        self.writer = None;
    }

    /// What it said on stderr.
    pub(crate) fn said(&self) -> String {
        let lines: Vec<String> = self.stderr.try_iter().collect();
        lines.join(" | ")
    }
}

/// Drains a pipe for good and keeps only its last lines, so that nobody waits for us.
fn keep_last(pipe: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (send, raw) = mpsc::sync_channel(WAITING);
    let (keep, kept) = mpsc::sync_channel(STDERR_KEPT);
    child::forward(pipe, send);
    thread::spawn(move || {
        while let Ok(line) = raw.recv() {
            let _ = keep.try_send(line);
        }
    });
    kept
}
