//! Whether what a service says is its result, or the promise of one. Pure.

use toolbay_protocol::{Raw, raw::Kind, scan::Limits};
use toolbay_transport::http::client::{Answer, Event};

use super::result;

/// What an answer is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Not yet.
    Pending,
    /// The result of the tool, or its failure.
    Done(Raw),
}

/// Words for what goes on.
const PENDING: [&str; 14] = [
    "pending",
    "queued",
    "running",
    "processing",
    "in_progress",
    "in-progress",
    "inprogress",
    "working",
    "started",
    "waiting",
    "accepted",
    "created",
    "submitted",
    "new",
];
/// Words for what will never be.
const FAILED: [&str; 7] = ["failed", "failure", "error", "cancelled", "canceled", "timeout", "aborted"];
/// The longest name of a session.
const LONGEST: usize = 512;

/// The session that an answer names.
pub(super) fn session(answer: &Answer) -> Option<String> {
    let json = json(answer.text()?)?;
    let found = json.get("session_id").or_else(|| json.get("sessionId"))?;
    let text = match found.kind() {
        Kind::String => found.as_text()?.into_owned(),
        Kind::Number => found.as_str().to_owned(),
        _ => return None,
    };
    (!text.is_empty() && text.len() <= LONGEST).then_some(text)
}

/// The result, or the failure, where an answer that names a session brings it along. That all is well so far says nothing.
pub(super) fn done_already(answer: &Answer) -> Option<Raw> {
    let json = json(answer.text()?)?;
    let brings = |key: &&str| json.get(key).is_some_and(|value| value.kind() != Kind::Null);
    let failed = || {
        ["status", "state"].iter().any(|key| {
            let word = json.get(key).and_then(|word| word.as_text().map(|word| word.to_lowercase()));
            word.is_some_and(|word| FAILED.contains(&word.as_str()))
        })
    };
    if !["result", "data", "output", "error"].iter().any(brings) && !failed() {
        return None;
    }
    match of_json(&json, Bare::IsPromise) {
        Verdict::Done(result) => Some(result),
        Verdict::Pending => None,
    }
}

/// What the answer to a poll is.
pub(super) fn of_poll(answer: &Answer, place: &str) -> Verdict {
    match answer.status.as_u16() {
        // Not there yet, or no room just now.
        202 | 204 | 404 | 408 | 425 | 429 | 500..=599 => Verdict::Pending,
        200..=299 => match answer.text() {
            Some(text) if text.trim().is_empty() => Verdict::Pending,
            Some(text) => match json(text) {
                Some(json) => of_json(&json, Bare::IsResult),
                None => Verdict::Done(result::of_text(text)),
            },
            None => Verdict::Done(result::of(answer, place)),
        },
        _ => Verdict::Done(result::of(answer, place)),
    }
}

/// What an event is that came on a stream on which others may be told of their sessions.
pub(super) fn of_event(event: &Event, session: &str) -> Verdict {
    let text = String::from_utf8_lossy(&event.data);
    let json = json(&text);
    let named = json.as_ref().and_then(|json| json.get("session_id").or_else(|| json.get("sessionId")));
    let named = named.map(|named| named.as_text().map_or_else(|| named.as_str().to_owned(), |text| text.into_owned()));
    if named.as_ref().is_some_and(|named| named != session) {
        return Verdict::Pending;
    }
    match (event.name.as_str(), &json) {
        ("result" | "done" | "complete" | "completed" | "finished", Some(json)) => {
            match of_json(json, Bare::IsResult) {
                Verdict::Pending => Verdict::Done(result::of_json(json)),
                done => done,
            }
        }
        ("result" | "done" | "complete" | "completed" | "finished", None) => Verdict::Done(result::of_text(&text)),
        ("error" | "failed", _) => Verdict::Done(result::error(&message(json.as_ref(), &text))),
        // Without a name of its own it is a result only where it names the session.
        (_, Some(json)) if named.is_some() => of_json(json, Bare::IsPromise),
        _ => Verdict::Pending,
    }
}

/// What an object is that says nothing of how it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bare {
    IsResult,
    IsPromise,
}

fn of_json(json: &Raw, bare: Bare) -> Verdict {
    if json.kind() == Kind::Null {
        return Verdict::Pending;
    }
    if json.kind() != Kind::Object {
        return Verdict::Done(result::of_json(json));
    }
    let present = |key: &str| json.get(key).filter(|value| value.kind() != Kind::Null);
    let word = ["status", "state"].iter().find_map(|key| present(key)?.as_text().map(|text| text.to_lowercase()));
    let flags = ["done", "finished", "completed"];
    let undone = flags.iter().any(|key| present(key).is_some_and(|flag| flag.as_str() == "false"));
    let payload = ["result", "data", "output"].iter().find_map(|key| present(key));
    match word.as_deref() {
        Some(word) if PENDING.contains(&word) => Verdict::Pending,
        Some(word) if FAILED.contains(&word) => Verdict::Done(result::error(&message(Some(json), json.as_str()))),
        _ if undone => Verdict::Pending,
        Some(_) => Verdict::Done(result::of_json(payload.as_ref().unwrap_or(json))),
        None if present("error").is_some() => Verdict::Done(result::error(&message(Some(json), json.as_str()))),
        None => match payload {
            Some(payload) => Verdict::Done(result::of_json(&payload)),
            None if bare == Bare::IsPromise || json.get("result").is_some() => Verdict::Pending,
            None if json.members().count() == 1 && json.get("session_id").is_some() => Verdict::Pending,
            None => Verdict::Done(result::of_json(json)),
        },
    }
}

/// What a failure says of itself.
fn message(json: Option<&Raw>, text: &str) -> String {
    let member = |key: &str| {
        let found = json?.get(key).filter(|value| value.kind() != Kind::Null)?;
        Some(found.as_text().map_or_else(|| found.as_str().to_owned(), |text| text.into_owned()))
    };
    let said = ["error", "message", "detail"].iter().find_map(|key| member(key)).unwrap_or_else(|| text.to_owned());
    format!("the service says that it failed: {}", said.chars().take(2_000).collect::<String>())
}

fn json(text: &str) -> Option<Raw> {
    Raw::parse(text.trim().to_owned().into(), Limits::DEFAULT).ok()
}
