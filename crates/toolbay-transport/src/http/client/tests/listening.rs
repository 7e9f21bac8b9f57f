use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::Method;
use serde_json::json;
use tokio::time;
use toolbay_protocol::{
    Raw,
    exchange::{Answers, Step},
    watch::Filter,
};

use super::peer::*;
use crate::{Connection, Kind};

/// A legacy peer whose own stream says what `say` has it say each time it is opened.
async fn speaking(say: impl Fn(usize, &Seen) -> Said + Send + Sync + 'static) -> (Arc<Log>, Arc<Ear>, Connection) {
    let opened = AtomicUsize::new(0);
    legacy("2025-11-25", move |seen| {
        (seen.verb == Method::GET).then(|| say(opened.fetch_add(1, Ordering::SeqCst), seen))
    })
    .await
}

async fn hours(hours: u64) {
    time::timeout(Duration::from_secs(3600 * hours), std::future::pending::<()>()).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_server_without_a_stream_of_its_own_is_asked_once() {
    for status in [404, 405, 501, 400, 401] {
        let (log, ear, connection) = speaking(move |_, _| Said::status(status)).await;
        hours(1).await;
        assert_eq!(log.count("GET"), 1);
        assert_eq!(ear.lines().len(), usize::from(matches!(status, 400 | 401)), "{:?}", ear.lines());
        assert!(connection.call(call("t", json!({}))).await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_server_says_unasked_is_heard_and_answered() {
    let (log, ear, _connection) = speaking(|_, _| {
        Said::stream()
            .event(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
            .event(&json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:b"}}))
            .event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}))
            .event(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
            .event(&json!({"jsonrpc": "2.0", "id": 2, "method": "elicitation/create", "params": {}}))
            .event(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}))
            .event(&json!({"jsonrpc": "2.0"}))
            .hang()
    })
    .await;
    log.until("POST reply", 2).await;
    let heard = ear.lines();
    let words =
        ["changed Tools", "a:b", "noted notifications/message", "asked elicitation", "request 99", "exactly one"];
    assert!(heard.iter().zip(words).all(|(line, word)| line.contains(word)) && heard.len() == 6, "{heard:?}");
    let mut replies: Vec<_> =
        log.seen().into_iter().filter(|seen| seen.method().is_empty()).map(|seen| seen.body).collect();
    replies.retain(|body| body.is_object());
    replies.sort_by_key(|body| body["id"].as_i64());
    assert_eq!(replies[0], json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!(replies[1], json!({"jsonrpc": "2.0", "id": 2, "result": {"action": "accept"}}));
}

#[tokio::test(start_paused = true)]
async fn a_call_is_made_when_the_servers_own_stream_is_open_or_slow_to_open() {
    let (log, _, connection) = speaking(|_, _| Said::stream().hang()).await;
    let _running = connection.call(call("t", json!({}))).await.unwrap();
    assert_eq!(log.count("GET"), 1, "what the server asks there is heard: {:?}", log.lines());

    let (log, _, connection) = speaking(|_, _| Said::nothing()).await;
    let begun = time::Instant::now();
    for _ in 0..2 {
        drop(connection.call(call("t", json!({}))).await.unwrap());
    }
    assert_eq!(log.count("GET"), 1);
    assert_eq!(begun.elapsed().as_millis(), 500, "it is waited for a moment, and once");
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_a_call_reaches_it_also_from_there() {
    let (spoken, wait) = (Arc::new(tokio::sync::Notify::new()), time::Duration::from_secs(1));
    let note = |token: i64| {
        let params = json!({"progressToken": token, "progress": 1});
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    };
    let (log, ear, connection) = legacy("2025-11-25", move |seen| match (&seen.verb, seen.method()) {
        (&Method::GET, _) => Some(
            Said::stream()
                .then(Piece::Until(Arc::clone(&spoken)))
                .event(&note(3))
                .event(&note(99))
                .event(&json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {}}))
                .then(Piece::Wait(wait))
                .event(&json!({"jsonrpc": "2.0", "id": 8, "method": "roots/list"}))
                .hang(),
        ),
        (_, "tools/call") => {
            spoken.notify_one();
            Some(Said::stream().wait(1).wait(1).event(&seen.result(json!({}))))
        }
        _ => None,
    })
    .await;
    let mut running = connection.call(call("t", json!({}))).await.unwrap();
    assert!(matches!(running.step().await, Ok(Step::Note(_))));
    let Ok(Step::Ask(asks)) = running.step().await else { panic!("no question") };
    let answer = Raw::of(&json!({"action": "decline"}));
    running.answer(Answers::one(asks.iter().next().unwrap().0, Ok(answer))).await.unwrap();
    assert_eq!(log.last("POST reply").body, json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "decline"}}));
    // The second question is not looked at before the call is over.
    time::timeout(Duration::from_secs(2), std::future::pending::<()>()).await.unwrap_err();
    drop(running);
    log.until("POST reply", 2).await;
    let refused = log.seen().into_iter().find(|seen| seen.body["id"] == 8).unwrap();
    assert_eq!(refused.body["error"]["code"], -1);
    assert!(ear.lines().len() == 1 && ear.lines()[0].contains("nobody waits"), "{:?}", ear.lines());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_closes_at_once_for_ever_is_opened_ever_more_rarely() {
    let change = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let (log, _, connection) = speaking(move |_, _| Said::stream().event(&change)).await;
    hours(1).await;
    assert!(log.count("GET") < 70, "{}", log.count("GET"));
    drop(connection);
    let before = log.count("GET");
    hours(1).await;
    assert!(log.count("GET") <= before + 1);
    // The same, where ids make sure that nothing is lost meanwhile.
    let (log, _, _connection) = speaking(|times, _| Said::stream().raw(format!("id: {times}\ndata:\n\n"))).await;
    hours(1).await;
    assert!(log.count("GET") < 370, "{}", log.count("GET"));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_lasts_is_opened_again_soon() {
    let (log, _, _connection) = speaking(|_, _| Said::stream().raw(": hello\n\n").wait(300)).await;
    hours(1).await;
    assert_eq!(log.count("GET"), 12);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_taken_up_where_it_broke_off_when_the_server_says_so() {
    let begun = time::Instant::now();
    let (log, _, _connection) = speaking(|times, _| match times {
        0 => Said::stream().raw("id: e-7\nretry: 4000\ndata:\n\n").then(Piece::Break),
        _ => Said::stream().hang(),
    })
    .await;
    log.until("GET", 2).await;
    assert_eq!(begun.elapsed(), Duration::from_secs(4));
    let gets: Vec<_> = log.seen().into_iter().filter(|seen| seen.verb == Method::GET).collect();
    assert_eq!((gets[0].header("last-event-id"), gets[1].header("last-event-id")), (None, Some("e-7")));
    assert_eq!(gets[1].header("mcp-session-id"), Some("s-1"));
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_too_large_is_skipped_and_the_next_one_heard() {
    let (_, dial) = peer(|seen| match (&seen.verb, seen.method()) {
        (&Method::GET, _) => Said::stream()
            .raw(format!("data: {}\n\n", "x".repeat(5000)))
            .event(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
            .hang(),
        (_, "initialize") => initialized(seen, "2025-11-25"),
        (_, "server/discover") => Said::status(400),
        _ => Said::status(202),
    });
    let mut small = target();
    small.limits.message_bytes = 1000;
    let (ear, met) = meet(dial, small).await;
    let _connection = met.unwrap();
    ear.until("changed Tools").await;
    assert!(ear.lines()[0].contains("more than 1000 bytes (limit `message_bytes`)"), "{:?}", ear.lines());
}

#[tokio::test(start_paused = true)]
async fn a_restarted_server_is_noticed_on_its_own_stream() {
    let (log, ear, connection) = speaking(|times, _| match times {
        0 => Said::stream().raw(": hello\n\n"),
        1 | 2 => Said::status(502),
        _ => Said::status(404),
    })
    .await;
    assert_eq!(connection.ended().await.kind(), Kind::SessionLost);
    assert_eq!((log.count("GET"), ear.lines().len()), (4, 1));
    assert_eq!(connection.call(call("t", json!({}))).await.unwrap_err().kind(), Kind::SessionLost);
}

#[tokio::test(start_paused = true)]
async fn a_modern_subscription_is_a_request_of_its_own() {
    let (log, ear, connection) = modern(|seen| {
        let tag = json!({"io.modelcontextprotocol/subscriptionId": seen.body["id"]});
        let other = json!({"io.modelcontextprotocol/subscriptionId": 99});
        let note = |method: &str, params| json!({"jsonrpc": "2.0", "method": method, "params": params});
        let honoured = json!({"notifications": {"toolsListChanged": true}, "_meta": tag});
        Said::stream()
            .event(&note("notifications/subscriptions/acknowledged", honoured))
            .event(&note("notifications/prompts/list_changed", json!({"_meta": other})))
            .event(&note("notifications/tools/list_changed", json!({"_meta": tag})))
            .hang()
    })
    .await;
    let subscription = connection.subscribe(Filter::lists()).await.unwrap();
    assert!(subscription.filter().tools && !subscription.filter().prompts);
    ear.until("changed Tools").await;
    assert!(ear.lines()[0].contains("subscription 99"), "{:?}", ear.lines());
    assert_eq!(log.last("POST subscriptions/listen").header("mcp-method"), Some("subscriptions/listen"));
    assert_eq!(log.count("GET"), 0);
    drop(subscription);
    log.until_given_up(1).await;
}
