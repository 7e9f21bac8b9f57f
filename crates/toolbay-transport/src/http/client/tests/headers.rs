use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolbay_protocol::{Method, Raw, peer::Call};

use super::peer::*;
use crate::{Connection, Kind};

fn tool(name: &str, properties: Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
}

fn mirrored() -> Value {
    let region = json!({"type": "string", "x-mcp-header": "Region"});
    let inner = json!({"type": "object", "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}});
    tool("t", json!({"region": region, "inner": inner}))
}

fn page(seen: &Seen, tools: &[Value], next: Option<&str>) -> Said {
    Said::json(200, &seen.result(json!({"resultType": "complete", "tools": tools, "nextCursor": next})))
}

async fn list(connection: &Connection) -> Vec<String> {
    let result = connection.request(Call::new(Method::ToolsList, None)).await.unwrap().unwrap();
    let tools: Vec<Value> = result.get("tools").unwrap().read().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn every_modern_request_names_its_method_and_its_object() {
    let (log, _, connection) = modern(|seen| Said::json(200, &seen.result(json!({})))).await;
    let check = async |method: Method, params: Value, name: Option<&str>| {
        connection.request(Call::new(method.clone(), Some(Raw::of(&params)))).await.unwrap().unwrap();
        let seen = log.last(&format!("POST {method}"));
        assert_eq!(seen.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(seen.header("mcp-method"), Some(method.as_str()));
        assert_eq!(seen.header("mcp-name"), name);
        assert_eq!(seen.header("mcp-session-id"), None);
        assert_eq!(spoken(&seen), "2026-07-28");
    };
    check(Method::ToolsCall, json!({"name": "add"}), Some("add")).await;
    check(Method::ToolsCall, json!({"name": "größe"}), Some("=?base64?Z3LDtsOfZQ==?=")).await;
    check(Method::PromptsGet, json!({"name": " p"}), Some("=?base64?IHA=?=")).await;
    check(Method::ResourcesRead, json!({"uri": "a:b"}), Some("a:b")).await;
    check(Method::ToolsList, json!({}), None).await;
    connection.tell(toolbay_protocol::exchange::Note { method: Method::RootsChanged, params: None }).await.unwrap();
    assert_eq!(log.last("POST notifications/roots/list_changed").header("mcp-protocol-version"), Some("2026-07-28"));
}

#[tokio::test(start_paused = true)]
async fn annotated_arguments_are_mirrored() {
    let (log, _, connection) = modern(|seen| match seen.method() {
        "tools/list" => page(seen, &[mirrored(), tool("plain", json!({}))], None),
        _ => Said::json(200, &seen.result(json!({}))),
    })
    .await;
    assert_eq!(list(&connection).await, ["t", "plain"]);
    let check = async |arguments: Value, region: Option<&str>, count: Option<&str>| {
        connection.request(call("t", arguments)).await.unwrap().unwrap();
        let seen = log.last("POST tools/call");
        assert_eq!((seen.header("mcp-param-region"), seen.header("mcp-param-count")), (region, count));
    };
    check(json!({"region": "eu", "inner": {"count": 42}}), Some("eu"), Some("42")).await;
    check(json!({"region": "", "inner": {"count": null}}), Some(""), None).await;
    check(json!({"region": "ü"}), Some("=?base64?w7w=?="), None).await;
    check(json!({}), None, None).await;
    let outcome = connection.request(call("t", json!({"inner": {"count": 9_007_199_254_740_993_i64}}))).await.unwrap();
    assert_eq!(outcome.unwrap_err().code, -32602);
    assert_eq!(log.count("POST tools/call"), 4);
}

#[tokio::test(start_paused = true)]
async fn tools_that_annotate_against_the_rules_are_left_out() {
    let (_, ear, connection) = modern(|seen| {
        let bad = tool("bad", json!({"a": {"type": "number", "x-mcp-header": "A"}}));
        page(seen, &[tool("one", json!({})), bad, mirrored()], None)
    })
    .await;
    assert_eq!(list(&connection).await, ["one", "t"]);
    assert!(ear.lines().len() == 1 && ear.lines()[0].contains("\"bad\" is left out"), "{:?}", ear.lines());
    // Older revisions have no such annotations, so none is against the rules.
    let (_, ear, connection) = legacy("2025-11-25", |seen| {
        let bad = tool("bad", json!({"a": {"type": "number", "x-mcp-header": "A"}}));
        (seen.method() == "tools/list").then(|| page(seen, &[bad], None))
    })
    .await;
    assert_eq!((list(&connection).await, ear.lines().len()), (vec!["bad".to_owned()], 0));
}

#[tokio::test(start_paused = true)]
async fn a_mismatch_has_the_tools_listed_again_and_the_call_tried_once_more() {
    let (log, _, connection) = modern(|seen| match (seen.method(), seen.header("mcp-param-region")) {
        ("tools/list", _) if seen.body["params"]["cursor"].is_null() => page(seen, &[], Some("2")),
        ("tools/list", _) => page(seen, &[mirrored()], Some("3")),
        (_, Some("eu")) => Said::json(200, &seen.result(json!({"ok": true}))),
        _ => Said::json(400, &seen.error(-32020, "Header mismatch")),
    })
    .await;
    let outcome = connection.request(call("t", json!({"region": "eu"}))).await.unwrap().unwrap();
    assert_eq!(outcome.get("ok"), Some(Raw::of(&true)));
    assert_eq!(log.lines()[1..], ["POST tools/call", "POST tools/list", "POST tools/list", "POST tools/call"]);
    let error = connection.request(call("t", json!({"region": "us"}))).await.unwrap_err();
    assert_eq!((error.kind(), log.count("POST tools/call")), (Kind::Misbehaved, 4), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_changed_its_revision_ends_the_connection() {
    let calls = AtomicUsize::new(0);
    let (log, ear, connection) = modern(move |seen| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Said::json(400, &seen.error(-32022, "no longer")),
        _ => Said::json(200, &seen.result(json!({}))),
    })
    .await;
    assert_eq!(result(&connection).await.unwrap_err().kind(), Kind::Incompatible);
    assert_eq!(connection.ended().await.kind(), Kind::Incompatible);
    assert_eq!(result(&connection).await.unwrap_err().kind(), Kind::Incompatible);
    assert_eq!((log.count("POST tools/call"), ear.lines().len()), (1, 1));
}
