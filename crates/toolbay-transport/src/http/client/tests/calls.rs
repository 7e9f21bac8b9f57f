use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::Instant;
use toolbay_protocol::{
    Method,
    exchange::Wishes,
    peer::{Call, Patience},
};

use super::peer::*;
use crate::{Connection, Kind};

/// What a modern peer's answer to a call comes to.
async fn answered(say: impl Fn(&Seen) -> Said + Send + Sync + 'static) -> (Vec<String>, Result<Value, (Kind, String)>) {
    let (_, ear, connection) = modern(say).await;
    let outcome = result(&connection).await.map_err(|error| (error.kind(), error.to_string()));
    (ear.lines(), outcome.map(|outcome| outcome.unwrap_or_else(|error| json!({"code": error.code}))))
}

fn good() -> Value {
    json!({"resultType": "complete", "content": []})
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_read_in_every_form() {
    type Say = fn(&Seen) -> Said;
    let forms: [Say; 9] = [
        |seen| Said::json(200, &seen.result(good())),
        |seen| Said::text(200, "Application/JSON; Charset=\"UTF-8\"", seen.result(good()).to_string()),
        |seen| Said::text(200, "application/vnd.mcp+json", seen.result(good()).to_string()),
        |seen| Said::text(200, "text/plain", format!("\u{feff} {}", seen.result(good()))),
        |seen| Said::status(200).raw(seen.result(good()).to_string()),
        |seen| Said::stream().raw("\u{feff}: hello\n\n").event(&seen.result(good())),
        |seen| {
            Said::stream()
                .raw(format!("event: other\ndata: x\n\nevent: message\r\ndata:{}\r\n\r\n", seen.result(good())))
        },
        |seen| Said::text(200, "TEXT/Event-Stream;charset=utf-8", format!("data: {}\n\n", seen.result(good()))),
        |seen| {
            let text = Bytes::from(format!("id: 1\ndata: {}\n\n", seen.result(good())));
            (0..text.len()).fold(Said::stream(), |said, at| said.raw(text.slice(at..=at)))
        },
    ];
    for (at, form) in forms.into_iter().enumerate() {
        let (heard, outcome) = answered(form).await;
        assert_eq!(outcome, Ok(good()), "{at}");
        assert_eq!(heard, [""; 0], "{at}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_none_fails_at_once() {
    let begun = Instant::now();
    type Say = fn(&Seen) -> Said;
    let cases: [(Say, Kind, &str); 16] = [
        (|_| Said::status(202), Kind::Misbehaved, "answers nothing"),
        (|_| Said::status(204), Kind::Misbehaved, "answers nothing"),
        (|_| Said::status(200), Kind::Misbehaved, "answers nothing"),
        (|_| Said::text(200, "application/json", "  "), Kind::Misbehaved, "empty"),
        (|_| Said::text(200, "text/html", "<html>"), Kind::Incompatible, "web page"),
        (|seen| Said::json(200, &seen.result(good())).with("content-encoding", "gzip"), Kind::Misbehaved, "gzip"),
        (|_| Said::text(200, "application/json", " <html>"), Kind::Incompatible, "web page"),
        (|_| Said::text(200, "application/json", "{\"jsonrpc\""), Kind::Misbehaved, "answers badly"),
        (|seen| Said::json(200, &json!([seen.result(good())])), Kind::Misbehaved, "answers badly"),
        (|_| Said::json(200, &json!({"jsonrpc": "2.0", "id": 99, "result": {}})), Kind::Misbehaved, "request 99"),
        (
            |seen| Said::json(200, &json!({"jsonrpc": "2.0", "id": seen.body["id"].to_string(), "result": {}})),
            Kind::Misbehaved,
            "answers request",
        ),
        (
            |seen| {
                let mut both = seen.result(good());
                both["error"] = json!({"code": 1, "message": "no"});
                Said::stream().event(&both).hang()
            },
            Kind::Misbehaved,
            "exactly one",
        ),
        (|_| Said::stream(), Kind::Closed, "ended before the answer"),
        (|_| Said::stream().raw("id: 7\ndata:\n\n"), Kind::Closed, "ended before the answer"),
        (|_| Said::stream().raw("data: {\"js").then(Piece::Break), Kind::Closed, "broke in the middle"),
        (|_| Said::json(405, &json!({})), Kind::Incompatible, "HTTP 405"),
    ];
    for (say, kind, word) in cases {
        let (_, outcome) = answered(say).await;
        let (got, what) = outcome.unwrap_err();
        assert_eq!(got, kind, "{what}");
        assert!(what.contains(word), "{what}");
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_belong_to_a_call_is_reported_and_survived() {
    let (heard, outcome) = answered(|seen| {
        Said::stream()
            .event(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}))
            .event(&json!({"jsonrpc": "1.0"}))
            .raw("data: not json\n\n")
            .event(&json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}))
            .event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 99, "progress": 1}}))
            .event(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
            .event(&json!({"jsonrpc": "2.0", "method": "notifications/unheard_of"}))
            .event(&seen.result(good()))
    })
    .await;
    assert_eq!(outcome, Ok(good()));
    let words = ["request 99", "jsonrpc", "not JSON", "server asks ping", "progress", "changed Tools", "noted"];
    assert_eq!(heard.len(), words.len(), "{heard:?}");
    assert!(heard.iter().zip(words).all(|(line, word)| line.contains(word)), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_server_is_an_outcome_whatever_its_status() {
    for (status, code) in [(200, -32603), (400, -32602), (404, -32601), (400, -32021), (500, -32603)] {
        let (_, outcome) = answered(move |seen| Said::json(status, &seen.error(code, "no"))).await;
        assert_eq!(outcome, Ok(json!({"code": code})));
    }
    let (_, outcome) = answered(|_| {
        Said::json(400, &json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32602, "message": "no"}}))
    })
    .await;
    assert_eq!(outcome, Ok(json!({"code": -32602})));
    for (status, kind) in [(401, Kind::Unauthorized), (403, Kind::Unauthorized), (429, Kind::Busy)] {
        let (_, outcome) = answered(move |seen| Said::json(status, &seen.error(-32001, "no"))).await;
        assert_eq!(outcome.unwrap_err().0, kind);
    }
    for (status, kind) in
        [(400, Kind::Misbehaved), (404, Kind::Incompatible), (413, Kind::Limit), (502, Kind::Unreachable)]
    {
        let (_, outcome) = answered(move |_| Said::text(status, "text/plain", "no such\nthing")).await;
        let (got, what) = outcome.unwrap_err();
        assert_eq!(got, kind, "{what}");
        assert!(what.contains("no such thing"), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn notes_come_before_the_outcome_in_their_order() {
    let (_, _, connection) = modern(|seen| {
        let progress = json!({"progressToken": seen.body["params"]["_meta"]["progressToken"], "progress": 1});
        Said::stream()
            .event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}))
            .event(
                &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}),
            )
            .event(&seen.result(good()))
    })
    .await;
    let mut running = connection.call(Call { wishes: Wishes::progress(), ..call("t", json!({})) }).await.unwrap();
    let (notes, outcome) = outcome(&mut running).await;
    assert_eq!(notes, ["notifications/progress", "notifications/message"]);
    assert_eq!(outcome.unwrap().unwrap(), good());
    assert!(running.step().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_large_event_is_read_and_an_endless_one_is_not() {
    let text = "x".repeat(24 << 20);
    let large = json!({"resultType": "complete", "content": [{"type": "text", "text": text}]});
    let expected = large.clone();
    let (_, outcome) = answered(move |seen| Said::stream().event(&seen.result(large.clone()))).await;
    assert!(outcome == Ok(expected));
    type Say = fn(&Seen) -> Said;
    let endless: [Say; 3] = [
        |_| Said::stream().raw("data: ").then(Piece::Endless(&[b'x'; 65536])),
        |_| Said::stream().then(Piece::Endless(b"data: y\n")),
        |_| Said::text(200, "application/json", "{\"a\":\"").then(Piece::Endless(&[b'x'; 65536])),
    ];
    for say in endless {
        let (log, dial) =
            peer(move |seen| if seen.method() == "server/discover" { discovered(seen) } else { say(seen) });
        let mut small = target();
        small.limits.message_bytes = 1 << 20;
        let connection = meet(dial, small).await.1.unwrap();
        let error = result(&connection).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Limit);
        assert!(error.to_string().contains("1048576 bytes (limit `message_bytes`)"), "{error}");
        log.until_given_up(1).await;
    }
}

async fn patient(
    connection: &Connection,
    silence: u64,
    total: Option<u64>,
) -> (u64, Result<Result<Value, toolbay_protocol::ErrorObject>, crate::Error>) {
    let patience = Patience { silence: Duration::from_secs(silence), total: total.map(Duration::from_secs) };
    let begun = Instant::now();
    let mut running = connection.call(Call { patience, ..call("t", json!({})) }).await.unwrap();
    let outcome = outcome(&mut running).await.1;
    (begun.elapsed().as_secs(), outcome)
}

#[tokio::test(start_paused = true)]
async fn a_sign_of_life_renews_patience_until_there_is_no_more_of_it() {
    let (log, _, connection) = modern(|seen| {
        let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}});
        let said = Said::stream().wait(40).event(&log).wait(40).event(&log).wait(40);
        said.raw("id: 1\ndata:\n\n").event(&seen.result(good()))
    })
    .await;
    let (after, outcome) = patient(&connection, 60, None).await;
    assert_eq!((after, outcome.unwrap().unwrap()), (120, good()));
    let (after, outcome) = patient(&connection, 30, None).await;
    assert_eq!((after, outcome.unwrap_err().kind()), (30, Kind::Overdue));
    let (after, outcome) = patient(&connection, 60, Some(90)).await;
    let error = outcome.unwrap_err();
    assert_eq!((after, error.kind()), (90, Kind::Overdue));
    assert!(error.to_string().contains("in all"), "{error}");
    // spec: the end of the stream is the cancellation
    assert_eq!(log.lines().len(), 4);
    let (_, _, mute) = modern(|_| (0..100).fold(Said::stream(), |said, _| said.raw(": still here\n\n").wait(1))).await;
    let (after, outcome) = patient(&mute, 5, None).await;
    assert_eq!((after, outcome.unwrap_err().kind()), (5, Kind::Overdue));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_modern_call_ends_its_stream_and_nothing_else() {
    let (log, _, connection) = modern(|_| Said::stream().raw(": hello\n\n").hang()).await;
    let mut running = connection.call(call("t", json!({}))).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(1), running.step()).await.is_err());
    drop(running);
    log.until_given_up(1).await;
    assert_eq!(log.lines(), ["POST server/discover", "POST tools/call"]);
    // One that was never looked at was never sent.
    drop(connection.call(call("t", json!({}))).await.unwrap());
    assert_eq!(log.lines().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_legacy_call_is_cancelled_by_a_word() {
    let (log, _, connection) =
        legacy("2025-11-25", |seen| (seen.method() == "tools/call").then(|| Said::stream().raw(": hello\n\n").hang()))
            .await;
    let mut running = connection.call(call("t", json!({}))).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(1), running.step()).await.is_err());
    drop(running);
    log.until("POST notifications/cancelled", 1).await;
    let cancelled = log.last("POST notifications/cancelled");
    assert_eq!(cancelled.body["params"]["requestId"], log.last("POST tools/call").body["id"]);
    assert_eq!(cancelled.header("mcp-session-id"), Some("s-1"));
    let (after, outcome) = patient(&connection, 5, None).await;
    assert_eq!((after, outcome.unwrap_err().kind()), (5, Kind::Overdue));
    log.until("POST notifications/cancelled", 2).await;
}

#[tokio::test(start_paused = true)]
async fn calls_share_a_connection_and_have_ids_of_their_own() {
    let (log, _, connection) = modern(|seen| Said::json(200, &seen.result(good()))).await;
    for _ in 0..20 {
        result(&connection).await.unwrap().unwrap();
    }
    assert_eq!(log.dials(), 1);
    let ids: std::collections::BTreeSet<_> = log.seen().iter().map(|seen| seen.body["id"].as_i64()).collect();
    assert_eq!(ids.len(), 21);
    let mut all: Vec<_> = vec![];
    for _ in 0..8 {
        all.push(result(&connection));
    }
    assert!(futures_util::future::join_all(all).await.into_iter().all(|outcome| outcome.unwrap().is_ok()));
}

#[tokio::test(start_paused = true)]
async fn messages_in_one_array_are_read_where_the_revision_has_them() {
    for form in ["json", "sse"] {
        let (_, ear, connection) = legacy("2025-03-26", move |seen| {
            let note = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            let both = json!([note, seen.result(json!({"content": []}))]);
            (seen.method() == "tools/call")
                .then(|| if form == "json" { Said::json(200, &both) } else { Said::stream().event(&both) })
        })
        .await;
        assert!(result(&connection).await.unwrap().is_ok());
        assert_eq!(ear.lines(), ["changed Tools"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_foreign_method_is_not_sent() {
    let (log, _, connection) = modern(|_| Said::status(500)).await;
    assert_eq!(connection.call(Call::new(Method::Ping, None)).await.unwrap_err().kind(), Kind::Incompatible);
    assert_eq!(log.lines().len(), 1);
}
