//! Children of xtask: each in its own process group, each with a deadline, all ended with us.
//!
//! Not for servers behind the gateway: those are the gateway's own children.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::places;
use crate::procs::{self, Process};

static LIVE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn live() -> MutexGuard<'static, BTreeSet<u32>> {
    LIVE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Ends every living child when a terminal or a supervisor ends us.
pub(crate) fn end_all_when_interrupted() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    thread::spawn(move || {
        let signal = signals.forever().next().unwrap_or(SIGTERM);
        let families: Vec<Process> = live().iter().flat_map(|pid| procs::family(*pid)).collect();
        live().iter().for_each(|pid| signal_group(*pid, Signal::TERM));
        wait_until(Duration::from_secs(3), || !families.iter().any(procs::alive));
        live().iter().for_each(|pid| signal_group(*pid, Signal::KILL));
        families.iter().filter(|one| procs::alive(one)).for_each(|one| signal_one(one.pid, Signal::KILL));
        places::remove_scratch();
        std::process::exit(128 + signal);
    });
}

/// A child that is ended, with all it started, when this is dropped.
pub(crate) struct Guard {
    what: String,
    child: Child,
    ended: bool,
}

impl Guard {
    /// Starts a child in its own process group.
    pub(crate) fn spawn(what: &str, command: &mut Command) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.process_group(0).spawn().with_context(|| format!("{what}: cannot start `{program}`"))?;
        live().insert(child.id());
        Ok(Self { what: what.to_owned(), child, ended: false })
    }

    /// The child, for its pipes.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// The number of the process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The exit status, if the child has ended by itself.
    pub(crate) fn exited(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Waits for the child to end by itself.
    pub(crate) fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.exited()? {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                bail!("{} did not end within {} s", self.what, limit.as_secs());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Asks the child to end (TERM), insists (KILL) after `patience`, and gives back what outlived it.
    pub(crate) fn end(&mut self, patience: Duration) -> Vec<Process> {
        if self.ended {
            return Vec::new();
        }
        let family = procs::family(self.pid());
        if matches!(self.exited(), Ok(None)) {
            signal_group(self.pid(), Signal::TERM);
        }
        self.finish(&family, patience)
    }

    /// Closes the child's stdin and otherwise does as `end` does, without a signal before `patience` is over.
    pub(crate) fn end_by_closing_stdin(&mut self, patience: Duration) -> Vec<Process> {
        let family = procs::family(self.pid());
        drop(self.child.stdin.take());
        self.finish(&family, patience)
    }

    fn finish(&mut self, family: &[Process], patience: Duration) -> Vec<Process> {
        self.ended = true;
        wait_until(patience, || !matches!(self.exited(), Ok(None)));
        wait_until(Duration::from_secs(1), || !family.iter().any(procs::alive));
        let left: Vec<Process> = family.iter().filter(|one| procs::alive(one)).cloned().collect();
        signal_group(self.pid(), Signal::KILL);
        left.iter().for_each(|one| signal_one(one.pid, Signal::KILL));
        let _ = self.child.wait();
        live().remove(&self.child.id());
        left
    }

    /// Kills the child alone, without a word, as an out-of-memory killer would; gives what outlived it by `patience`.
    pub(crate) fn kill_alone(&mut self, patience: Duration) -> Vec<Process> {
        self.ended = true;
        let family = procs::family(self.pid());
        let _ = self.child.kill();
        let _ = self.child.wait();
        live().remove(&self.child.id());
        wait_until(patience, || !family.iter().any(procs::alive));
        let left: Vec<Process> = family.into_iter().filter(procs::alive).collect();
        left.iter().for_each(|one| signal_one(one.pid, Signal::KILL));
        left
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end(Duration::from_secs(5));
    }
}

/// What a child printed and how it ended.
pub(crate) struct Captured {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// Its standard output.
    pub(crate) stdout: String,
    /// Its standard error.
    pub(crate) stderr: String,
}

/// Runs a child to its end and keeps what it printed.
pub(crate) fn capture(what: &str, command: &mut Command, limit: Duration) -> Result<Captured> {
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut guard = Guard::spawn(what, piped)?;
    let stdout = drain(guard.child().stdout.take().expect("stdout is piped"));
    let stderr = drain(guard.child().stderr.take().expect("stderr is piped"));
    let status = guard.wait(limit);
    // Whatever the child left behind would keep the pipes open.
    guard.end(Duration::from_secs(2));
    let read = |pipe: mpsc::Receiver<Vec<u8>>| pipe.recv_timeout(Duration::from_secs(5)).unwrap_or_default();
    let text = |pipe| String::from_utf8_lossy(&read(pipe)).into_owned();
    Ok(Captured { stdout: text(stdout), stderr: text(stderr), status: status? })
}

/// Runs a child to its end, shows its lines as they come, and hands each to `see`.
pub(crate) fn show(
    what: &str,
    command: &mut Command,
    limit: Duration,
    mut see: impl FnMut(&str),
) -> Result<ExitStatus> {
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut guard = Guard::spawn(what, piped)?;
    let (send, lines) = mpsc::sync_channel(1024);
    forward(guard.child().stdout.take().expect("stdout is piped"), send.clone());
    forward(guard.child().stderr.take().expect("stderr is piped"), send);
    let deadline = Instant::now() + limit;
    while let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        println!("{line}");
        see(&line);
    }
    guard.wait(deadline.saturating_duration_since(Instant::now()))
}

/// Sends each line of a pipe to a channel, from a thread that ends with the pipe.
pub(crate) fn forward(pipe: impl Read + Send + 'static, lines: mpsc::SyncSender<String>) {
    thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(1..)) {
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned();
            line.clear();
            if lines.send(text).is_err() {
                return;
            }
        }
    });
}

/// Checks again and again until `done`, at most for `limit`.
pub(crate) fn wait_until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !done() {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
    true
}

fn drain(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    let _ = std::io::stdout().flush();
    receive
}

fn signal_group(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        let _ = kill_process_group(pid, signal);
    }
}

fn signal_one(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_ended_with_everything_it_started() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & sleep 600"]);
        let mut guard = Guard::spawn("a family", &mut command).unwrap();
        assert!(wait_until(Duration::from_secs(5), || procs::family(guard.pid()).len() >= 3));
        let family = procs::family(guard.pid());
        guard.end(Duration::from_secs(2));
        assert!(wait_until(Duration::from_secs(2), || !family.iter().any(procs::alive)));
    }

    #[test]
    fn what_is_printed_is_kept_and_a_late_child_is_named() {
        let run = |script: &str, limit| capture("script", Command::new("sh").args(["-c", script]), limit);
        let captured = run("echo out; echo err >&2; exit 3", Duration::from_secs(10)).unwrap();
        assert_eq!((captured.stdout.as_str(), captured.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!(captured.status.code(), Some(3));
        let late = run("sleep 600", Duration::from_millis(50)).err().unwrap().to_string();
        assert!(late.contains("did not end"), "{late}");
    }
}
