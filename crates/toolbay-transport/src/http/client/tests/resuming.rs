use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::Instant;
use toolbay_protocol::{
    exchange::Step,
    peer::{Call, Patience},
};

use super::peer::*;
use crate::{Connection, Error, Kind};

/// The result of a call that may take long, and how many milliseconds it took.
async fn timed(connection: &Connection) -> (u128, Result<Value, Error>) {
    let begun = Instant::now();
    let patience = Patience { silence: Duration::from_secs(3600), total: None };
    let mut running = connection.call(Call { patience, ..call("t", json!({})) }).await.unwrap();
    let outcome = outcome(&mut running).await.1;
    (begun.elapsed().as_millis(), outcome.map(Result::unwrap))
}

/// A peer whose call breaks off after `first`; resumptions are answered by `then`, counted from nought.
async fn broken(
    first: fn() -> Said,
    then: impl Fn(usize) -> Said + Send + Sync + 'static,
) -> (Arc<Log>, Arc<Ear>, Connection) {
    let resumed = AtomicUsize::new(0);
    legacy("2025-11-25", move |seen| {
        if seen.method() == "tools/call" {
            return Some(first());
        }
        seen.header("last-event-id").map(|_| then(resumed.fetch_add(1, Ordering::SeqCst)))
    })
    .await
}

/// The answer to the first call of a session.
fn answer() -> Value {
    json!({"jsonrpc": "2.0", "id": 3, "result": {"content": []}})
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_gave_an_id_is_resumed_after_the_time_it_asked_for() {
    let first = || Said::stream().raw("id: e-1\nretry: 2500\ndata:\n\n");
    let (log, _, connection) = broken(first, |_| Said::stream().event(&answer())).await;
    let (after, outcome) = timed(&connection).await;
    assert_eq!((after, outcome.unwrap()), (2500, json!({"content": []})));
    let seen = log.seen().into_iter().find(|seen| seen.header("last-event-id").is_some()).unwrap();
    assert_eq!(seen.header("last-event-id"), Some("e-1"));
    assert_eq!(seen.header("accept"), Some("text/event-stream"));
    assert_eq!(seen.header("mcp-session-id"), Some("s-1"));
    assert_eq!(seen.header("mcp-protocol-version"), Some("2025-11-25"));
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_the_answer_learns_that_the_connection_was_let_go_of() {
    type First = fn() -> Said;
    let cases: [(First, Option<u64>); 3] = [
        (|| Said::stream().raw("id: a\nretry: 2500\ndata:\n\n"), Some(2500)),
        // One that breaks was not let go of, nor was one that does not say for how long.
        (|| Said::stream().raw("id: a\nretry: 2500\ndata:\n\n").then(Piece::Break), None),
        (|| Said::stream().raw("id: a\ndata:\n\n"), None),
    ];
    for (first, expected) in cases {
        let (_, _, connection) = broken(first, |_| Said::stream().event(&answer())).await;
        let mut running = connection.call(call("t", json!({}))).await.unwrap();
        let mut away = None;
        loop {
            match running.step().await.unwrap() {
                Step::Away(pause) => away = Some(pause),
                Step::Done(outcome) => break assert!(outcome.is_ok()),
                step @ (Step::Note(_) | Step::Ask(_) | Step::Withdrawn(_)) => panic!("{step:?}"),
            }
        }
        assert_eq!(away, expected.map(Duration::from_millis));
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_resumed_from_the_last_id_and_outages_are_waited_out() {
    let first = || Said::stream().raw("id: a\ndata:\n\nid: b\ndata: {\"jso").then(Piece::Break);
    let (log, _, connection) = broken(first, |times| match times {
        0 => Said::status(503),
        1 => Said::stream().raw("id: c\ndata:\n\n"),
        _ => Said::stream().event(&answer()),
    })
    .await;
    let (after, outcome) = timed(&connection).await;
    assert_eq!((after, outcome.unwrap()), (7000, json!({"content": []})));
    let ids: Vec<_> = log.seen().iter().filter_map(|seen| seen.header("last-event-id").map(str::to_owned)).collect();
    assert_eq!(ids, ["a", "a", "c"]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_resumed_fails_at_once() {
    type First = fn() -> Said;
    let cases: [(First, u128); 3] = [
        (|| Said::stream().raw("retry: 1000\ndata:\n\n"), 0),
        (|| Said::stream().then(Piece::Break), 0),
        (|| Said::stream().raw("id: a\ndata:\n\nid:\ndata:\n\n"), 0),
    ];
    for (first, expected) in cases {
        let (_, _, connection) = broken(first, |_| Said::status(500)).await;
        let (after, outcome) = timed(&connection).await;
        assert_eq!((after, outcome.unwrap_err().kind()), (expected, Kind::Closed));
    }
    type Then = fn(usize) -> Said;
    let refusals: [(Then, Kind); 5] = [
        (|_| Said::status(405), Kind::Closed),
        (|_| Said::status(400), Kind::Misbehaved),
        (|_| Said::status(401), Kind::Unauthorized),
        // The session is lost, but the request had been taken: it may have run.
        (|_| Said::status(404), Kind::Closed),
        (|_| Said::json(200, &json!({})), Kind::Misbehaved),
    ];
    for (then, kind) in refusals {
        let (_, _, connection) = broken(|| Said::stream().raw("id: a\nretry: 500\ndata:\n\n"), then).await;
        let (after, outcome) = timed(&connection).await;
        assert_eq!((after, outcome.unwrap_err().kind()), (500, kind));
    }
}

#[tokio::test(start_paused = true)]
async fn resuming_slows_down_and_is_given_up() {
    let first = || Said::stream().raw("id: a\nretry: 0\ndata:\n\n");
    let (log, _, connection) = broken(first, |_| Said::stream().raw("id: a\ndata:\n\n")).await;
    let (after, outcome) = timed(&connection).await;
    assert_eq!(outcome.unwrap_err().kind(), Kind::Closed);
    assert_eq!(log.seen().iter().filter(|seen| seen.header("last-event-id").is_some()).count(), 10);
    assert_eq!(after, (100 + 200 + 400 + 800 + 1600 + 3200 + 6400 + 12800) + 25600 + 30000);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_polled_may_take_its_time_while_it_says_something() {
    let first = || Said::stream().raw("id: a\nretry: 1000\ndata:\n\n");
    let (_, _, connection) = broken(first, |times| {
        let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}});
        match times {
            0..50 => Said::stream().raw(format!("id: {times}\ndata: {note}\n\n")),
            _ => Said::stream().event(&answer()),
        }
    })
    .await;
    let (after, outcome) = timed(&connection).await;
    assert_eq!((after, outcome.unwrap()), (51_000, json!({"content": []})));
}
