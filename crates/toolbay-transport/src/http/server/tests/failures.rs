//! What is refused, and how: the table of failures over HTTP, row by row, in both eras.

use http::{Method as Verb, Request, StatusCode, header};
use serde_json::{Value, json};
use toolbay_protocol::Revision;

use super::kit::*;
use crate::{
    Principal,
    http::server::{Admit, Names, Options, Refused},
};

const D: Revision = Revision::LATEST_LEGACY;

fn list(id: u32) -> Value {
    request(id, "tools/list", &json!({}))
}

#[tokio::test]
async fn foreign_names_and_pages_are_refused_on_every_verb() {
    let site = Site::new(Options::default());
    for verb in [Verb::GET, Verb::POST, Verb::DELETE, Verb::OPTIONS, Verb::PUT] {
        let host = with(plain(verb.clone(), "/mcp", ""), "host", "evil.test");
        assert_eq!(site.send(host).await.error().await, (421, -32600, Value::Null), "{verb}");
        let origin = with(plain(verb.clone(), "/mcp", ""), "origin", "http://evil.test");
        assert_eq!(site.send(origin).await.error().await.0, 403, "{verb}");
    }
    let absolute = plain(Verb::POST, "http://evil.test/mcp", "");
    assert_eq!(site.send(absolute).await.status, StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(site.send(without(tool(1, "echo"), "host")).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(site.send(again(tool(1, "echo"), "host", "localhost")).await.status, StatusCode::BAD_REQUEST);
    let friendly = with(tool(1, "echo"), "origin", "http://localhost:6274");
    let got = site.send(friendly).await;
    assert_eq!(
        (got.status, &got.headers["access-control-allow-origin"]),
        (StatusCode::OK, &"http://localhost:6274".parse().unwrap())
    );
    assert_eq!(count(&site.desk.began), 1);
}

#[tokio::test]
async fn a_page_that_was_let_in_may_ask_first() {
    let site = Site::new(Options::default());
    let asked = with(plain(Verb::OPTIONS, "/mcp", ""), "origin", "http://127.0.0.1:1");
    let asked =
        with(with(asked, "access-control-request-method", "POST"), "access-control-request-headers", "mcp-method");
    let got = site.send(asked).await;
    assert_eq!(got.status, StatusCode::NO_CONTENT);
    assert_eq!(got.headers["access-control-allow-headers"], "mcp-method");
    assert_eq!(site.send(plain(Verb::OPTIONS, "/mcp", "")).await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn names_can_be_listed_or_opened_to_all() {
    let hosts = Names::Only(vec!["mcp.test".into()]);
    let site = Site::new(Options { hosts, origins: Names::Any, ..Options::default() });
    let named = with(with(tool(1, "echo"), "host", "mcp.test:443"), "origin", "https://any.test");
    assert_eq!(site.send(named).await.status, StatusCode::OK);
    assert_eq!(site.send(tool(1, "echo")).await.status, StatusCode::MISDIRECTED_REQUEST);
    let site = Site::new(Options { hosts: Names::Any, ..Options::default() });
    assert_eq!(site.send(without(tool(1, "echo"), "host")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn whoever_is_not_admitted_is_told_what_to_do() {
    let admit = Admit::by(|head| match head.headers.get(header::AUTHORIZATION) {
        Some(token) => Ok(Principal::Named(token.to_str().unwrap().into())),
        None => Err(Refused {
            status: StatusCode::UNAUTHORIZED,
            challenge: Some("Bearer".parse().unwrap()),
            message: "a token is needed".into(),
        }),
    });
    let site = Site::new(Options { admit, ..Options::default() });
    let got = site.send(tool(1, "echo")).await;
    assert_eq!(got.headers["www-authenticate"], "Bearer");
    assert_eq!(got.error().await.0, 401);
    assert_eq!(site.send(with(tool(1, "echo"), "authorization", "Bearer a")).await.status, StatusCode::OK);
    assert_eq!(site.desk.callers.lock().unwrap()[0].principal, Principal::Named("Bearer a".into()));
}

#[tokio::test]
async fn verbs_that_mean_nothing_are_answered_with_those_that_do() {
    let site = Site::new(Options::default());
    let check = async |request, allowed: &str| {
        let got = site.send(request).await;
        assert_eq!((got.status.as_u16(), got.headers["allow"].to_str().unwrap()), (405, allowed));
    };
    check(plain(Verb::PUT, "/mcp", ""), "GET, POST, DELETE").await;
    check(plain(Verb::GET, "/mcp", ""), "POST").await;
    check(plain(Verb::DELETE, "/mcp", ""), "POST").await;
    // A modern client has neither session nor stream to come back to, whatever it sends.
    let session = site.open(D).await;
    check(with(session.get(), "mcp-protocol-version", NEW), "POST").await;
    check(with(session.delete(), "mcp-protocol-version", NEW), "POST").await;
    assert_eq!(site.send(plain(Verb::POST, "/other", "")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn media_types_are_judged_before_the_body() {
    let site = Site::new(Options::default());
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"] {
        assert_eq!(site.send(with(tool(1, "echo"), "content-type", kind)).await.error().await.0, 415, "{kind}");
    }
    assert_eq!(site.send(without(tool(1, "echo"), "content-type")).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(site.send(with(tool(1, "echo"), "content-encoding", "gzip")).await.error().await.0, 415);
    assert_eq!(site.send(with(tool(1, "echo"), "accept", "text/html")).await.error().await.0, 406);
    for accept in ["*/*", "application/json", "application/*;q=0.1"] {
        let got = site.send(with(tool(1, "echo"), "accept", accept)).await;
        assert_eq!((got.status, got.is_stream()), (StatusCode::OK, false), "{accept}");
    }
    assert_eq!(site.send(without(tool(1, "echo"), "accept")).await.status, StatusCode::OK);
    assert!(site.send(with(tool(1, "echo"), "accept", "text/event-stream")).await.is_stream());
    let session = site.open(D).await;
    assert!(site.send(with(session.post(&list(1)), "accept", "text/event-stream")).await.is_stream());
    assert_eq!(site.send(with(session.get(), "accept", "application/json")).await.error().await.0, 406);
}

#[tokio::test]
async fn what_is_too_large_is_not_read_to_its_end() {
    let site = Site::new(Options { request_bytes: 1000, ..Options::default() });
    let large = site.send(text(&" ".repeat(1001))).await;
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
    let said = String::from_utf8(large.bytes().await.to_vec()).unwrap();
    assert!(said.contains("1000") && said.contains("request_bytes"), "{said}");
    // A body that does not say how long it is.
    let chunks = futures_util::stream::iter(
        (0..).map(|_| Ok::<_, std::io::Error>(http_body::Frame::data(bytes::Bytes::from_static(&[b' '; 1 << 16])))),
    );
    let body = http_body_util::StreamBody::new(chunks.map_ok(|frame: http_body::Frame<bytes::Bytes>| frame));
    let (head, _) = text("").into_parts();
    let got = Got::of(site.endpoint.handle(Request::from_parts(head, body)).await);
    assert_eq!(got.error().await, (413, -32600, Value::Null));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_is_given_up() {
    let site = Site::new(Options::default());
    let body = http_body_util::StreamBody::new(futures_util::stream::pending::<
        Result<http_body::Frame<bytes::Bytes>, std::io::Error>,
    >());
    let (head, _) = text("").into_parts();
    assert_eq!(Got::of(site.endpoint.handle(Request::from_parts(head, body)).await).error().await.0, 408);
}

#[tokio::test]
async fn what_is_no_message_is_refused_in_either_era() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    for (body, code, id) in [
        ("{", -32700, json!(null)),
        ("\u{1}", -32700, json!(null)),
        ("", -32700, json!(null)),
        ("5", -32600, json!(null)),
        ("{}", -32600, json!(null)),
        (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, -32600, json!(4)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":[]}"#, -32600, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"ping","method":"tools/list"}"#, -32700, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"ping","Method":"tools/list"}"#, -32700, json!(4)),
    ] {
        let expected = (400, code, id);
        assert_eq!(site.send(text(body)).await.error().await, expected, "{body}");
        assert_eq!(site.send(session.headers(text(body))).await.error().await, expected, "{body}");
        assert_eq!(site.send(with(text(body), "mcp-protocol-version", NEW)).await.error().await, expected, "{body}");
    }
    let not_utf8 = text("").map(|_| http_body_util::Full::from(bytes::Bytes::from_static(b"{\"a\":\"\xff\"}")));
    assert_eq!(site.send(not_utf8).await.error().await, (400, -32700, Value::Null));
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}1{}}}"#, "{\"a\":".repeat(200), "}".repeat(200));
    assert_eq!(site.send(text(&deep)).await.error().await.1, -32700);
}

#[tokio::test]
async fn a_key_that_stands_twice_never_reaches_the_service() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    let meta = enveloped(json!({}), &json!({}))["_meta"].to_string();
    for params in [
        r#""name":"echo","name":"boom""#,
        r#""name":"echo","arguments":{"a":1,"A":2}"#,
        r#""name":"echo","arguments":{"a":1,"\u0061":2}"#,
    ] {
        let legacy = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{params}}}}}"#);
        assert_eq!(site.send(session.headers(text(&legacy))).await.error().await, (400, -32700, json!(1)), "{params}");
        let modern =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{params},"_meta":{meta}}}}}"#);
        let modern = with(with(text(&modern), "mcp-protocol-version", NEW), "mcp-method", "tools/call");
        let modern = with(modern, "mcp-name", "echo");
        assert_eq!(site.send(modern).await.error().await, (400, -32700, json!(1)), "{params}");
    }
    assert_eq!(count(&site.desk.began), 0);
}

#[tokio::test]
async fn sessions_are_named_known_ones_own_and_few() {
    let site = Site::new(Options { sessions: 1, ..Options::default() });
    let session = site.open(D).await;
    assert_eq!(site.send(post(&list(3))).await.error().await, (400, -32600, json!(3)));
    let unknown = with(session.post(&list(3)), "mcp-session-id", "00000000000000000000000000000000");
    assert_eq!(site.send(unknown).await.error().await, (404, -32600, json!(3)));
    let twice = again(session.post(&list(3)), "mcp-session-id", &session.id);
    assert_eq!(site.send(twice).await.error().await, (400, -32600, json!(3)));
    let mut foreign = session.post(&list(3));
    foreign.extensions_mut().insert(Principal::Named("somebody else".into()));
    assert_eq!(site.send(foreign).await.error().await, (404, -32600, json!(3)));
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    assert_eq!(site.send(post(&request(9, "initialize", &params))).await.error().await, (503, -32600, json!(9)));
    let nameless = with(plain(Verb::GET, "/mcp", ""), "mcp-protocol-version", "2025-06-18");
    assert_eq!(site.send(nameless).await.error().await.0, 400);
    let session = Session::clone(&session);
    assert_eq!(site.send(session.post(&list(4))).await.status, StatusCode::OK);
}

#[tokio::test]
async fn versions_in_the_header_of_a_session_may_be_any_legacy_one() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let got = site.send(with(session.post(&list(1)), "mcp-protocol-version", version)).await;
        assert_eq!(got.status, StatusCode::OK, "{version}");
    }
    assert_eq!(site.send(without(session.post(&list(1)), "mcp-protocol-version")).await.status, StatusCode::OK);
    for version in ["1999-01-01", "2025-11-25x", ""] {
        let got = site.send(with(session.post(&list(1)), "mcp-protocol-version", version)).await;
        assert_eq!(got.status, StatusCode::BAD_REQUEST, "{version}");
    }
    let twice = again(session.post(&list(1)), "mcp-protocol-version", "2025-06-18");
    assert_eq!(site.send(twice).await.error().await, (400, -32600, json!(1)));
}

#[tokio::test]
async fn errors_in_a_session_are_answers() {
    let site = Site::new(Options::default());
    let session = site.open(D).await;
    let check = async |method: &str, params: Value, code: i64| {
        assert_eq!(
            site.send(session.post(&request(5, method, &params))).await.error().await,
            (200, code, json!(5)),
            "{method}"
        );
    };
    check("no/such", json!({}), -32601).await;
    check("prompts/list", json!({}), -32601).await;
    check("server/discover", json!({}), -32601).await;
    check("sampling/createMessage", json!({}), -32601).await;
    check("notifications/initialized", json!({}), -32601).await;
    check("tools/call", json!({"name": "unknown"}), -32602).await;
    check("logging/setLevel", json!({"level": "loud"}), -32602).await;
    check("resources/read", json!({"uri": "x:y"}), -32002).await;
    check("tools/call", json!({"name": "boom"}), -32603).await;
    check("resources/subscribe", json!({}), -32602).await;
}

use futures_util::TryStreamExt as _;
