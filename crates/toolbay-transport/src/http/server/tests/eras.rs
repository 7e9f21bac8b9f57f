//! Whose request it is: the traps of telling the eras apart.

use http::StatusCode;
use serde_json::{Value, json};
use toolbay_protocol::Revision;

use super::kit::*;
use crate::http::server::Options;

fn initialize(version: &str) -> Value {
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    request(1, "initialize", &params)
}

#[tokio::test]
async fn a_plain_opening_works_with_and_without_a_legacy_version_header() {
    let site = Site::new(Options::default());
    for request in
        [post(&initialize("2025-11-25")), with(post(&initialize("2025-11-25")), "mcp-protocol-version", "2025-11-25")]
    {
        let got = site.send(request).await;
        let id = got.headers["mcp-session-id"].clone();
        assert!(id.len() == 32 && id.as_bytes().iter().all(u8::is_ascii_hexdigit));
        let body = got.json().await;
        assert_eq!(body["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(body["result"]["serverInfo"]["name"], "desk");
    }
    assert_eq!(count(&site.desk.joined), 2);
}

#[tokio::test]
async fn an_opening_is_answered_with_the_same_version_or_the_newest_legacy_one() {
    let site = Site::new(Options::default());
    for (offered, answer) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2026-07-28", "2025-11-25"),
        ("1.0", "2025-11-25"),
    ] {
        let body = site.send(post(&initialize(offered))).await.json().await;
        assert_eq!(body["result"]["protocolVersion"], answer, "{offered}");
    }
    let bad = request(1, "initialize", &json!({"capabilities": {}}));
    assert_eq!(site.send(post(&bad)).await.error().await, (200, -32602, json!(1)));
}

#[tokio::test]
async fn words_of_the_handshake_in_an_envelope_are_unknown_methods() {
    let site = Site::new(Options::default());
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        let params = json!({"protocolVersion": "2025-11-25", "level": "info", "uri": "a:b"});
        let got = site.send(modern(1, method, params)).await;
        assert!(!got.headers.contains_key("mcp-session-id"));
        assert_eq!(got.error().await, (404, -32601, json!(1)), "{method}");
    }
}

#[tokio::test]
async fn an_unknown_version_is_refused_in_words_a_client_can_use() {
    let site = Site::new(Options::default());
    let mut params = enveloped(json!({}), &json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v999.0.0");
    let asked = with(
        headed("server/discover", None, &request(1, "server/discover", &params)),
        "mcp-protocol-version",
        "v999.0.0",
    );
    let got = site.send(asked).await;
    assert_eq!(got.status, StatusCode::BAD_REQUEST);
    let body = got.json().await;
    assert_eq!((&body["error"]["code"], &body["error"]["data"]["requested"]), (&json!(-32022), &json!("v999.0.0")));
    let discovered = site.send(modern(1, "server/discover", json!({}))).await.json().await;
    assert_eq!(body["error"]["data"]["supported"], discovered["result"]["supportedVersions"]);
}

#[tokio::test]
async fn envelope_and_header_are_weighed_together() {
    let site = Site::new(Options::default());
    let check = async |stated: Value, header: Option<&str>, expected: (u16, i64)| {
        let mut params = enveloped(json!({}), &json!({}));
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = stated.clone();
        let asked = headed("tools/list", None, &request(1, "tools/list", &params));
        let asked = match header {
            Some(version) => with(asked, "mcp-protocol-version", version),
            None => without(asked, "mcp-protocol-version"),
        };
        let (status, code, id) = site.send(asked).await.error().await;
        assert_eq!((status, code, id), (expected.0, expected.1, json!(1)), "{stated} {header:?}");
    };
    check(json!(NEW), None, (400, -32020)).await;
    check(json!(NEW), Some("2025-11-25"), (400, -32020)).await;
    check(json!("2025-11-25"), Some("2025-11-25"), (400, -32022)).await;
    check(json!("2025-11-25"), None, (400, -32020)).await;
    check(json!(5), Some(NEW), (400, -32020)).await;
    check(json!(5), Some("5"), (400, -32602)).await;
}

#[tokio::test]
async fn a_modern_header_without_an_envelope_is_an_incomplete_modern_request() {
    let site = Site::new(Options::default());
    for version in [NEW, "2099-01-01", "nonsense"] {
        let asked = with(post(&request(1, "tools/list", &json!({}))), "mcp-protocol-version", version);
        assert_eq!(site.send(asked).await.error().await, (400, -32602, json!(1)), "{version}");
    }
    let asked = with(post(&initialize("2025-11-25")), "mcp-protocol-version", NEW);
    assert_eq!(site.send(asked).await.error().await, (400, -32602, json!(1)));
}

#[tokio::test]
async fn modern_requests_ignore_sessions_and_mint_none() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::LATEST_LEGACY).await;
    for name in [session.id.as_str(), "unknown"] {
        let asked = with(with(tool(1, "echo"), "mcp-session-id", name), "last-event-id", "1-1");
        let got = site.send(asked).await;
        assert!(got.status == StatusCode::OK && !got.headers.contains_key("mcp-session-id"));
    }
    let callers = site.desk.callers.lock().unwrap();
    assert!(callers.iter().all(|caller| caller.session.is_none()));
}

#[tokio::test]
async fn an_opening_inside_a_session_is_refused() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::LATEST_LEGACY).await;
    assert_eq!(site.send(session.post(&initialize("2025-11-25"))).await.error().await, (400, -32600, json!(1)));
}

#[tokio::test]
async fn arrays_are_read_where_the_revision_has_them() {
    let site = Site::new(Options::default());
    let array = json!([request(1, "ping", &json!({}))]);
    assert_eq!(
        site.send(with(post(&array), "mcp-protocol-version", NEW)).await.error().await,
        (400, -32600, Value::Null)
    );
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let session = site.open(revision).await;
        assert_eq!(site.send(session.post(&array)).await.error().await, (400, -32600, Value::Null));
    }
    let session = site.open(Revision::V2025_03_26).await;
    assert_eq!(site.send(session.post(&array)).await.json().await, json!([{"jsonrpc": "2.0", "id": 1, "result": {}}]));
    assert_eq!(site.send(session.post(&json!([]))).await.error().await, (400, -32600, Value::Null));
}
