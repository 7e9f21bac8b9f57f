use std::time::Duration;

use http::Method;
use serde_json::json;
use tokio::time::Instant;

use super::peer::*;
use crate::Kind;

#[tokio::test(start_paused = true)]
async fn a_lost_session_fails_the_call_and_ends_the_connection() {
    let (log, ear, connection) = legacy("2025-06-18", |seen| {
        (seen.method() == "tools/call").then(|| Said::json(404, &seen.error(-32001, "Session not found")))
    })
    .await;
    assert_eq!(result(&connection).await.unwrap_err().kind(), Kind::SessionLost);
    assert_eq!(connection.ended().await.kind(), Kind::SessionLost);
    assert_eq!(result(&connection).await.unwrap_err().kind(), Kind::SessionLost);
    assert_eq!(log.count("POST tools/call"), 1);
    assert!(ear.lines().len() == 1 && ear.lines()[0].starts_with("lost"), "{:?}", ear.lines());
    connection.close().await;
    assert_eq!((log.count("DELETE"), log.count("POST notifications/cancelled")), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn refusals_within_a_session_have_their_kinds() {
    for (status, kind) in [
        (400, Kind::Misbehaved),
        (401, Kind::Unauthorized),
        (403, Kind::Unauthorized),
        (429, Kind::Busy),
        (500, Kind::Unreachable),
        (503, Kind::Busy),
    ] {
        let (_, ear, connection) = legacy("2025-06-18", move |seen| {
            let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "no luck"}});
            (seen.method() == "tools/call").then(|| Said::json(status, &error))
        })
        .await;
        let error = result(&connection).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains("no luck"), "{error}");
        assert_eq!(ear.lines(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn closing_says_farewell_and_fails_what_is_in_flight() {
    let (log, ear, connection) = legacy("2025-11-25", |seen| {
        let hangs = seen.method() == "tools/call" || seen.verb == Method::GET;
        hangs.then(|| Said::stream().raw(": hello\n\n").hang())
    })
    .await;
    log.until("GET", 1).await;
    let mut running = connection.call(call("t", json!({}))).await.unwrap();
    let (outcome, ()) = tokio::join!(outcome(&mut running), async {
        log.until("POST tools/call", 1).await;
        connection.close().await;
    });
    assert_eq!(outcome.1.unwrap_err().kind(), Kind::Closed);
    drop(running);
    log.until_given_up(2).await;
    let farewell = log.last("DELETE");
    assert_eq!(farewell.header("mcp-session-id"), Some("s-1"));
    assert_eq!(farewell.header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(connection.ended().await.kind(), Kind::Closed);
    assert_eq!(connection.call(call("t", json!({}))).await.unwrap_err().kind(), Kind::Closed);
    connection.close().await;
    assert_eq!((log.count("DELETE"), log.count("POST notifications/cancelled")), (1, 0));
    assert!(ear.lines().iter().all(|line| line.starts_with("lost")), "{:?}", ear.lines());
}

#[tokio::test(start_paused = true)]
async fn a_farewell_that_is_not_understood_or_not_answered_holds_nobody_up() {
    let begun = Instant::now();
    let (log, ear, connection) =
        legacy("2025-11-25", |seen| (seen.verb == Method::DELETE).then(|| Said::status(405))).await;
    connection.close().await;
    assert_eq!((log.count("DELETE"), ear.lines().len(), begun.elapsed()), (1, 1, Duration::ZERO));
    let (log, _, connection) = legacy("2025-11-25", |seen| match (&seen.verb, seen.method()) {
        (&Method::DELETE, _) => Some(Said::stream().hang()),
        (_, "notifications/cancelled") => Some(Said::text(200, "text/plain", "x").hang()),
        (_, "tools/call") => Some(Said::stream().hang()),
        _ => None,
    })
    .await;
    let mut running = connection.call(call("t", json!({}))).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(1), running.step()).await.is_err());
    drop(running);
    let begun = Instant::now();
    connection.close().await;
    assert!(begun.elapsed() <= Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!((log.count("POST notifications/cancelled"), log.count("DELETE")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_left_without_a_word() {
    let (log, _, connection) = modern(|seen| Said::json(200, &seen.result(json!({})))).await;
    connection.close().await;
    assert_eq!(log.lines(), ["POST server/discover"]);
    assert_eq!(result(&connection).await.unwrap_err().kind(), Kind::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_sessions_is_served_without_one() {
    let (log, dial) = peer(|seen| match seen.method() {
        "initialize" => Said::json(200, &seen.result(json!({"protocolVersion": "2025-03-26", "capabilities": {}}))),
        "server/discover" => Said::status(400),
        "notifications/initialized" => Said::status(202),
        "" => Said::status(405),
        _ => Said::status(404),
    });
    let connection = meet(dial, target()).await.1.unwrap();
    let error = result(&connection).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Incompatible, "{error}");
    let seen = log.last("POST tools/call");
    // spec: the header came with 2025-06-18
    assert_eq!((seen.header("mcp-session-id"), seen.header("mcp-protocol-version")), (None, None));
    connection.close().await;
    assert_eq!(log.count("DELETE"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_refused_end_of_the_handshake_is_an_error() {
    let (_, dial) = peer(|seen| match seen.method() {
        "initialize" => initialized(seen, "2025-11-25"),
        _ => Said::status(400),
    });
    assert_eq!(meet(dial, target()).await.1.unwrap_err().kind(), Kind::Misbehaved);
}
