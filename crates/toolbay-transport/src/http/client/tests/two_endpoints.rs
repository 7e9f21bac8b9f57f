use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::FutureExt;
use http::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolbay_protocol::Revision;

use super::{
    super::{Mode, dial::Dial},
    peer::*,
};
use crate::{Connection, Error, Kind};

/// What a stream says next: text is put there and the stream is woken.
#[derive(Default)]
struct Mouth {
    lines: Mutex<Vec<String>>,
    woken: Arc<Notify>,
}

impl Mouth {
    fn say(&self, message: &Value) {
        self.lines.lock().unwrap().push(format!("event: message\ndata: {message}\n\n"));
        self.woken.notify_one();
    }
}

/// A peer of 2024-11-05: calls are answered on the stream by echoing their arguments.
fn old(endpoint: &'static str) -> (Arc<Log>, Dial) {
    let mouth = Arc::new(Mouth::default());
    let (log, dial) = peer(move |seen| match (&seen.verb, seen.path.as_str()) {
        (&Method::GET, "/mcp") => {
            let first = format!("event: endpoint\ndata: {endpoint}\n\n");
            Said::stream().raw(first).then(Piece::Source(source(&mouth)))
        }
        (&Method::POST, "/messages?s=1") => {
            match seen.method() {
                "initialize" => mouth.say(&seen.result(json!({"protocolVersion": "2024-11-05", "capabilities": {}}))),
                "tools/call" if seen.body["params"]["name"] == "refused" => {
                    return Said::text(413, "text/plain", "too big");
                }
                "tools/call" if seen.body["params"]["name"] == "end" => mouth.say(&Value::Null),
                "tools/call" => {
                    mouth.say(&seen.result(json!({"content": [], "echo": seen.body["params"]["arguments"]})))
                }
                _ => {}
            }
            Said::text(202, "text/plain", "Accepted")
        }
        _ => Said::status(404),
    });
    (log, dial)
}

fn source(mouth: &Arc<Mouth>) -> Box<dyn Fn() -> futures_util::future::BoxFuture<'static, Option<Bytes>> + Send> {
    let mouth = Arc::clone(mouth);
    Box::new(move || {
        let mouth = Arc::clone(&mouth);
        async move {
            loop {
                let lines: Vec<_> = mouth.lines.lock().unwrap().drain(..).collect();
                if lines.iter().any(|line| line.contains("null")) {
                    return None;
                }
                if !lines.is_empty() {
                    return Some(Bytes::from(lines.concat()));
                }
                mouth.woken.notified().await;
            }
        }
        .boxed()
    })
}

async fn met(endpoint: &'static str, mode: Mode) -> (Arc<Log>, Arc<Ear>, Result<Connection, Error>) {
    let (log, dial) = old(endpoint);
    let mut target = target();
    target.mode = mode;
    let (ear, met) = meet(dial, target).await;
    (log, ear, met)
}

#[tokio::test(start_paused = true)]
async fn a_server_with_two_endpoints_is_found_and_called() {
    for (mode, opening) in [(Mode::Auto, 3), (Mode::LegacySse, 1)] {
        let (log, _, connection) = met("messages?s=1", mode).await;
        let connection = connection.unwrap();
        assert_eq!(connection.meeting().revision, Revision::V2024_11_05);
        let outcome = connection.request(call("t", json!({"a": 1}))).await.unwrap().unwrap();
        assert_eq!(outcome.get("echo").unwrap().read::<Value>().unwrap(), json!({"a": 1}));
        let lines = log.lines();
        let expected = ["POST initialize", "POST notifications/initialized", "POST tools/call"];
        assert_eq!(lines[opening..], expected, "{lines:?}");
        assert_eq!(log.seen()[opening].headers.get("mcp-protocol-version"), None);
        drop(connection);
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_elsewhere_is_refused() {
    for endpoint in
        ["http://other.test/messages?s=1", "//other.test/m", "https://peer.test/m", "http://peer.test:8080/m"]
    {
        let (log, _, met) = met(endpoint, Mode::LegacySse).await;
        let error = met.unwrap_err();
        assert_eq!((error.kind(), log.lines().len()), (Kind::Misbehaved, 1), "{error}");
        assert!(error.to_string().contains("another origin"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_not_taken_fails_its_call_alone() {
    let (_, _, connection) = met("/messages?s=1", Mode::LegacySse).await;
    let connection = connection.unwrap();
    let error = connection.request(call("refused", json!({}))).await.unwrap().unwrap_err();
    assert!(error.message.contains("HTTP 413") && error.message.contains("too big"), "{error}");
    assert!(connection.request(call("t", json!({}))).await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_stream_is_the_end_of_the_session() {
    let (_, ear, connection) = met("/messages?s=1", Mode::LegacySse).await;
    let connection = connection.unwrap();
    assert_eq!(connection.request(call("end", json!({}))).await.unwrap_err().kind(), Kind::Closed);
    assert_eq!(connection.ended().await.kind(), Kind::Closed);
    ear.until("lost").await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_does_not_begin_as_it_must_is_no_server() {
    type Say = fn() -> Said;
    let cases: [(Say, &str); 4] = [
        (|| Said::stream(), "ended before"),
        (|| Said::stream().raw("data: {}\n\n").hang(), "does not begin"),
        (|| Said::status(404), "HTTP 404"),
        (|| Said::text(200, "text/html", "<html>"), "web page"),
    ];
    for (say, word) in cases {
        let (_, dial) = peer(move |_| say());
        let mut target = target();
        target.mode = Mode::LegacySse;
        let error = meet(dial, target).await.1.unwrap_err();
        assert!(error.kind() == Kind::Incompatible && error.to_string().contains(word), "{error}");
    }
}
