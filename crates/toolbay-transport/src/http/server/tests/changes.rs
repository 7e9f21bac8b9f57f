//! Being told of changes, in both eras.

use futures_util::poll;
use http::StatusCode;
use serde_json::{Value, json};
use toolbay_protocol::{Revision, watch::Change};

use super::kit::*;
use crate::http::server::Options;

fn listen(id: u32, wanted: &Value) -> Plain {
    modern(id, "subscriptions/listen", json!({"notifications": wanted}))
}

fn subscription(event: &Event) -> (Value, Value) {
    let data = &event.data;
    let meta = if data.get("result").is_some() { &data["result"]["_meta"] } else { &data["params"]["_meta"] };
    (data["method"].clone(), meta["io.modelcontextprotocol/subscriptionId"].clone())
}

#[tokio::test]
async fn a_listener_is_acknowledged_first_and_told_what_it_wanted() {
    let site = Site::new(Options::default());
    let wanted = json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["a:1"]});
    let mut got = site.send(listen(5, &wanted)).await;
    assert!(got.is_stream());
    let first = got.event().await.unwrap();
    assert_eq!(subscription(&first), (json!("notifications/subscriptions/acknowledged"), json!(5)));
    // Prompts are not advertised, so they are not honoured.
    assert_eq!(
        first.data["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["a:1"]})
    );
    for change in [Change::Resources, Change::Updated("a:2".into()), Change::Tools, Change::Updated("a:1".into())] {
        site.desk.hub.publish(&change);
    }
    let second = got.event().await.unwrap();
    assert_eq!(subscription(&second), (json!("notifications/tools/list_changed"), json!(5)));
    let third = got.event().await.unwrap();
    assert_eq!(subscription(&third), (json!("notifications/resources/updated"), json!(5)));
    assert_eq!(third.data["params"]["uri"], "a:1");
    assert!(poll!(Box::pin(got.event())).is_pending());
}

#[tokio::test]
async fn a_listener_is_told_of_the_end() {
    let site = Site::new(Options::default());
    let mut got = site.send(listen(5, &json!({"toolsListChanged": true}))).await;
    got.event().await.unwrap();
    let endpoint = site.endpoint.clone();
    let shutdown = tokio::spawn(async move { endpoint.shutdown().await });
    let end = got.event().await.unwrap();
    assert_eq!(subscription(&end).1, json!(5));
    assert_eq!((&end.data["id"], &end.data["result"]["resultType"]), (&json!(5), &json!("complete")));
    assert!(got.event().await.is_none());
    shutdown.await.unwrap();
}

#[tokio::test]
async fn a_service_that_ends_its_watch_ends_the_stream_in_order() {
    let site = Site::new(Options::default());
    let mut got = site.send(listen(5, &json!({"toolsListChanged": true}))).await;
    got.event().await.unwrap();
    site.desk.hub.publish(&Change::Tools);
    site.desk.hub.end();
    assert_eq!(got.event().await.unwrap().data["method"], "notifications/tools/list_changed");
    assert_eq!(got.event().await.unwrap().data["id"], 5);
    assert!(got.event().await.is_none());
}

#[tokio::test]
async fn listening_needs_a_client_that_takes_streams() {
    let site = Site::new(Options::default());
    let got = site.send(with(listen(5, &json!({})), "accept", "application/json")).await;
    assert_eq!(got.error().await, (406, -32600, json!(5)));
}

#[tokio::test]
async fn a_session_is_told_on_its_standing_stream_alone() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_06_18).await;
    // Said while nobody listens: kept, once.
    site.desk.hub.publish(&Change::Tools);
    site.desk.hub.publish(&Change::Tools);
    let mut got = site.send(session.get()).await;
    assert_eq!(
        got.event().await.unwrap().data,
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    );
    assert!(poll!(Box::pin(got.event())).is_pending());
    let mut call = site.send(session.call(1, "progress_then_wait")).await;
    call.event().await.unwrap();
    site.desk.hub.publish(&Change::Resources);
    assert_eq!(got.event().await.unwrap().data["method"], "notifications/resources/list_changed");
    site.desk.gate.add_permits(1);
    let rest = call.events().await;
    assert_eq!(rest.len(), 2);
    assert!(rest.iter().all(|event| event.data["method"] != "notifications/resources/list_changed"));
}

#[tokio::test]
async fn a_session_is_told_of_resources_while_it_subscribes() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_06_18).await;
    let subscribe = |method: &str, uri: &str| session.post(&request(1, method, &json!({"uri": uri})));
    let mut got = site.send(session.get()).await;
    assert!(poll!(Box::pin(got.event())).is_pending());
    for uri in ["a:1", "a:2", "a:3"] {
        assert_eq!(site.send(subscribe("resources/subscribe", uri)).await.json().await["result"], json!({}));
    }
    site.desk.hub.publish(&Change::Updated("a:2".into()));
    assert_eq!(got.event().await.unwrap().data["params"]["uri"], "a:2");
    site.desk.hub.publish(&Change::Updated("a:1".into()));
    site.desk.hub.publish(&Change::Updated("a:3".into()));
    assert_eq!(site.send(subscribe("resources/unsubscribe", "a:3")).await.status, StatusCode::OK);
    site.desk.hub.publish(&Change::Updated("a:3".into()));
    assert_eq!(got.event().await.unwrap().data["params"]["uri"], "a:1");
    assert!(poll!(Box::pin(got.event())).is_pending());
}

#[tokio::test]
async fn a_session_has_one_standing_stream() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_06_18).await;
    let first = site.send(session.get()).await;
    assert_eq!(site.send(session.get()).await.error().await.0, 409);
    drop(first);
    assert_eq!(site.send(session.get()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_lost_standing_stream_is_gone_on_with() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_11_25).await;
    let mut first = site.send(session.get()).await;
    let priming = first.event().await.unwrap();
    assert_eq!((priming.id.as_deref(), priming.retry), (Some("0-0"), Some(1000)));
    site.desk.hub.publish(&Change::Tools);
    assert_eq!(first.event().await.unwrap().id.as_deref(), Some("0-1"));
    // The client never saw that; its connection is dead, but nobody has noticed yet.
    let mut second = site.send(session.resume("0-0")).await;
    assert_eq!(second.event().await.unwrap().data["method"], "notifications/tools/list_changed");
    assert!(first.event().await.is_none());
    site.desk.hub.publish(&Change::Resources);
    assert_eq!(second.event().await.unwrap().id.as_deref(), Some("0-2"));
}

#[tokio::test]
async fn the_standing_stream_ends_with_its_session_and_with_the_server() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_06_18).await;
    let got = site.send(session.get()).await;
    assert_eq!(site.send(session.delete()).await.status, StatusCode::NO_CONTENT);
    assert!(got.events().await.is_empty());
    let session = site.open(Revision::V2025_06_18).await;
    let got = site.send(session.get()).await;
    let (_, events) = tokio::join!(site.endpoint.shutdown(), got.events());
    assert!(events.is_empty());
    assert_eq!(count(&site.desk.left), 2);
}
