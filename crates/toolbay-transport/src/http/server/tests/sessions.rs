//! The life of a session.

use std::time::Duration;

use futures_util::poll;
use http::StatusCode;
use serde_json::{Value, json};
use toolbay_protocol::Revision;

use super::kit::*;
use crate::http::server::Options;

const D: Revision = Revision::V2025_11_25;

fn note(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

#[tokio::test]
async fn a_session_lives_from_opening_to_delete() {
    let site = Site::new(Options::default());
    for revision in Revision::of(toolbay_protocol::Era::Legacy) {
        let session = site.open(revision).await;
        let taken = site.send(session.post(&note("notifications/initialized", &json!({})))).await;
        assert_eq!(taken.status, StatusCode::ACCEPTED);
        let got = site.send(session.call(1, "echo")).await;
        assert!(!got.headers.contains_key("mcp-session-id"));
        assert_eq!(got.json().await, json!({"jsonrpc": "2.0", "id": 1, "result": {"echo": {}}}));
        assert_eq!(site.send(session.post(&request(2, "ping", &json!({})))).await.json().await["result"], json!({}));
        assert_eq!(site.send(session.delete()).await.status, StatusCode::NO_CONTENT);
        assert_eq!(site.send(session.call(3, "echo")).await.error().await, (404, -32600, json!(3)));
        assert_eq!(site.send(session.delete()).await.error().await.0, 404);
    }
    assert_eq!((count(&site.desk.joined), count(&site.desk.left)), (4, 4));
    assert!(site.desk.callers.lock().unwrap().iter().all(|caller| caller.session.is_some()));
}

#[tokio::test]
async fn names_of_sessions_differ() {
    let site = Site::new(Options::default());
    let mut names = std::collections::BTreeSet::new();
    for _ in 0..50 {
        names.insert(site.open(D).await.id);
    }
    assert_eq!(names.len(), 50);
}

#[tokio::test]
async fn unknown_and_malformed_notifications_are_taken_silently() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    for body in [
        note("no/such", &json!({})),
        note("notifications/cancelled", &json!({})),
        note("notifications/cancelled", &json!({"requestId": 1.5})),
        note("notifications/cancelled", &json!({"requestId": 77})),
    ] {
        assert_eq!(site.send(session.post(&body)).await.status, StatusCode::ACCEPTED);
    }
    assert_eq!(*site.desk.notes.lock().unwrap(), ["no/such"]);
}

#[tokio::test]
async fn an_id_in_flight_is_refused_and_the_first_goes_on() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    let first = site.spawn(session.call(0, "wait"));
    settle().await;
    assert_eq!(site.send(session.call(0, "echo")).await.error().await, (400, -32600, json!(0)));
    // The same id in text is another one.
    let other = json!({"jsonrpc": "2.0", "id": "0", "method": "tools/call", "params": {"name": "echo"}});
    assert_eq!(site.send(session.post(&other)).await.json().await["id"], "0");
    site.desk.gate.add_permits(1);
    assert_eq!(first.await.unwrap().json().await["id"], 0);
    assert_eq!(site.send(session.call(0, "echo")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_call_is_cancelled_by_its_notification_alone() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    let other = site.open(D).await;
    let cancel = note("notifications/cancelled", &json!({"requestId": 0}));
    let call = site.spawn(session.call(0, "wait"));
    settle().await;
    site.send(other.post(&cancel)).await;
    settle().await;
    assert_eq!(count(&site.desk.dropped), 0);
    assert_eq!(site.send(session.post(&cancel)).await.status, StatusCode::ACCEPTED);
    // No answer: the response is a stream that holds none.
    let got = call.await.unwrap();
    assert!(got.is_stream());
    assert!(got.events().await.is_empty());
    assert_eq!((count(&site.desk.dropped), count(&site.desk.done)), (1, 0));
    assert_eq!(site.send(session.call(0, "echo")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_cancelled_stream_ends_without_an_answer() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_06_18).await;
    let mut got = site.send(session.call(4, "progress_then_wait")).await;
    got.event().await.unwrap();
    site.send(session.post(&note("notifications/cancelled", &json!({"requestId": 4})))).await;
    assert!(got.event().await.is_none());
    assert_eq!(count(&site.desk.dropped), 1);
}

#[tokio::test]
async fn delete_cancels_what_is_in_flight() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    let waiting = site.spawn(session.call(1, "wait"));
    let talking = site.send(session.call(2, "progress_then_wait")).await;
    settle().await;
    site.send(session.delete()).await;
    assert_eq!(waiting.await.unwrap().error().await, (200, -32603, json!(1)));
    assert_eq!(talking.events().await.last().unwrap().data["error"]["code"], -32603);
    assert_eq!(count(&site.desk.dropped), 2);
}

#[tokio::test]
async fn going_away_cancels_nothing() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    {
        let mut handling = Box::pin(site.endpoint.handle(session.call(1, "wait")));
        assert!(poll!(handling.as_mut()).is_pending());
    }
    settle().await;
    assert_eq!((count(&site.desk.dropped), count(&site.desk.done)), (0, 0));
    site.desk.gate.add_permits(1);
    settle().await;
    assert_eq!((count(&site.desk.dropped), count(&site.desk.done)), (0, 1));
    assert_eq!(site.send(session.call(1, "echo")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn whoever_went_away_is_not_asked() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    drop(site.send(session.call(1, "ask")).await);
    let mut handling = Box::pin(site.endpoint.handle(session.call(2, "wait")));
    assert!(poll!(handling.as_mut()).is_pending());
    drop(handling);
    site.desk.gate.add_permits(1);
    settle().await;
    assert_eq!(count(&site.desk.done), 1);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_not_heard_of_ends() {
    let site = Site::new(Options { session_idle: Duration::from_secs(100), ..Options::default() });
    let (quiet, busy) = (site.open(D).await, site.open(D).await);
    let standing = site.open(D).await;
    let mut stream = site.send(standing.get()).await;
    for _ in 0..4 {
        later(40).await;
        assert_eq!(site.send(busy.call(1, "echo")).await.status, StatusCode::OK);
        // Somebody reads, so the stream is alive.
        let _ = poll!(Box::pin(stream.event()));
    }
    assert_eq!(site.send(quiet.call(1, "echo")).await.status, StatusCode::NOT_FOUND);
    assert_eq!(site.send(standing.call(1, "echo")).await.status, StatusCode::OK);
    assert_eq!(count(&site.desk.left), 1);
    drop(stream);
    later(200).await;
    assert_eq!(count(&site.desk.left), 3);
    // The sweeper went with the last session, and comes back with the next.
    site.open(D).await;
    later(200).await;
    assert_eq!(count(&site.desk.left), 4);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_waits_for_ends_with_its_session() {
    let site = Site::new(Options { session_idle: Duration::from_secs(100), ..Options::default() });
    let session = site.open(D).await;
    {
        let mut handling = Box::pin(site.endpoint.handle(session.call(1, "wait")));
        assert!(poll!(handling.as_mut()).is_pending());
    }
    later(200).await;
    assert_eq!((count(&site.desk.left), count(&site.desk.dropped)), (1, 1));
}

#[tokio::test]
async fn a_batch_is_answered_as_one() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_03_26).await;
    let body = json!([
        request(1, "tools/call", &json!({"name": "echo"})),
        note("notifications/some", &json!({})),
        request(2, "tools/call", &json!({"name": "wait"})),
        request(3, "initialize", &json!({})),
        {"jsonrpc": "2.0", "id": 4},
        request(1, "ping", &json!({})),
    ]);
    site.desk.gate.add_permits(1);
    let answers = site.send(session.post(&body)).await.json().await;
    let answers = answers.as_array().unwrap();
    let mut seen: Vec<_> = answers
        .iter()
        .map(|answer| (answer["id"].as_u64().unwrap(), answer["error"]["code"].as_i64().unwrap_or(0)))
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, [(1, -32600), (1, 0), (2, 0), (3, -32600), (4, -32600)]);
    let quiet = json!([note("notifications/some", &json!({})), {"jsonrpc": "2.0", "id": 9, "result": {}}]);
    assert_eq!(site.send(session.post(&quiet)).await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_batch_that_says_something_first_is_a_stream() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_03_26).await;
    let call = |id: u32, tool: &str| request(id, "tools/call", &json!({"name": tool, "_meta": {"progressToken": id}}));
    let body = json!([call(1, "echo"), call(2, "progress"), call(3, "wait")]);
    site.desk.gate.add_permits(1);
    let events = site.send(session.post(&body)).await.events().await;
    let mut ends: Vec<_> = events.iter().filter_map(|event| event.data["id"].as_u64()).collect();
    ends.sort_unstable();
    assert_eq!((ends, events.len()), (vec![1, 2, 3], 6));
}

#[tokio::test]
async fn a_client_that_says_too_much_of_itself_gets_no_session() {
    let site = Site::new(Options::default());
    let client = json!({"name": "x".repeat(70_000), "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let got = site.send(post(&request(1, "initialize", &params))).await;
    assert!(!got.headers.contains_key("mcp-session-id"));
    assert_eq!(got.error().await, (200, -32602, json!(1)));
}

#[tokio::test]
async fn levels_of_logging_are_set_for_the_session() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    site.send(session.post(&request(1, "logging/setLevel", &json!({"level": "error"})))).await;
    let events = site.send(session.call(2, "log")).await.events().await;
    let levels: Vec<_> = events.iter().filter_map(|event| event.data["params"]["level"].as_str()).collect();
    assert_eq!(levels, ["error"]);
}
