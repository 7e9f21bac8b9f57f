//! Calls: errors, cancellation, progress, many at once.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::stand::{Case, Scope, Stand};
use crate::faults::case::Skip;
use crate::faults::http::{Until, Wire};
use crate::faults::link::{Link, PATIENCE};
use crate::faults::targets::{Call, Way};
use crate::faults::wire::{self, Talk, request};

/// Every case of this room.
pub(super) const CASES: &[Case] = &[
    Case::new("unknown-tool", Scope::Any, "an unknown tool is answered −32602", unknown_tool),
    Case::new(
        "wrong-argument",
        Scope::Any,
        "an argument of the wrong type is a tool error, which the model can read",
        wrong_argument,
    ),
    Case::new(
        "no-arguments",
        Scope::Any,
        "a call without `arguments` is refused or a tool error, never a fault of the server",
        no_arguments,
    ),
    Case::new(
        "crash-in-a-tool",
        Scope::Any,
        "a panic or exception in a tool is an error, and the server goes on",
        crash,
    ),
    Case::new("big-text", Scope::Any, "1 MiB of text of every kind comes back unchanged", big_text),
    Case::new("progress-unasked", Scope::Any, "no progress is told where no token was given", progress_unasked),
    Case::new(
        "progress-asked",
        Scope::Any,
        "progress carries the token as given, rises, and ends before the answer",
        progress_asked,
    ),
    Case::new(
        "cancel",
        Scope::StdioHandshake,
        "a cancelled call is not answered, and the server goes on",
        cancel_stdio,
    ),
    Case::new(
        "cancel-http",
        Scope::HttpHandshake,
        "a cancelled call is not answered, and the server goes on",
        cancel_http,
    ),
    Case::new(
        "duplicate-id-in-flight",
        Scope::StdioHandshake,
        "the first call of two with one id is answered all the same",
        duplicate_id,
    ),
    Case::new("thousand-pipelined", Scope::Any, "1,000 requests sent without waiting are all answered once", thousand),
    Case::new(
        "bad-cursor",
        Scope::Any,
        "a cursor that nobody gave is answered −32602, or where there is one page only, ignored",
        bad_cursor,
    ),
];

fn unknown_tool(stand: &Stand) -> Result<String> {
    let call = Call { tool: "no_such_tool", arguments: json!({}), expect: String::new() };
    stand.link()?.call("1", &call)?.refused(&[-32602], &[])
}

fn wrong_argument(stand: &Stand) -> Result<String> {
    let mut link = stand.link()?;
    let answer = link.call("1", &stand.tools.wrong())?;
    link.alive(&stand.echo())?;
    if answer.json()["result"]["isError"] == true { Ok(answer.told()) } else { bail!("answered {}", answer.told()) }
}

fn no_arguments(stand: &Stand) -> Result<String> {
    let mut link = stand.link()?;
    let answer = link.ask("1", "tools/call", json!({ "name": stand.echo().tool }))?;
    link.alive(&stand.echo())?;
    let fault = answer.code() == Some(-32603) || answer.status == Some(500);
    if answer.is_failure() && !fault { Ok(answer.told()) } else { bail!("answered {}", answer.told()) }
}

fn crash(stand: &Stand) -> Result<String> {
    let tool = stand.tools.boom.ok_or(Skip("it offers no tool that crashes"))?;
    let mut link = stand.link()?;
    let answer = link.call("1", &Call { tool, arguments: json!({}), expect: String::new() })?;
    link.alive(&stand.echo())?;
    if answer.is_failure() { Ok(answer.told()) } else { bail!("answered {}", answer.told()) }
}

fn big_text(stand: &Stand) -> Result<String> {
    let unit = "a\"\\/\u{8}\n\r\t\u{0}\u{7f}\u{2028}\u{2029}é中\u{fffd}💥 ";
    let text = unit.repeat((1 << 20) / unit.len());
    let answer = stand.link()?.call("1", &stand.tools.echo(&text))?;
    let message = answer.json();
    let back = message["result"]["content"][0]["text"].as_str().unwrap_or_default();
    if back.ends_with(text.as_str()) {
        Ok(format!("{} bytes", back.len()))
    } else {
        bail!("{} bytes came back", back.len())
    }
}

fn progress_call(stand: &Stand, token: Option<Value>) -> Result<Value> {
    let (tool, arguments) = stand.tools.progress.ok_or(Skip("it offers no tool that tells its progress"))?;
    let arguments: Value = serde_json::from_str(arguments)?;
    let mut params = json!({ "name": tool, "arguments": arguments });
    if let Some(token) = token {
        params["_meta"] = json!({ "progressToken": token });
    }
    Ok(params)
}

fn progress_notes(notes: &[String]) -> Vec<Value> {
    let all = notes.iter().filter_map(|note| serde_json::from_str::<Value>(note).ok());
    all.filter(|note| note["method"] == "notifications/progress").map(|mut note| note["params"].take()).collect()
}

fn progress_unasked(stand: &Stand) -> Result<String> {
    let answer = stand.link()?.ask("1", "tools/call", progress_call(stand, None)?)?;
    answer.served()?;
    match progress_notes(&answer.notes).first() {
        Some(note) => bail!("told {note}"),
        None => Ok("none".to_owned()),
    }
}

fn progress_asked(stand: &Stand) -> Result<String> {
    let mut link = stand.link()?;
    for token in [json!("a token"), json!(0)] {
        let answer = link.ask("1", "tools/call", progress_call(stand, Some(token.clone()))?)?;
        answer.served()?;
        let notes = progress_notes(&answer.notes);
        ensure!(!notes.is_empty(), "token {token}: no progress was told");
        ensure!(notes.iter().all(|note| note["progressToken"] == token), "token {token} came back as {}", notes[0]);
        let steps: Vec<f64> = notes.iter().filter_map(|note| note["progress"].as_f64()).collect();
        ensure!(steps.is_sorted_by(|a, b| a < b), "it does not rise: {steps:?}");
    }
    Ok("told".to_owned())
}

fn cancelled(id: u32) -> String {
    wire::notification(Talk::Handshake, "notifications/cancelled", json!({ "requestId": id, "reason": "enough" }))
}

fn cancel_stdio(stand: &Stand) -> Result<String> {
    let (victim, clock) = (stand.slow(1500)?, stand.slow(2500)?);
    let mut pipe = stand.greeted_pipe()?;
    pipe.line(request(stand.target.talk, "7", "tools/call", victim.params()).as_bytes())?;
    pipe.line(cancelled(7).as_bytes())?;
    pipe.line(request(stand.target.talk, "8", "tools/call", clock.params()).as_bytes())?;
    let (_, before) = pipe.answer_to(&json!(8), PATIENCE)?;
    match before.iter().find(|line| wire::is_answer(line)) {
        Some(line) => bail!("answered {line}"),
        None => Ok("silence".to_owned()),
    }
}

fn cancel_http(stand: &Stand) -> Result<String> {
    let victim = stand.slow(4000)?;
    let web = stand.session()?;
    let mut told = String::new();
    // On connections of their own a word may overtake the call that it cancels, and means nothing then.
    for id in 7..7 + TRIES {
        let mut wire = Wire::open(web.port, Duration::from_secs(8))?;
        let call = request(web.talk, &id.to_string(), "tools/call", victim.params());
        wire.send(&web.post_bytes(call.as_bytes(), &[]))?;
        // Most calls have begun when another one was answered meanwhile.
        Link::Web(web.clone()).alive(&stand.echo())?;
        web.post(cancelled(id).as_bytes(), &[])?.status(&[202])?;
        told = match wire.answer(Until::Answer) {
            Ok((_, answer)) if answer.json()["result"].is_object() => answer.told(),
            seen => {
                Link::Web(web).alive(&stand.echo())?;
                return Ok(seen.map_or_else(|error| error.to_string(), |(_, answer)| answer.told()));
            }
        };
    }
    bail!("answered {told}, {TRIES} times")
}

/// How often a race may be lost by chance.
const TRIES: u32 = 3;

fn duplicate_id(stand: &Stand) -> Result<String> {
    let slow = stand.slow(700)?;
    let mut pipe = stand.greeted_pipe()?;
    pipe.line(request(stand.target.talk, "5", "tools/call", slow.params()).as_bytes())?;
    pipe.line(request(stand.target.talk, "5", "tools/call", stand.echo().params()).as_bytes())?;
    pipe.line(request(stand.target.talk, "6", "tools/call", stand.slow(1500)?.params()).as_bytes())?;
    let (_, before) = pipe.answer_to(&json!(6), PATIENCE)?;
    let answers: Vec<Value> = before.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let slow_came =
        answers.iter().any(|one| one["id"] == 5 && one["result"].is_object() && !one.to_string().contains("ahoy"));
    ensure!(slow_came, "the first call got no answer: {before:?}");
    Ok(format!("{} answers", answers.len()))
}

fn thousand(stand: &Stand) -> Result<String> {
    match stand.target.way {
        Way::Stdio => thousand_lines(stand),
        Way::Http => thousand_posts(stand),
    }
}

fn thousand_lines(stand: &Stand) -> Result<String> {
    let mut pipe = stand.greeted_pipe()?;
    let body = |id: u32| request(stand.target.talk, &id.to_string(), "tools/call", stand.echo().params()) + "\n";
    let all: String = (1000..2000).map(body).collect();
    pipe.send(all.as_bytes())?;
    let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
    while seen.len() < 1000 {
        let line = pipe.next(PATIENCE).with_context(|| format!("after {} answers", seen.len()))?;
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        let Some(id) = message["id"].as_u64() else { continue };
        ensure!(message["result"].is_object(), "answered {line}");
        *seen.entry(id).or_default() += 1;
    }
    ensure!(seen.values().all(|count| *count == 1), "some were answered twice");
    Ok("1,000 answers".to_owned())
}

fn thousand_posts(stand: &Stand) -> Result<String> {
    const LINES: u32 = 20;
    let web = stand.session()?;
    let echo = stand.echo();
    let run = |line: u32| -> Result<()> {
        let mut wire = Wire::open(web.port, Duration::from_secs(60))?;
        let body = |at: u32| request(web.talk, &(line * 50 + at).to_string(), "tools/call", echo.params());
        // Ten at a time are sent without waiting.
        for group in 0..5 {
            let bytes: Vec<u8> = (0..10).flat_map(|at| web.post_bytes(body(group * 10 + at).as_bytes(), &[])).collect();
            wire.send(&bytes)?;
            for at in 0..10 {
                let (_, answer) = wire.answer(Until::End).with_context(|| format!("answer {}", group * 10 + at))?;
                ensure!(answer.text.contains(&echo.expect), "answered {}", answer.told());
                ensure!(answer.json()["id"] == line * 50 + group * 10 + at, "another one's answer: {}", answer.told());
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let run = &run;
        let all: Vec<_> = (0..LINES).map(|line| scope.spawn(move || run(line))).collect();
        all.into_iter().try_for_each(|one| one.join().unwrap_or_else(|_| bail!("a client of ours broke")))
    })?;
    Ok("1,000 answers".to_owned())
}

fn bad_cursor(stand: &Stand) -> Result<String> {
    let answer = stand.link()?.ask("1", "tools/list", json!({ "cursor": "nobody-gave-this" }))?;
    if answer.code() == Some(-32602) || answer.json()["result"]["nextCursor"].is_null() && answer.code().is_none() {
        return Ok(answer.told());
    }
    bail!("answered {}", answer.told())
}
