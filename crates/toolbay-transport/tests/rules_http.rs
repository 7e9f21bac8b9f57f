//! Rules of the protocol that no scenario of the official suite covers, for servers over HTTP.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::sync::Arc;

use bytes::Bytes;
use http::{Method as Verb, Request as Plain};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use toolbay_protocol::{ErrorObject, Raw, exchange::Outcome, greeting::Profile, watch::Filter};
use toolbay_transport::{
    Caller, Cx, Hub, Request, Service, Watch,
    http::server::{Endpoint, Options},
};

const NEW: &str = "2026-07-28";

/// A service that can everything and does nothing.
#[derive(Default)]
struct Idle(Hub);

impl Service for Idle {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = json!({
            "tools": {}, "prompts": {}, "resources": {}, "extensions": {"io.modelcontextprotocol/tasks": {}},
        });
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "idle", "version": "1"})),
            capabilities: Raw::of(&capabilities),
            instructions: None,
        })
    }

    async fn call(&self, _: Request, _: Cx) -> Outcome {
        Ok(Raw::EMPTY)
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.0.watch(filter))
    }
}

/// Sends a modern request with these headers: its status, and the code of its error.
async fn status(verb: Verb, headers: &[(&str, &str)], method: &str, params: Value) -> (u16, Option<i64>) {
    let endpoint = Endpoint::new(Arc::new(Idle::default()), Options::default());
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let common = [
        ("host", "localhost:1"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let builder = common
        .iter()
        .chain(headers)
        .fold(Plain::builder().method(verb).uri("/mcp"), |builder, (name, value)| builder.header(*name, *value));
    let (head, body) = endpoint.handle(builder.body(Full::new(Bytes::from(body))).unwrap()).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    (head.status.as_u16(), answer["error"]["code"].as_i64())
}

// Rules 63 to 65.
#[tokio::test]
async fn each_name_of_a_request_must_be_the_one_in_the_body() {
    for (method, key) in [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")] {
        check(method, key).await;
    }
}

// Rule 182.
#[tokio::test]
async fn the_name_of_a_task_must_be_the_one_in_the_body() {
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        check(method, "taskId").await;
    }
}

async fn check(method: &str, key: &str) {
    let version = ("mcp-protocol-version", NEW);
    let is = ("mcp-method", method);
    let send = |headers: Vec<(&'static str, String)>| {
        let method = method.to_owned();
        let params = json!({ key: "x:y" });
        async move {
            let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            status(Verb::POST, &headers, &method, params).await
        }
    };
    let with = |rest: &[(&'static str, &str)]| {
        rest.iter().map(|(name, value)| (*name, (*value).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(send(with(&[version, is, ("mcp-name", "x:y")])).await, (200, None), "{method}");
    assert_eq!(send(with(&[version, is, ("mcp-name", "=?base64?eDp5?=")])).await, (200, None), "{method}, wrapped");
    for (what, headers) in [
        ("another name", vec![version, is, ("mcp-name", "X:y")]),
        ("no name", vec![version, is]),
        ("two names", vec![version, is, ("mcp-name", "x:y"), ("mcp-name", "x:z")]),
        ("no method", vec![version, ("mcp-name", "x:y")]),
        ("another method", vec![version, ("mcp-method", "tools/list"), ("mcp-name", "x:y")]),
        ("no version", vec![is, ("mcp-name", "x:y")]),
        ("another version", vec![("mcp-protocol-version", "2025-11-25"), is, ("mcp-name", "x:y")]),
    ] {
        assert_eq!(send(with(&headers)).await, (400, Some(-32020)), "{method}, {what}");
    }
}

// Rules 56, 79 and A52.
#[tokio::test]
async fn verbs_of_sessions_and_foreign_pages_are_turned_away() {
    let modern = [("mcp-protocol-version", NEW), ("mcp-session-id", "s"), ("last-event-id", "1")];
    for verb in [Verb::GET, Verb::DELETE] {
        assert_eq!(status(verb, &modern, "tools/list", json!({})).await.0, 405);
    }
    let page = [
        ("origin", "https://evil.example"),
        ("authorization", "Bearer x"),
        ("mcp-protocol-version", NEW),
        ("mcp-method", "tools/list"),
    ];
    assert_eq!(status(Verb::POST, &page, "tools/list", json!({})).await.0, 403);
    let ours =
        [("mcp-session-id", "s"), ("last-event-id", "1"), ("mcp-protocol-version", NEW), ("mcp-method", "tools/list")];
    assert_eq!(status(Verb::POST, &ours, "tools/list", json!({})).await, (200, None));
}
