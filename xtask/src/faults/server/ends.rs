//! How a conversation over pipes ends, and how its bytes may come.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::stand::{Case, Scope, Stand, status_kib};
use crate::faults::link::START;
use crate::faults::wire::{self, Talk, request};

/// Every case of this room.
pub(super) const CASES: &[Case] = &[
    Case::new("end-of-input", Scope::Stdio, "end of input ends the process", |stand| end(stand, None)),
    Case::new(
        "end-of-input-in-a-call",
        Scope::Stdio,
        "end of input while a 60 s call runs ends the process within 10 s",
        in_a_call,
    ),
    Case::new(
        "half-a-line",
        Scope::Stdio,
        "end of input within a line ends the process, and nothing is run",
        |stand| end(stand, Some("{\"jsonrpc\":\"2.0\",\"id\":1,\"meth")),
    ),
    Case::new(
        "last-line-without-newline",
        Scope::Stdio,
        "a last line without its newline is answered before the end",
        last_line,
    ),
    Case::new("blank-lines-and-crlf", Scope::Stdio, "blank lines are skipped and CRLF ends a line", blank),
    Case::new("slow-writer", Scope::Stdio, "a request that comes byte by byte is answered", slow_writer),
    Case::new(
        "slow-reader",
        Scope::Stdio,
        "a client that reads late gets every answer, and the server does not hoard them",
        slow_reader,
    ),
    Case::new(
        "endless-line",
        Scope::Stdio,
        "a line without end is refused or ends the process; memory stays bounded",
        endless,
    ),
    Case::new("output-closed", Scope::Stdio, "a client that vanishes altogether leaves no process behind", vanished),
    Case::new("pure-output", Scope::Stdio, "nothing but messages is on the output", pure),
];

fn ends_within(pipe: &mut crate::faults::pipe::Pipe, limit: Duration) -> Result<String> {
    let started = Instant::now();
    pipe.close();
    pipe.guard.wait(limit)?;
    Ok(format!("after {:.1} s", started.elapsed().as_secs_f32()))
}

fn end(stand: &Stand, last: Option<&str>) -> Result<String> {
    let mut pipe = stand.greeted_pipe()?;
    pipe.line(request(stand.target.talk, "1", "tools/call", stand.echo().params()).as_bytes())?;
    pipe.answer_to(&json!(1), START)?;
    if let Some(last) = last {
        pipe.send(last.as_bytes())?;
    }
    let seen = ends_within(&mut pipe, Duration::from_secs(10))?;
    while let Ok(line) = pipe.next(Duration::from_millis(200)) {
        ensure!(!line.contains("\"result\""), "answered {line}");
    }
    Ok(seen)
}

fn in_a_call(stand: &Stand) -> Result<String> {
    let slow = stand.slow(60_000)?;
    let mut pipe = stand.greeted_pipe()?;
    pipe.line(request(stand.target.talk, "1", "tools/call", slow.params()).as_bytes())?;
    pipe.line(request(stand.target.talk, "2", "tools/call", stand.echo().params()).as_bytes())?;
    pipe.answer_to(&json!(2), START)?;
    ends_within(&mut pipe, Duration::from_secs(10))
}

fn last_line(stand: &Stand) -> Result<String> {
    let mut pipe = stand.greeted_pipe()?;
    pipe.send(request(stand.target.talk, "1", "tools/call", stand.echo().params()).as_bytes())?;
    pipe.close();
    let (line, _) = pipe.answer_to(&json!(1), START)?;
    pipe.guard.wait(Duration::from_secs(10))?;
    Ok(line)
}

fn blank(stand: &Stand) -> Result<String> {
    let mut pipe = stand.greeted_pipe()?;
    let body = request(stand.target.talk, "1", "tools/call", stand.echo().params());
    pipe.send(format!("\n\r\n  \n{body}\r\n\n").as_bytes())?;
    let (line, before) = pipe.answer_to(&json!(1), START)?;
    ensure!(!before.iter().any(|line| wire::is_answer(line)), "a blank line was answered: {before:?}");
    Ok(line)
}

fn slow_writer(stand: &Stand) -> Result<String> {
    let mut pipe = stand.greeted_pipe()?;
    let body = request(stand.target.talk, "1", "tools/call", stand.echo().params());
    for byte in body.bytes() {
        pipe.send(&[byte])?;
    }
    pipe.send(b"\n")?;
    Ok(pipe.answer_to(&json!(1), START)?.0)
}

fn slow_reader(stand: &Stand) -> Result<String> {
    const CALLS: usize = 2000;
    const SIZE: usize = 16 << 10;
    let mut pipe = stand.greeted_pipe()?;
    let text = "x".repeat(SIZE);
    let pid = pipe.guard.pid();
    let before = status_kib(pid, "VmRSS");
    for id in 0..CALLS {
        pipe.line(
            request(stand.target.talk, &id.to_string(), "tools/call", stand.tools.echo(&text).params()).as_bytes(),
        )?;
    }
    // Nobody reads beyond a few lines; the server either stops reading or hoards.
    crate::child::wait_until(Duration::from_secs(2), || false);
    let hoarded = status_kib(pid, "VmRSS").saturating_sub(before) / 1024;
    let mut answers = 0;
    while answers < CALLS {
        let line = pipe.next(START).with_context(|| format!("after {answers} answers"))?;
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        answers += usize::from(message["result"].is_object());
    }
    ensure!(hoarded < 64, "it hoarded {hoarded} MiB of answers");
    Ok(format!("{answers} answers, {hoarded} MiB"))
}

fn endless(stand: &Stand) -> Result<String> {
    const PIECES: usize = 160;
    let mut pipe = stand.greeted_pipe()?;
    let pid = pipe.guard.pid();
    let before = status_kib(pid, "VmRSS");
    pipe.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"")?;
    let piece = vec![b'x'; 1 << 20];
    let mut peak = 0;
    for _ in 0..PIECES {
        if pipe.send(&piece).is_err() {
            break;
        }
        peak = peak.max(status_kib(pid, "VmHWM"));
    }
    let _ = pipe.send(b"\"}\n");
    let outcome = match pipe.next(START) {
        Ok(line) => line,
        Err(error) => error.to_string(),
    };
    let grown = peak.max(status_kib(pid, "VmHWM")).saturating_sub(before) / 1024;
    ensure!(!outcome.starts_with("silence"), "{outcome}, grew by {grown} MiB");
    ensure!(grown < 96, "it took {grown} MiB for one line");
    Ok(format!("{outcome}; grew by {grown} MiB"))
}

fn vanished(stand: &Stand) -> Result<String> {
    let slow = stand.slow(300).unwrap_or_else(|_| stand.echo());
    let mut pipe = stand.greeted_pipe()?;
    for id in 0..50 {
        pipe.line(request(stand.target.talk, &id.to_string(), "tools/call", slow.params()).as_bytes())?;
    }
    let family = crate::procs::family(pipe.guard.pid());
    pipe.close();
    pipe.guard.wait(Duration::from_secs(10))?;
    match family.iter().filter(|one| crate::procs::alive(one)).count() {
        0 => Ok("nothing is left".to_owned()),
        left => bail!("{left} processes are left"),
    }
}

fn pure(stand: &Stand) -> Result<String> {
    let mut pipe = stand.pipe()?;
    if stand.target.talk == Talk::Handshake {
        pipe.line(wire::initialize("0").as_bytes())?;
        pipe.line(wire::notification(Talk::Handshake, "notifications/initialized", json!({})).as_bytes())?;
    }
    if let Some(tool) = stand.tools.boom {
        pipe.line(request(stand.target.talk, "1", "tools/call", json!({ "name": tool, "arguments": {} })).as_bytes())?;
    }
    pipe.line(request(stand.target.talk, "2", "tools/call", stand.echo().params()).as_bytes())?;
    let mut lines = 0;
    loop {
        let line = pipe.next(START)?;
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        ensure!(message["jsonrpc"] == "2.0", "printed {line}");
        lines += 1;
        if message["id"] == 2 {
            return Ok(format!("{lines} messages"));
        }
    }
}
