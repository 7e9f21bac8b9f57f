use std::time::Duration;

use http::Method;
use serde_json::json;
use tokio::time::{self, Instant};
use toolbay_protocol::Revision;

use super::peer::*;
use crate::Kind;

fn error_of<T: std::fmt::Debug>(met: Result<T, crate::Error>) -> (Kind, String) {
    let error = met.unwrap_err();
    (error.kind(), error.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_met_by_discovery_alone() {
    let (log, _, connection) = modern(|_| Said::status(500)).await;
    assert_eq!(connection.meeting().revision, Revision::LATEST);
    assert_eq!(log.lines(), ["POST server/discover"]);
    let seen = log.last("POST server/discover");
    assert_eq!(spoken(&seen), "2026-07-28");
    assert_eq!(seen.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(seen.header("mcp-method"), Some("server/discover"));
    assert_eq!(seen.header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!((seen.header("host"), seen.path.as_str()), (Some("peer.test"), "/mcp"));
}

#[tokio::test(start_paused = true)]
async fn a_server_of_other_modern_revisions_is_asked_again_or_refused() {
    let refuse = |seen: &Seen, supported: serde_json::Value| {
        let mut error = seen.error(-32022, "which?");
        error["error"]["data"] = json!({"supported": supported, "requested": "2026-07-28"});
        Said::json(400, &error)
    };
    let first = std::sync::atomic::AtomicBool::new(true);
    let (log, dial) = peer(move |seen| match first.swap(false, std::sync::atomic::Ordering::SeqCst) {
        true => refuse(seen, json!(["2026-07-28", "2099-01-01"])),
        false => discovered(seen),
    });
    assert!(meet(dial, target()).await.1.is_ok());
    assert_eq!(log.count("POST server/discover"), 2);
    let (log, dial) = peer(move |seen| refuse(seen, json!(["2099-01-01"])));
    let (kind, what) = error_of(meet(dial, target()).await.1);
    assert_eq!((kind, log.lines().len()), (Kind::Incompatible, 1), "{what}");
    assert!(what.contains("2099-01-01"), "{what}");
}

#[tokio::test(start_paused = true)]
async fn whatever_is_no_modern_answer_leads_to_the_handshake() {
    type Refuse = fn(&Seen) -> Said;
    let refusals: [Refuse; 14] = [
        |_| Said::status(400),
        |_| Said::status(404),
        |_| Said::status(405),
        |_| Said::status(406),
        |_| Said::status(415),
        |_| Said::text(400, "text/plain", "Bad Request"),
        |seen| Said::json(400, &seen.error(-32600, "no session")),
        |seen| Said::json(404, &seen.error(-32601, "unknown")),
        |seen| Said::json(200, &seen.error(-32601, "unknown")),
        |seen| Said::json(200, &seen.result(json!({}))),
        |_| Said::json(200, &json!({"error": "unknown"})),
        |_| Said::status(202),
        |_| Said::stream(),
        |_| Said::stream().then(Piece::Break),
    ];
    for (at, refuse) in refusals.into_iter().enumerate() {
        let script = move |seen: &Seen| match seen.method() {
            "server/discover" => refuse(seen).with("mcp-session-id", "not-this-one"),
            "initialize" => initialized(seen, "2025-06-18"),
            "notifications/initialized" => Said::status(202),
            _ => Said::status(405),
        };
        let (log, dial) = peer(script);
        let (_, met) = meet(dial, target()).await;
        assert_eq!(met.unwrap().meeting().revision, Revision::V2025_06_18, "{at}");
        let opening = log.last("POST initialize");
        for header in ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"] {
            assert_eq!(opening.header(header), None, "{at}");
        }
        assert!(opening.body["params"].get("_meta").is_none());
        let said = log.last("POST notifications/initialized");
        assert_eq!(said.header("mcp-session-id"), Some("s-1"));
        assert_eq!(said.header("mcp-protocol-version"), Some("2025-06-18"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_the_probe_is_greeted_after_a_while() {
    let (_, _, connection) =
        legacy("2025-03-26", |seen| (seen.method() == "server/discover").then(|| Said::stream().hang())).await;
    assert_eq!(connection.meeting().revision, Revision::V2025_03_26);
    let begun = Instant::now();
    let (_, dial) = peer(|_| Said::stream().hang());
    let (kind, what) = error_of(meet(dial, target()).await.1);
    assert_eq!((kind, begun.elapsed()), (Kind::Overdue, Duration::from_secs(60)), "{what}");
    assert!(what.contains("http://peer.test/mcp"), "{what}");
}

#[tokio::test(start_paused = true)]
async fn authorization_overload_and_outage_are_no_verdict() {
    for (status, kind, word) in [
        (401, Kind::Unauthorized, "wants authorization"),
        (403, Kind::Unauthorized, "refuses access"),
        (429, Kind::Busy, "after 7 s"),
        (503, Kind::Busy, "after 7 s"),
        (500, Kind::Unreachable, "outage"),
        (502, Kind::Unreachable, "outage"),
    ] {
        let (log, dial) = peer(move |_| Said::status(status).with("retry-after", "7"));
        let (got, what) = error_of(meet(dial, target()).await.1);
        assert_eq!((got, log.lines().len()), (kind, 1), "{what}");
        assert!(what.contains(word), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_web_page_is_called_one() {
    let page = || Said::text(200, "Text/HTML; charset=utf-8", "<!doctype html>");
    let (_, dial) = peer(move |_| page());
    let (kind, what) = error_of(meet(dial, target()).await.1);
    assert_eq!(kind, Kind::Incompatible);
    assert!(what.contains("web page") && what.contains("path right"), "{what}");
    let (log, dial) = peer(move |_| Said::text(404, "text/html", "<h1>Not Found</h1>"));
    let (kind, what) = error_of(meet(dial, target()).await.1);
    assert_eq!((kind, log.lines().last().map(String::as_str)), (Kind::Incompatible, Some("GET")));
    assert!(what.contains("web page") && what.contains("HTTP 404"), "{what}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_handshake_leads_to_two_endpoints() {
    for status in [400, 404, 405] {
        let (log, dial) = peer(move |seen| match seen.verb {
            Method::GET => Said::text(200, "text/plain", "hello"),
            _ if status == 400 => Said::json(400, &seen.error(-32000, "no")),
            _ => Said::status(status),
        });
        let (kind, what) = error_of(meet(dial, target()).await.1);
        assert_eq!(kind, Kind::Incompatible, "{what}");
        assert_eq!(log.lines(), ["POST server/discover", "POST initialize", "GET"]);
        assert_eq!(log.last("GET").header("accept"), Some("text/event-stream"));
        assert!(what.contains(&format!("HTTP {status}")) && what.contains("event stream"), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handshake_with_an_unknown_revision_fails() {
    let (_, dial) = peer(|seen| match seen.method() {
        "initialize" => initialized(seen, "2099-01-01"),
        _ => Said::status(400),
    });
    let (kind, what) = error_of(meet(dial, target()).await.1);
    assert!(kind == Kind::Incompatible && what.contains("2099-01-01"), "{what}");
}

#[tokio::test(start_paused = true)]
async fn redirects_are_followed_within_the_origin_only() {
    for status in [301, 302, 303, 307, 308] {
        let (log, dial) = peer(move |seen| match seen.path.as_str() {
            "/mcp" => Said::status(status).with("location", "/mcp/"),
            _ if seen.method() == "server/discover" => discovered(seen),
            _ => Said::json(200, &seen.result(json!({"content": []}))),
        });
        let connection = meet(dial, target()).await.1.unwrap();
        result(&connection).await.unwrap().unwrap();
        let paths: Vec<_> = log.seen().into_iter().map(|seen| format!("{} {}", seen.verb, seen.path)).collect();
        assert_eq!(paths, ["POST /mcp", "POST /mcp/", "POST /mcp/"]);
        assert_eq!(log.seen()[1].method(), "server/discover");
    }
    for place in ["https://peer.test/mcp", "http://other.test/mcp?token=abc", "//other.test/", "http://peer.test:81/"] {
        let (log, dial) = peer(move |_| Said::status(307).with("location", place));
        let mut secret = target();
        secret.headers.insert("authorization", "Bearer abc".parse().unwrap());
        let (kind, what) = error_of(meet(dial, secret).await.1);
        assert_eq!((kind, log.lines().len(), log.dials()), (Kind::Incompatible, 1, 1), "{what}");
        assert!(what.contains("another origin") && !what.contains("abc"), "{what}");
    }
    let (log, dial) = peer(|_| Said::status(307).with("location", "/again"));
    let (kind, what) = error_of(meet(dial, target()).await.1);
    assert_eq!((kind, log.lines().len()), (Kind::Misbehaved, 6), "{what}");
}

#[tokio::test(start_paused = true)]
async fn configured_headers_go_along_and_are_never_shown() {
    let mut secret = target();
    secret.headers.insert("authorization", "Bearer s3cret".parse().unwrap());
    secret.headers.insert("content-length", "7".parse().unwrap());
    secret.headers.insert("accept", "text/html".parse().unwrap());
    assert!(!format!("{secret:?}").contains("s3cret"));
    let (log, dial) = peer(discovered);
    meet(dial, secret).await.1.unwrap();
    let seen = log.last("POST server/discover");
    assert_eq!(seen.header("authorization"), Some("Bearer s3cret"));
    assert_eq!(seen.header("accept"), Some("application/json, text/event-stream"));
}

#[tokio::test(start_paused = true)]
async fn a_session_id_that_no_header_may_hold_is_refused() {
    let (_, dial) = peer(|seen| match seen.method() {
        "initialize" => {
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
            Said::json(200, &seen.result(result)).with("mcp-session-id", "a b")
        }
        _ => Said::status(400),
    });
    let (kind, what) = error_of(time::timeout(Duration::from_secs(1), meet(dial, target())).await.unwrap().1);
    assert!(kind == Kind::Misbehaved && what.contains("visible ASCII"), "{what}");
}
