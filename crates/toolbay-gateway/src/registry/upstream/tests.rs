//! Services that answer late, on a clock of the test's own.

use std::{
    collections::VecDeque,
    future,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::{self, Instant};
use toolbay_protocol::Raw;
use toolbay_transport::{
    Error,
    http::client::{Answer, Event, Events},
};

use super::{
    polled::{self, Asks},
    result,
    verdict::{self, Verdict},
};
use crate::config::Polling;

fn answer(status: u16, body: &str) -> Answer {
    let status = StatusCode::from_u16(status).unwrap();
    Answer { status, kind: "application/json".into(), body: Bytes::copy_from_slice(body.as_bytes()) }
}

/// A session that says what is written down.
struct Scripted {
    answers: Mutex<VecDeque<Result<Answer, Error>>>,
    events: Mutex<VecDeque<(Duration, Event)>>,
    looks: Arc<Mutex<Vec<Duration>>>,
    begun: Instant,
}

impl Scripted {
    fn new(answers: Vec<Result<Answer, Error>>, events: Vec<(u64, &str, &str)>) -> Self {
        let event = |(millis, name, data): (u64, &str, &str)| {
            (Duration::from_millis(millis), Event { name: name.into(), data: Bytes::copy_from_slice(data.as_bytes()) })
        };
        Self {
            answers: Mutex::new(answers.into()),
            events: Mutex::new(events.into_iter().map(event).collect()),
            looks: Arc::default(),
            begun: Instant::now(),
        }
    }

    fn looks(&self) -> Vec<u64> {
        self.looks.lock().unwrap().iter().map(|look| u64::try_from(look.as_millis()).unwrap()).collect()
    }
}

impl Asks for Scripted {
    fn session(&self) -> &str {
        "s1"
    }

    fn place(&self) -> String {
        "http://h/poll/s1".into()
    }

    fn look(&self) -> impl Future<Output = Result<Answer, Error>> + Send {
        self.looks.lock().unwrap().push(self.begun.elapsed());
        let next = self.answers.lock().unwrap().pop_front();
        future::ready(next.unwrap_or_else(|| Ok(answer(200, r#"{"status": "running"}"#))))
    }

    async fn listen(&self, _: Option<Events>) -> Option<(Event, Option<Events>)> {
        let (when, event) = self.events.lock().unwrap().pop_front()?;
        let _ = time::timeout_at(self.begun + when, future::pending::<()>()).await;
        Some((event, None))
    }
}

fn polling(attempts: u32) -> Polling {
    Polling { url: "http://h/poll/{session_id}".into(), attempts, interval: Duration::from_secs(1) }
}

fn read(raw: &Raw) -> Value {
    raw.read().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_service_is_asked_once_a_second_until_it_is_done() {
    let script = Scripted::new(
        vec![
            Ok(answer(404, "")),
            Err(Error::closed("broke off")),
            Ok(answer(202, "")),
            Ok(answer(200, r#"{"session_id": "s1", "status": "processing"}"#)),
            Ok(answer(200, r#"{"session_id": "s1", "status": "done", "result": {"c": 21.50}}"#)),
        ],
        vec![],
    );
    let result = polled::wait(&script, &polling(30)).await;
    assert_eq!(script.looks(), [1_000, 2_000, 3_000, 4_000, 5_000]);
    assert_eq!(read(&result)["structuredContent"], json!({"c": 21.50}));
    // Numbers are passed on as they were written.
    assert_eq!(read(&result)["content"][0]["text"], r#"{"c": 21.50}"#);
}

#[tokio::test(start_paused = true)]
async fn thirty_looks_without_a_result_are_an_error_of_the_tool() {
    let script = Scripted::new(vec![], vec![]);
    let result = read(&polled::wait(&script, &polling(Polling::ATTEMPTS)).await);
    assert_eq!((script.looks().len(), script.looks().last().copied()), (30, Some(30_000)));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(result["isError"] == true && text.contains("after 30 looks, 1 s apart"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn an_event_ends_the_waiting_early_and_others_do_not() {
    let events = vec![
        (100, "message", r#"{"hello": 1}"#),
        (200, "result", r#"{"session_id": "other", "result": 1}"#),
        (300, "progress", r#"{"session_id": "s1", "status": "running"}"#),
        (1_500, "result", r#"{"session_id": "s1", "result": "21 °C"}"#),
    ];
    let script = Scripted::new(vec![], events);
    let result = read(&polled::wait(&script, &polling(30)).await);
    assert_eq!((result["content"][0]["text"].as_str(), script.looks()), (Some("21 °C"), vec![1_000]));
    // A stream that ends, or never was, leaves the looks.
    let script = Scripted::new(vec![Ok(answer(200, r#"{"status": "ok", "data": [1]}"#))], vec![(10, "ping", "{}")]);
    let result = read(&polled::wait(&script, &polling(30)).await);
    assert_eq!((result["content"][0]["text"].as_str(), script.looks()), (Some("[1]"), vec![1_000]));
}

#[test]
fn what_a_poll_brings_is_told_from_a_promise() {
    let place = "http://h/";
    let pending = |status: u16, body: &str| verdict::of_poll(&answer(status, body), place) == Verdict::Pending;
    for body in [
        "",
        " ",
        "null",
        r#"{"status": "QUEUED"}"#,
        r#"{"state": "in_progress", "data": 1}"#,
        r#"{"done": false}"#,
        r#"{"session_id": "a"}"#,
        r#"{"result": null}"#,
    ] {
        assert!(pending(200, body), "{body}");
    }
    for status in [202, 204, 404, 429, 503] {
        assert!(pending(status, "x"), "{status}");
    }
    let done = |status: u16, body: &str| match verdict::of_poll(&answer(status, body), place) {
        Verdict::Done(result) => read(&result),
        Verdict::Pending => panic!("{body} is pending"),
    };
    assert_eq!(done(200, r#"{"weather": "sunny"}"#)["structuredContent"], json!({"weather": "sunny"}));
    assert_eq!(done(200, "sunny")["content"][0]["text"], "sunny");
    for (status, body, said) in [
        (200, r#"{"status": "failed", "message": "no such city"}"#, "no such city"),
        (200, r#"{"error": {"code": 3}}"#, r#"{"code": 3}"#),
        (403, "keep out", "HTTP 403 Forbidden and says: keep out"),
        (410, "", "HTTP 410"),
    ] {
        let failed = done(status, body);
        assert!(failed["isError"] == true && failed["content"][0]["text"].as_str().unwrap().contains(said), "{failed}");
    }
}

#[test]
fn a_promise_is_told_from_a_result_that_comes_at_once() {
    let at_once = |body: &str| verdict::done_already(&answer(200, body)).map(|result| read(&result));
    for body in [
        r#"{"session_id": 7}"#,
        r#"{"session_id": "a", "status": "ok", "code": 0}"#,
        r#"{"session_id": "a", "result": null}"#,
    ] {
        assert_eq!(at_once(body), None, "{body}");
        assert!(verdict::session(&answer(200, body)).is_some(), "{body}");
    }
    assert_eq!(at_once(r#"{"session_id": "a", "result": {"n": 1}}"#).unwrap()["structuredContent"], json!({"n": 1}));
    assert_eq!(at_once(r#"{"session_id": "a", "status": "failed"}"#).unwrap()["isError"], true);
    for body in ["7", "[]", r#"{"session_id": ""}"#, r#"{"session_id": ["a"]}"#, r#"{"id": "a"}"#] {
        assert_eq!(verdict::session(&answer(200, body)), None, "{body}");
    }
}

#[test]
fn an_answer_becomes_text_and_structured_content_where_it_is_an_object() {
    let of = |status: u16, body: &str| read(&result::of(&answer(status, body), "http://h/"));
    assert_eq!(
        of(200, r#" {"a": 1.0} "#),
        json!({"content": [{"type": "text", "text": "{\"a\": 1.0}"}], "structuredContent": {"a": 1.0}})
    );
    assert_eq!(of(200, "[1, 2]"), json!({"content": [{"type": "text", "text": "[1, 2]"}]}));
    assert_eq!(of(201, "\"晴\""), json!({"content": [{"type": "text", "text": "晴"}]}));
    assert_eq!(of(200, "<p>"), json!({"content": [{"type": "text", "text": "<p>"}]}));
    assert_eq!(of(204, ""), json!({"content": [{"type": "text", "text": ""}]}));
    let failed = of(500, &"x".repeat(5_000));
    let text = failed["content"][0]["text"].as_str().unwrap();
    assert!(failed["isError"] == true && text.contains("HTTP 500") && text.len() < 400, "{text}");
    let bytes = Answer { body: Bytes::from_static(&[0xff, 0xfe]), ..answer(200, "") };
    assert_eq!(read(&result::of(&bytes, "http://h/"))["isError"], true);
}
