//! Plays every scene to one client, several at a time, since most of a scene is waiting.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};

use super::scenes::{Scene, Script, Seen, all};
use super::visit::Stage;
use crate::child::{self, Guard};
use crate::faults::case::{Line, Report, Verdict};
use crate::faults::guests::{Guest, Where};
use crate::procs::{self, Process};

/// Beyond every deadline that is on by default.
const LIMIT: Duration = Duration::from_secs(100);
/// How long a server may take to notice that its client is gone.
const LEAVING: Duration = Duration::from_secs(10);
/// At a time.
const TOGETHER: usize = 6;
/// How much of a client's output is kept.
const KEPT: u64 = 64 << 20;

/// Over pipes or over HTTP.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Pipes,
    Http,
}

/// Plays every scene that fits to one client.
pub(crate) fn run(guest: Guest, binary: &Path, only: Option<&Regex>) -> Result<Report> {
    let plain = all().into_iter().find(|scene| scene.name == "plain").context("the plain scene is there")?;
    let mut plain_time = Duration::ZERO;
    for over in [Over::Pipes, Over::Http] {
        let seen = play(guest, binary, plain, over)?;
        if seen.result.is_none() {
            bail!("{} fails even at a plain server: {seen:?}", guest.name);
        }
        plain_time = plain_time.max(seen.took);
    }
    let mut parts: Vec<(String, Scene, Over)> = Vec::new();
    for scene in all().into_iter().filter(|scene| guest.speaks(scene.talk)) {
        match scene.script {
            Script::Words(_) => {
                parts.push((format!("{}-stdio", scene.name), scene, Over::Pipes));
                parts.push((format!("{}-http", scene.name), scene, Over::Http));
            }
            Script::Pipe(_) | Script::PipeStart(_) => parts.push((scene.name.to_owned(), scene, Over::Pipes)),
            Script::Web(_) | Script::WebAlways(_) => parts.push((scene.name.to_owned(), scene, Over::Http)),
        }
    }
    parts.retain(|(name, _, _)| only.is_none_or(|only| only.is_match(name)));
    // Those that wait for a deadline begin first.
    parts.sort_by_key(|(name, _, _)| !(name.contains("never") || name.contains("only-")));
    let order: Vec<String> = parts.iter().map(|(name, _, _)| name.clone()).collect();
    let mut lines = together(guest, binary, parts, plain_time);
    lines.sort_by_key(|line| order.iter().position(|name| *name == line.name));
    Ok(Report { target: guest.name.to_owned(), lines })
}

fn together(guest: Guest, binary: &Path, parts: Vec<(String, Scene, Over)>, plain: Duration) -> Vec<Line> {
    let queue = Mutex::new(parts.into_iter());
    let lines = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..TOGETHER {
            scope.spawn(|| {
                while let Some((name, scene, over)) = next() {
                    let started = Instant::now();
                    let judged = play(guest, binary, scene, over).and_then(|mut seen| {
                        seen.took = seen.took.saturating_sub(plain);
                        let told = (scene.judge)(&seen)?;
                        ensure!(!seen.left, "the server that it started is left running: {told}");
                        Ok(told)
                    });
                    let line =
                        Line { name, right: scene.right, verdict: Verdict::from(judged), took: started.elapsed() };
                    crate::faults::suite::tell(guest.name, &line);
                    lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(line);
                }
            });
        }
    });
    lines.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn play(guest: Guest, binary: &Path, scene: Scene, over: Over) -> Result<Seen> {
    match over {
        Over::Pipes => {
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            let me = std::env::current_exe()?.to_string_lossy().into_owned();
            let sign = format!("toolbay-play-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let sign = std::env::temp_dir().join(sign).to_string_lossy().into_owned();
            let words = [&me, "faults", "--play", scene.name, "--sign", &sign].map(str::to_owned).to_vec();
            let mut seen = watch(guest, &mut guest.command(binary, &Where::Command(words))?)?;
            seen.left = left_behind(&sign);
            Ok(seen)
        }
        Over::Http => {
            let stage = Stage::open(scene)?;
            let url = format!("http://127.0.0.1:{}/mcp", stage.port);
            let mut seen = watch(guest, &mut guest.command(binary, &Where::Url(&url))?)?;
            seen.strayed = stage.strayed.load(Ordering::Relaxed);
            Ok(seen)
        }
    }
}

/// Whether a server that signed here outlives its client; it is ended then.
fn left_behind(sign: &str) -> bool {
    let pids = std::fs::read_to_string(sign).unwrap_or_default();
    let _ = std::fs::remove_file(sign);
    let pids: BTreeSet<i32> = pids.lines().filter_map(|line| line.parse().ok()).collect();
    let alive = || {
        let ours = |one: &Process| pids.contains(&one.pid) && one.command.contains(sign);
        procs::all().into_iter().filter(ours).map(|one| one.pid).collect::<Vec<i32>>()
    };
    let gone = child::wait_until(LEAVING, || alive().is_empty());
    for pid in alive().into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
    !gone
}

/// Runs a client to its end, and notes what it held at most.
fn watch(guest: Guest, command: &mut Command) -> Result<Seen> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut guard = Guard::spawn(guest.name, command)?;
    let stdout = drain(guard.child().stdout.take().expect("stdout is piped"));
    let stderr = drain(guard.child().stderr.take().expect("stderr is piped"));
    let mut seen = Seen::default();
    let status = loop {
        if let Some(status) = guard.exited()? {
            break Some(status);
        }
        seen.peak_mib = seen.peak_mib.max(memory_mib(guard.pid()));
        if started.elapsed() > LIMIT {
            break None;
        }
        thread::sleep(Duration::from_millis(20));
    };
    seen.took = started.elapsed();
    seen.hung = status.is_none();
    guard.end(Duration::from_secs(1));
    let text = |pipe: mpsc::Receiver<Vec<u8>>| {
        let bytes = pipe.recv_timeout(Duration::from_secs(5)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    (seen.result, seen.error) = guest.read(status.is_some_and(|status| status.success()), &text(stdout), &text(stderr));
    Ok(seen)
}

fn memory_mib(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}

fn drain(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = (&mut pipe).take(KEPT).read_to_end(&mut bytes);
        let _ = send.send(bytes);
        let _ = std::io::copy(&mut pipe, &mut std::io::sink());
    });
    receive
}
