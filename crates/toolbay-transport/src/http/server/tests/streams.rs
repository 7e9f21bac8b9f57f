//! Streams of a session: priming, coming back, being let go.

use http::StatusCode;
use serde_json::{Value, json};
use toolbay_protocol::Revision;

use super::kit::*;
use crate::http::server::{Options, Replay};

const C: Revision = Revision::V2025_06_18;
const D: Revision = Revision::V2025_11_25;

fn ids(events: &[Event]) -> Vec<&str> {
    events.iter().filter_map(|event| event.id.as_deref()).collect()
}

#[tokio::test]
async fn streams_are_primed_where_the_revision_has_that() {
    let site = Site::new(Options::default());
    let old = site.open(C).await;
    let events = site.send(old.call(1, "progress")).await.events().await;
    assert_eq!(ids(&events), ["1-0", "1-1", "1-2", "1-3"]);
    assert!(events.iter().all(|event| event.data != Value::Null));
    let new = site.open(D).await;
    let events = site.send(new.call(1, "progress")).await.events().await;
    assert_eq!(ids(&events), ["1-0", "1-1", "1-2", "1-3", "1-4"]);
    assert_eq!((&events[0].data, events[0].retry), (&Value::Null, Some(1000)));
    assert_eq!(events[4].data["id"], 1);
}

#[tokio::test]
async fn a_lost_stream_is_gone_on_with_where_it_was_lost() {
    let site = Site::new(Options::default());
    let session = site.open(C).await;
    let mut first = site.send(session.call(1, "progress_then_wait")).await;
    assert_eq!(first.event().await.unwrap().id.as_deref(), Some("1-0"));
    drop(first);
    site.desk.gate.add_permits(1);
    settle().await;
    assert_eq!(count(&site.desk.done), 1);
    let rest = site.send(session.resume("1-0")).await.events().await;
    assert_eq!(ids(&rest), ["1-1", "1-2"]);
    assert_eq!(rest[1].data["id"], 1);
    // Once more from the beginning, and once with nothing left.
    assert_eq!(site.send(session.resume("1-1")).await.events().await.len(), 1);
    assert!(site.send(session.resume("1-2")).await.events().await.is_empty());
}

#[tokio::test]
async fn whoever_comes_back_early_takes_the_stream_over() {
    let site = Site::new(Options::default());
    let session = site.open(C).await;
    let mut first = site.send(session.call(1, "progress_then_wait")).await;
    first.event().await.unwrap();
    let mut second = site.send(session.resume("1-0")).await;
    assert!(first.event().await.is_none());
    site.desk.gate.add_permits(1);
    assert_eq!(second.event().await.unwrap().data["params"]["progress"], 2.0);
    assert_eq!(second.event().await.unwrap().data["id"], 1);
}

#[tokio::test]
async fn only_the_stream_that_was_lost_is_replayed() {
    let site = Site::new(Options::default());
    let session = site.open(C).await;
    let one = site.send(session.call(1, "progress")).await.events().await;
    let two = site.send(session.call(2, "progress")).await.events().await;
    assert_eq!((ids(&one)[0], ids(&two)[0]), ("1-0", "2-0"));
    let replayed = site.send(session.resume("1-1")).await.events().await;
    assert_eq!(ids(&replayed), ["1-2", "1-3"]);
    let other = site.open(C).await;
    assert_eq!(site.send(other.resume("1-1")).await.error().await.0, 400);
    for never in ["9-1", "1-4", "0-0", "x", "1-", "-1", "1-18446744073709551615", "+1-1"] {
        assert_eq!(site.send(session.resume(never)).await.error().await.0, 400, "{never}");
    }
}

#[tokio::test]
async fn a_service_lets_go_of_a_connection_and_the_client_comes_back() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    let mut got = site.send(session.call(1, "hang_up")).await;
    let priming = got.event().await.unwrap();
    assert_eq!((priming.id.as_deref(), &priming.data), (Some("1-0"), &Value::Null));
    let pause = got.event().await.unwrap();
    assert_eq!((pause.id, pause.retry), (None, Some(7)));
    assert!(got.event().await.is_none());
    let back = site.send(session.resume("1-0")).await;
    site.desk.gate.add_permits(1);
    let rest = back.events().await;
    assert_eq!(rest[0].data["result"]["content"][0]["text"], "back again");
    // Older clients do not know that they would have to come back.
    let old = site.open(C).await;
    site.desk.gate.add_permits(1);
    assert!(!site.send(old.call(1, "hang_up")).await.is_stream());
}

#[tokio::test(start_paused = true)]
async fn a_slow_call_becomes_a_stream_that_can_be_come_back_to() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    let mut got = site.send(session.call(1, "wait")).await;
    assert_eq!(got.event().await.unwrap().id.as_deref(), Some("1-0"));
    assert_eq!(got.chunk().await.unwrap(), ":\n\n");
    drop(got);
    let back = site.send(session.resume("1-0")).await;
    site.desk.gate.add_permits(1);
    assert_eq!(back.events().await[0].data["id"], 1);
    // A client that takes no streams waits for as long as it takes.
    let waiting = site.spawn(with(session.call(2, "wait"), "accept", "application/json"));
    later(100).await;
    site.desk.gate.add_permits(1);
    assert_eq!(waiting.await.unwrap().json().await["id"], 2);
}

#[tokio::test]
async fn a_slow_reader_slows_the_service_down_and_loses_nothing() {
    let site = Site::new(Options { replay: Replay { events: 8, bytes: 1 << 20 }, ..Options::default() });
    let session = site.open(C).await;
    let got = site.send(session.call(1, "chatter")).await;
    settle().await;
    assert_eq!(count(&site.desk.done), 0);
    let events = got.events().await;
    let steps: Vec<_> = events.iter().filter_map(|event| event.data["params"]["progress"].as_f64()).collect();
    assert_eq!(steps, (1..=200).map(f64::from).collect::<Vec<_>>());
    assert_eq!(events.last().unwrap().data["id"], 1);
}

#[tokio::test]
async fn without_a_reader_the_last_events_are_kept_and_the_answer_with_them() {
    let site = Site::new(Options { replay: Replay { events: 8, bytes: 1 << 20 }, ..Options::default() });
    let session = site.open(C).await;
    drop(site.send(session.call(1, "chatter")).await);
    settle().await;
    settle().await;
    while count(&site.desk.done) == 0 {
        settle().await;
    }
    settle().await;
    let events = site.send(session.resume("1-0")).await.events().await;
    assert_eq!(events.len(), 8);
    assert_eq!(events.last().unwrap().data["result"]["content"][0]["text"], "said all");
}

#[tokio::test]
async fn what_was_delivered_makes_room_first() {
    let site = Site::new(Options { replay: Replay { events: 6, bytes: 1 << 20 }, ..Options::default() });
    let session = site.open(C).await;
    drop(site.send(session.call(1, "progress")).await);
    settle().await;
    assert_eq!(count(&site.desk.done), 1);
    site.send(session.call(2, "progress")).await.events().await;
    site.send(session.call(3, "progress")).await.events().await;
    assert_eq!(site.send(session.resume("2-0")).await.status, StatusCode::BAD_REQUEST);
    let answer = site.send(session.resume("1-0")).await.events().await;
    assert_eq!(answer.last().unwrap().data["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn streams_that_nobody_came_back_for_are_forgotten() {
    let site = Site::new(Options::default());
    let session = site.open(C).await;
    site.send(session.call(1, "progress")).await.events().await;
    assert_eq!(site.send(session.resume("1-3")).await.status, StatusCode::OK);
    later(130).await;
    assert_eq!(site.send(session.resume("1-3")).await.error().await.0, 400);
}

#[tokio::test]
async fn events_have_lines_where_messages_have_them() {
    let site = Site::new(Options::default());
    let session = site.open(C).await;
    let body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"a\":\r\n1}}}";
    let got = site.send(with(session.headers(text(body)), "accept", "text/event-stream")).await;
    assert_eq!(got.events().await[0].data["result"]["echo"], json!({"a": 1}));
}

#[tokio::test(start_paused = true)]
async fn streams_end_with_the_server_when_the_grace_is_over() {
    let site = Site::new(Options::default());
    let session = site.open(C).await;
    let got = site.send(session.call(1, "progress_then_wait")).await;
    let waiting = site.spawn(session.call(2, "wait"));
    settle().await;
    let (_, events) = tokio::join!(site.endpoint.shutdown(), got.events());
    assert_eq!(events.last().unwrap().data["error"]["code"], -32603);
    assert_eq!(waiting.await.unwrap().error().await, (200, -32603, json!(2)));
    assert_eq!(site.send(session.call(3, "echo")).await.error().await.0, 503);
}

#[tokio::test]
async fn answers_and_cancellations_are_taken_while_the_server_goes() {
    let site = Site::new(Options::default());
    let session = site.open(C).await;
    let mut got = site.send(session.call(1, "ask")).await;
    let question = got.event().await.unwrap().data;
    let endpoint = site.endpoint.clone();
    let shutdown = tokio::spawn(async move { endpoint.shutdown().await });
    settle().await;
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
    assert_eq!(site.send(session.post(&answer)).await.status, StatusCode::ACCEPTED);
    assert!(got.event().await.unwrap().data["result"].is_object());
    drop(got);
    shutdown.await.unwrap();
}
