//! Requests of the modern era.

use std::{sync::Arc, task::Poll, time::Duration};

use futures_util::poll;
use http::StatusCode;
use serde_json::{Value, json};
use toolbay_protocol::headers::HeaderPlan;

use super::kit::*;
use crate::http::server::Options;

#[tokio::test]
async fn what_is_done_at_once_is_one_json_response() {
    let site = Site::new(Options::default());
    let got = site.send(modern(7, "tools/call", json!({"name": "echo", "arguments": {"n": 1}}))).await;
    assert_eq!(got.headers.len(), 1, "{:?}", got.headers);
    let body = got.json().await;
    assert_eq!(body["id"], 7);
    assert_eq!(body["result"]["echo"], json!({"n": 1}));
    assert_eq!(body["result"]["resultType"], "complete");
    assert_eq!(body["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "desk");
}

#[tokio::test]
async fn discovery_and_lists_carry_their_stamps() {
    let site = Site::new(Options::default());
    let body = site.send(modern(1, "server/discover", json!({}))).await.json().await;
    assert_eq!(body["result"]["supportedVersions"], json!([NEW]));
    for key in ["resultType", "ttlMs", "cacheScope", "capabilities", "_meta"] {
        assert!(body["result"].get(key).is_some(), "{key}");
    }
    let body = site.send(modern(1, "tools/list", json!({}))).await.json().await;
    assert_eq!((&body["result"]["ttlMs"], &body["result"]["cacheScope"]), (&json!(0), &json!("private")));
}

#[tokio::test]
async fn what_is_said_first_makes_a_stream_in_order() {
    let site = Site::new(Options::default());
    let got = site.send(tool(7, "progress")).await;
    assert_eq!(
        (&got.headers["x-accel-buffering"], &got.headers["cache-control"]),
        (&"no".parse().unwrap(), &"no-cache".parse().unwrap())
    );
    assert!(got.is_stream());
    let events = got.events().await;
    assert!(events.iter().all(|event| event.id.is_none() && event.retry.is_none()));
    let steps: Vec<_> = events[..3].iter().map(|event| event.data["params"]["progress"].as_f64().unwrap()).collect();
    assert_eq!(steps, [1.0, 2.0, 3.0]);
    assert_eq!(events[0].data["params"]["progressToken"], "t");
    assert_eq!(events[3].data["result"]["content"][0]["text"], "progressed");
    assert_eq!(events.len(), 4);
}

#[tokio::test]
async fn notes_that_nobody_asked_for_make_no_stream() {
    let site = Site::new(Options::default());
    let got = site.send(modern(7, "tools/call", json!({"name": "progress"}))).await;
    assert!(!got.is_stream());
    assert!(!site.send(tool(7, "log")).await.is_stream());
    let leveled = json!({"name": "log", "_meta": {"io.modelcontextprotocol/logLevel": "warning"}});
    let events = site.send(modern(7, "tools/call", leveled)).await.events().await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].data["params"]["level"], "error");
}

#[tokio::test]
async fn a_client_without_streams_gets_the_answer_alone() {
    let site = Site::new(Options::default());
    let got = site.send(with(tool(7, "chatter"), "accept", "application/json")).await;
    assert_eq!(got.json().await["result"]["content"][0]["text"], "said all");
}

#[tokio::test]
async fn a_slow_reader_slows_the_service_down() {
    let site = Site::new(Options::default());
    let got = site.send(tool(7, "chatter")).await;
    settle().await;
    assert_eq!(count(&site.desk.done), 0);
    assert_eq!(got.events().await.len(), 201);
}

#[tokio::test]
async fn going_away_cancels_before_anything_was_said() {
    let site = Site::new(Options::default());
    {
        let mut handling = Box::pin(site.endpoint.handle(tool(1, "wait")));
        assert!(poll!(handling.as_mut()).is_pending());
        assert_eq!(count(&site.desk.began), 1);
    }
    assert_eq!((count(&site.desk.dropped), count(&site.desk.done)), (1, 0));
}

#[tokio::test]
async fn going_away_cancels_a_stream() {
    let site = Site::new(Options::default());
    let mut got = site.send(tool(1, "progress_then_wait")).await;
    assert_eq!(got.event().await.unwrap().data["method"], "notifications/progress");
    assert!(matches!(poll!(Box::pin(got.event())), Poll::Pending));
    drop(got);
    assert_eq!((count(&site.desk.dropped), count(&site.desk.done)), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn silence_is_broken_by_signs_of_life() {
    let site = Site::new(Options::default());
    let started = tokio::time::Instant::now();
    let mut got = site.send(tool(1, "wait")).await;
    assert!(got.is_stream());
    assert_eq!(started.elapsed(), Duration::from_secs(15));
    assert_eq!(got.chunk().await.unwrap(), ":\n\n");
    assert_eq!(started.elapsed(), Duration::from_secs(30));
    site.desk.gate.add_permits(1);
    assert_eq!(got.event().await.unwrap().data["result"]["content"][0]["text"], "waited");
    assert!(got.event().await.is_none());
}

#[tokio::test]
async fn errors_have_the_status_of_their_code() {
    let site = Site::new(Options::default());
    for (asked, expected) in [
        (tool(1, "unknown"), (400, -32602)),
        (tool(1, "own_error"), (200, 7)),
        (tool(1, "boom"), (200, -32603)),
        (tool(1, "needs"), (400, -32021)),
        (with(modern(1, "resources/read", json!({"uri": "a:b"})), "mcp-name", "a:b"), (400, -32602)),
        (modern(1, "no/such", json!({})), (404, -32601)),
        (modern(1, "prompts/list", json!({})), (404, -32601)),
        (modern(1, "sampling/createMessage", json!({})), (404, -32601)),
        (modern(1, "subscriptions/listen", json!({})), (400, -32602)),
    ] {
        let (status, code, id) = site.send(asked).await.error().await;
        assert_eq!(((status, code), id), (expected, json!(1)));
    }
}

#[tokio::test]
async fn headers_repeat_the_body_or_the_request_is_refused() {
    let site = Site::new(Options::default());
    let good = || modern(1, "tools/call", json!({"name": "echo"}));
    let sentinel = with(modern(1, "tools/call", json!({"name": "echo"})), "mcp-name", "=?base64?ZWNobw==?=");
    assert_eq!(site.send(sentinel).await.status, StatusCode::OK);
    assert_eq!(site.send(with(good(), "mcp-name", " echo ")).await.status, StatusCode::OK);
    for bad in [
        without(good(), "mcp-method"),
        without(good(), "mcp-name"),
        with(good(), "mcp-method", "Tools/Call"),
        with(good(), "mcp-method", "tools/list"),
        with(good(), "mcp-name", "Echo"),
        with(good(), "mcp-name", "=?base64?ZWNobw?="),
        again(good(), "mcp-method", "tools/call"),
        again(good(), "mcp-name", "echo"),
        again(good(), "mcp-protocol-version", NEW),
    ] {
        assert_eq!(site.send(bad).await.error().await, (400, -32020, json!(1)));
    }
    let resource = modern(1, "resources/read", json!({"uri": "a:b"}));
    assert_eq!(site.send(resource).await.error().await, (400, -32020, json!(1)));
    assert_eq!(count(&site.desk.began), 2);
}

#[tokio::test]
async fn the_ladder_is_climbed_from_below() {
    let site = Site::new(Options::default());
    let check = async |asked, expected: (u16, i64)| {
        let (status, code, _) = site.send(asked).await.error().await;
        assert_eq!((status, code), expected);
    };
    let bare = |params: Value| headed("tools/list", None, &request(1, "tools/list", &params));
    // Repeated header before incomplete envelope, that before an unlike header, that before an unknown version.
    check(again(bare(json!({})), "mcp-method", "x"), (400, -32020)).await;
    check(with(bare(json!({})), "mcp-method", "x"), (400, -32602)).await;
    let halves = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": NEW}});
    check(bare(halves), (400, -32602)).await;
    let unknown = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {},
    }});
    check(bare(unknown.clone()), (400, -32020)).await;
    check(with(bare(unknown), "mcp-protocol-version", "2099-01-01"), (400, -32022)).await;
    let no_object = enveloped(json!({}), &json!(5));
    check(bare(no_object), (400, -32602)).await;
    // Unknown methods come after the headers.
    check(with(modern(1, "no/such", json!({})), "mcp-method", "no/other"), (400, -32020)).await;
}

#[tokio::test]
async fn parameters_in_headers_are_compared_where_the_tool_says_so() {
    let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let plan = HeaderPlan::of(&schema).unwrap();
    let site = Site::with(Desk { plan: Some(Arc::new(plan)), ..Desk::default() }, Options::default());
    let call = |region: Value| modern(1, "tools/call", json!({"name": "echo", "arguments": {"region": region}}));
    assert_eq!(site.send(with(call(json!("eu")), "mcp-param-region", "eu")).await.status, StatusCode::OK);
    assert_eq!(site.send(call(Value::Null)).await.status, StatusCode::OK);
    for bad in [
        call(json!("eu")),
        with(call(json!("eu")), "mcp-param-region", "us"),
        again(with(call(json!("eu")), "mcp-param-region", "eu"), "mcp-param-region", "eu"),
        with(call(Value::Null), "mcp-param-region", "eu"),
    ] {
        assert_eq!(site.send(bad).await.error().await, (400, -32020, json!(1)));
    }
    assert_eq!(count(&site.desk.began), 2);
}

#[tokio::test]
async fn clients_send_no_responses_and_notifications_are_taken() {
    let site = Site::new(Options::default());
    let answer = with(post(&json!({"jsonrpc": "2.0", "id": 3, "result": {}})), "mcp-protocol-version", NEW);
    assert_eq!(site.send(answer).await.error().await, (400, -32600, json!(3)));
    let note = json!({"jsonrpc": "2.0", "method": "notifications/none", "params": enveloped(json!({}), &json!({}))});
    for request in [
        headed("notifications/none", None, &note),
        with(post(&note), "mcp-protocol-version", NEW),
        with(post(&json!({"jsonrpc": "2.0", "method": "notifications/none"})), "mcp-protocol-version", NEW),
    ] {
        let got = site.send(request).await;
        assert_eq!(got.status, StatusCode::ACCEPTED);
        assert!(got.bytes().await.is_empty());
    }
    assert_eq!(site.desk.notes.lock().unwrap().len(), 2);
    let unlike = headed("notifications/other", None, &note);
    assert_eq!(site.send(unlike).await.error().await, (400, -32020, Value::Null));
}

#[tokio::test(start_paused = true)]
async fn calls_end_within_the_grace_or_are_told_so() {
    let site = Site::new(Options::default());
    let waiting = site.spawn(tool(1, "wait"));
    let talking = site.spawn(tool(2, "progress_then_wait"));
    settle().await;
    site.endpoint.shutdown().await;
    let (status, code, id) = waiting.await.unwrap().error().await;
    assert_eq!((status, code, id), (200, -32603, json!(1)));
    let events = talking.await.unwrap().events().await;
    assert_eq!(events.last().unwrap().data["error"]["code"], -32603);
    let after = site.send(tool(3, "echo")).await;
    assert_eq!(after.error().await, (503, -32600, json!(3)));
}

#[tokio::test]
async fn rule_175_who_did_not_declare_tasks_cannot_listen_to_them() {
    let site = Site::new(Options::default());
    let got = site.send(modern(7, "subscriptions/listen", json!({"notifications": {"taskIds": ["t"]}}))).await;
    assert_eq!((got.status, got.is_stream()), (StatusCode::BAD_REQUEST, false));
    let error = &got.json().await["error"];
    let needed = json!({"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
    assert_eq!((&error["code"], &error["data"]), (&json!(-32021), &needed));
}
