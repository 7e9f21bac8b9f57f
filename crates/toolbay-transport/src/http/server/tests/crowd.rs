//! Many clients of both eras at once.

use http::StatusCode;
use serde_json::json;
use toolbay_protocol::Revision;

use super::kit::*;
use crate::http::server::Options;

#[tokio::test]
async fn ten_clients_of_both_eras_do_not_meet() {
    let site = std::sync::Arc::new(Site::new(Options::default()));
    let mut clients = vec![];
    for number in 0..10u32 {
        let site = std::sync::Arc::clone(&site);
        clients.push(tokio::spawn(async move {
            let revision = Revision::ALL[number as usize % 5];
            let session = if revision == Revision::LATEST { None } else { Some(site.open(revision).await) };
            for turn in 0..20u32 {
                let mark = number * 1000 + turn;
                let params = json!({"name": "echo", "arguments": {"mark": mark}});
                // All clients use the same ids.
                let asked = match &session {
                    Some(session) => session.post(&request(turn, "tools/call", &params)),
                    None => modern(turn, "tools/call", params),
                };
                let body = site.send(asked).await.json().await;
                assert_eq!((&body["id"], &body["result"]["echo"]["mark"]), (&json!(turn), &json!(mark)));
                let asked = match &session {
                    Some(session) => session.call(100 + turn, "progress"),
                    None => tool(100 + turn, "progress"),
                };
                let events = site.send(asked).await.events().await;
                assert_eq!(events.last().unwrap().data["id"], 100 + turn);
                tokio::task::yield_now().await;
            }
            if let Some(session) = session {
                assert_eq!(site.send(session.delete()).await.status, StatusCode::NO_CONTENT);
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!((count(&site.desk.joined), count(&site.desk.left)), (8, 8));
    assert_eq!((count(&site.desk.done), count(&site.desk.dropped)), (400, 0));
}

#[tokio::test]
async fn one_session_calls_as_often_at_once_as_it_likes() {
    let site = Site::new(Options::default());
    let session = site.open(Revision::V2025_11_25).await;
    let calls: Vec<_> = (0..100).map(|id| site.spawn(session.call(id, "wait"))).collect();
    settle().await;
    assert_eq!(count(&site.desk.began), 100);
    site.desk.gate.add_permits(100);
    for (id, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().json().await["id"], id);
    }
}
