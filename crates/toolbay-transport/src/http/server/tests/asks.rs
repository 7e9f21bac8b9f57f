//! Questions to a client, in both eras.

use http::StatusCode;
use serde_json::{Value, json};
use toolbay_protocol::Revision;

use super::kit::*;
use crate::http::server::Options;

fn reply(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

#[tokio::test]
async fn a_session_is_asked_on_the_stream_of_its_call() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_06_18).await;
    let mut got = site.send(session.call(1, "ask")).await;
    assert!(got.is_stream());
    let question = got.event().await.unwrap();
    assert_eq!((question.id.as_deref(), question.data["method"].as_str()), (Some("1-0"), Some("elicitation/create")));
    // What nobody asked is dropped.
    assert_eq!(site.send(session.post(&reply(&json!(99), &json!({})))).await.status, StatusCode::ACCEPTED);
    let answer = reply(&question.data["id"], &json!({"action": "accept", "content": {"colour": "red"}}));
    let taken = site.send(session.post(&answer)).await;
    assert_eq!(taken.status, StatusCode::ACCEPTED);
    assert!(taken.bytes().await.is_empty());
    let end = got.event().await.unwrap().data;
    let said = end["result"]["answers"].to_string();
    // Roots were not declared, so that question was never put.
    assert!(said.contains("red") && said.contains("roots=Err"), "{said}");
    assert!(got.event().await.is_none());
    // A late second answer harms nobody.
    assert_eq!(site.send(session.post(&answer)).await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn an_error_is_an_answer_too() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_11_25).await;
    let mut got = site.send(session.call(1, "ask")).await;
    assert_eq!(got.event().await.unwrap().data, Value::Null);
    let question = got.event().await.unwrap().data;
    let refusal = json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no"}});
    assert_eq!(site.send(session.post(&refusal)).await.status, StatusCode::ACCEPTED);
    assert!(got.event().await.unwrap().data["result"]["answers"].to_string().contains("no"));
}

#[tokio::test]
async fn a_modern_client_is_asked_by_a_result_and_returns() {
    let site = Site::new(Options::default());
    let body = site.send(tool(1, "ask")).await.json().await;
    assert_eq!(body["result"]["resultType"], "input_required");
    assert_eq!(body["result"]["inputRequests"]["colour"]["method"], "elicitation/create");
    assert_eq!(body["result"]["requestState"], "s1");
    let answers = json!({"colour": {"action": "accept"}, "roots": {"roots": []}});
    let back = modern(2, "tools/call", json!({"name": "ask", "inputResponses": answers, "requestState": "s1"}));
    let body = site.send(back).await.json().await;
    assert_eq!(body["result"]["answer"], r#"{"action":"accept"}"#);
    assert_eq!(body["result"]["state"], "\"s1\"");
}

#[tokio::test]
async fn a_modern_client_is_not_asked_what_it_did_not_declare() {
    let site = Site::new(Options::default());
    let params = enveloped(json!({"name": "ask"}), &json!({"elicitation": {}}));
    let asked = headed("tools/call", Some("ask"), &request(1, "tools/call", &params));
    let got = site.send(asked).await;
    assert_eq!(got.status, StatusCode::BAD_REQUEST);
    let body = got.json().await;
    assert_eq!(
        (&body["error"]["code"], &body["error"]["data"]),
        (&json!(-32021), &json!({"requiredCapabilities": {"roots": {}}}))
    );
}

#[tokio::test]
async fn a_client_that_cannot_hear_questions_refuses_them() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_11_25).await;
    let got = site.send(with(session.call(1, "ask"), "accept", "application/json")).await;
    assert!(got.json().await["result"]["answers"].to_string().contains("Accept"));
}
