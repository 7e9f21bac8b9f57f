//! The two endpoints of 2024-11-05.

use futures_util::poll;
use http::{Method as Verb, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::kit::*;
use crate::{
    Principal,
    http::server::{Options, Pair},
};

fn site() -> Site {
    Site::new(Options { sse: Some(Pair::default()), ..Options::default() })
}

fn stream() -> Plain {
    with(plain(Verb::GET, "/sse", ""), "accept", "text/event-stream")
}

fn at(place: &str, body: &Value) -> Plain {
    with(plain(Verb::POST, place, &body.to_string()), "content-type", "application/json")
}

async fn open(site: &Site) -> (Got, String) {
    let mut got = site.send(stream()).await;
    assert!(got.is_stream());
    let first = String::from_utf8(got.chunk().await.unwrap().to_vec()).unwrap();
    let place = first.strip_prefix("event: endpoint\ndata: ").unwrap().trim_end().to_owned();
    (got, place)
}

fn initialize() -> Value {
    let params =
        json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    request(0, "initialize", &params)
}

#[tokio::test]
async fn the_stream_says_where_to_post_and_carries_the_answers() {
    let site = site();
    let (mut got, place) = open(&site).await;
    assert!(place.starts_with("/messages?sessionId=") && place.len() == "/messages?sessionId=".len() + 32);
    let taken = site.send(at(&place, &initialize())).await;
    assert_eq!(taken.status, StatusCode::ACCEPTED);
    assert!(taken.bytes().await.is_empty());
    let answer = String::from_utf8(got.chunk().await.unwrap().to_vec()).unwrap();
    assert!(answer.starts_with("event: message\ndata: {"), "{answer}");
    assert!(answer.contains("2024-11-05"));
    site.send(at(&place, &request(1, "tools/call", &json!({"name": "progress", "_meta": {"progressToken": 1}})))).await;
    let mut seen = vec![];
    while seen.len() < 4 {
        seen.push(got.event().await.unwrap().data);
    }
    assert_eq!(seen[3]["id"], 1);
    let caller = site.desk.callers.lock().unwrap()[0].clone();
    assert!(place.ends_with(&**caller.session.as_ref().unwrap()));
}

#[tokio::test]
async fn the_link_ends_with_its_stream() {
    let site = site();
    let (mut got, place) = open(&site).await;
    site.send(at(&place, &initialize())).await;
    got.event().await.unwrap();
    site.send(at(&place, &request(1, "tools/call", &json!({"name": "wait"})))).await;
    assert!(poll!(Box::pin(got.event())).is_pending());
    assert_eq!(count(&site.desk.began), 1);
    drop(got);
    assert_eq!(count(&site.desk.dropped), 1);
    assert_eq!(site.send(at(&place, &request(2, "ping", &json!({})))).await.error().await.0, 404);
}

#[tokio::test]
async fn posts_are_refused_as_anywhere() {
    let site = site();
    let (_got, place) = open(&site).await;
    let ping = request(2, "ping", &json!({}));
    assert_eq!(site.send(at("/messages", &ping)).await.error().await.0, 400);
    assert_eq!(site.send(at("/messages?sessionId=0", &ping)).await.error().await.0, 404);
    let mut foreign = at(&place, &ping);
    foreign.extensions_mut().insert(Principal::Named("else".into()));
    assert_eq!(site.send(foreign).await.error().await.0, 404);
    assert_eq!(site.send(with(at(&place, &ping), "content-type", "text/plain")).await.error().await.0, 415);
    assert_eq!(site.send(with(at(&place, &ping), "origin", "http://evil.test")).await.error().await.0, 403);
    assert_eq!(
        site.send(with(plain(Verb::POST, &place, "{"), "content-type", "application/json")).await.error().await.0,
        400
    );
    assert_eq!(site.send(plain(Verb::POST, "/sse", "")).await.error().await.0, 405);
    assert_eq!(site.send(plain(Verb::GET, &place, "")).await.error().await.0, 405);
    assert_eq!(Site::new(Options::default()).send(stream()).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_cannot_fill_the_server_and_loses_nothing() {
    let site = site();
    let (mut got, place) = open(&site).await;
    let mut taken = 0;
    for id in 1..=100 {
        if site.send(at(&place, &request(id, "ping", &json!({})))).await.status == StatusCode::ACCEPTED {
            taken += 1;
        }
        if taken < id {
            break;
        }
    }
    assert_eq!(taken, 64);
    for id in 1..=64 {
        assert_eq!(got.event().await.unwrap().data["id"], id);
    }
    assert_eq!(site.send(at(&place, &request(200, "ping", &json!({})))).await.status, StatusCode::ACCEPTED);
    assert_eq!(got.event().await.unwrap().data["id"], 200);
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_are_answered_before_the_server_goes() {
    let site = site();
    let (mut got, place) = open(&site).await;
    site.send(at(&place, &initialize())).await;
    got.event().await.unwrap();
    site.send(at(&place, &request(1, "tools/call", &json!({"name": "wait"})))).await;
    assert!(poll!(Box::pin(got.event())).is_pending());
    let endpoint = site.endpoint.clone();
    let shutdown = tokio::spawn(async move { endpoint.shutdown().await });
    settle().await;
    site.desk.gate.add_permits(1);
    assert_eq!(got.event().await.unwrap().data["id"], 1);
    assert!(got.event().await.is_none());
    drop(got);
    shutdown.await.unwrap();
    assert_eq!(count(&site.desk.left), 1);
}

#[tokio::test]
async fn both_pairs_of_endpoints_stand_side_by_side() {
    let site = site();
    let (_got, _) = open(&site).await;
    assert_eq!(site.send(tool(1, "echo")).await.status, StatusCode::OK);
    let response = site.endpoint.handle(stream()).await;
    assert!(response.into_body().frame().await.is_some());
}
