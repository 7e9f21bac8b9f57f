//! Plays every scene to one client, several at a time, since most of a scene is waiting.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use regex::Regex;

use super::scenes::{Scene, Script, Seen, all};
use super::visit::Stage;
use crate::child::Guard;
use crate::faults::case::{Line, Report, Verdict};
use crate::faults::guests::{Guest, Where};

/// Beyond every deadline that is on by default.
const LIMIT: Duration = Duration::from_secs(80);
/// At a time.
const TOGETHER: usize = 5;
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
    for scene in all() {
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
                        (scene.judge)(&seen)
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
            let me = std::env::current_exe()?.to_string_lossy().into_owned();
            let words = [&me, "faults", "--play", scene.name].map(str::to_owned).to_vec();
            watch(guest, &mut guest.command(binary, &Where::Command(words))?)
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
