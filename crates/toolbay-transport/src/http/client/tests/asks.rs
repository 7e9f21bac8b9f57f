use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{self, Instant};
use toolbay_protocol::{
    ErrorObject, Raw,
    exchange::{Answers, Asks, Step},
    peer::{Call, Patience},
};

use super::peer::*;
use crate::{Kind, Running};

fn elicit(id: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": {"message": "?"}})
}

async fn asks(running: &mut Running) -> Asks {
    match running.step().await.unwrap() {
        Step::Ask(asks) => asks,
        other => panic!("{other:?}"),
    }
}

fn yes(asks: &Asks) -> Answers {
    asks.iter().map(|(key, _)| (key.to_owned(), Ok(Raw::of(&json!({"action": "accept"}))))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_modern_question_is_answered_by_the_call_made_anew() {
    let (log, _, connection) = modern(|seen| match seen.body["params"]["requestState"].as_str() {
        None => {
            let requests = json!({"a": {"method": "elicitation/create", "params": {"message": "?"}}});
            let result = json!({"resultType": "input_required", "inputRequests": requests, "requestState": "s"});
            Said::json(200, &seen.result(result))
        }
        Some(_) => Said::stream().event(&seen.result(json!({"resultType": "complete", "content": []}))),
    })
    .await;
    let mut running = connection.call(call("t", json!({"x": 1}))).await.unwrap();
    let asks = asks(&mut running).await;
    assert_eq!(running.step().await.unwrap_err().kind(), Kind::Closed);
    let mut running = connection.call(call("t", json!({"x": 1}))).await.unwrap();
    assert_eq!(self::asks(&mut running).await, asks);
    running.answer(yes(&asks)).await.unwrap();
    assert!(outcome(&mut running).await.1.unwrap().is_ok());
    let seen = log.seen();
    let (first, second) = (&seen[2], &seen[3]);
    assert_ne!(first.body["id"], second.body["id"]);
    assert_eq!(second.body["params"]["inputResponses"], json!({"a": {"action": "accept"}}));
    assert_eq!(second.body["params"]["requestState"], "s");
    assert_eq!(second.body["params"]["arguments"], json!({"x": 1}));
    assert_eq!(second.header("mcp-name"), Some("t"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_given_ends_a_modern_call() {
    let (log, _, connection) = modern(|seen| {
        let requests = json!({"a": {"method": "roots/list"}});
        Said::json(200, &seen.result(json!({"resultType": "input_required", "inputRequests": requests})))
    })
    .await;
    let mut running = connection.call(call("t", json!({}))).await.unwrap();
    let asks = asks(&mut running).await;
    running.answer(Answers::refuse(&asks, &ErrorObject::new(-1, "no"))).await.unwrap();
    assert_eq!(outcome(&mut running).await.1.unwrap().unwrap_err().code, -1);
    assert_eq!(log.count("POST tools/call"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_legacy_question_is_answered_on_the_side() {
    let (log, ear, connection) = legacy("2025-06-18", |seen| {
        (seen.method() == "tools/call").then(|| {
            let said = Said::stream().event(&json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}));
            said.event(&elicit(json!(1))).event(&elicit(json!("1"))).wait(500).event(&seen.result(json!({})))
        })
    })
    .await;
    let mut running = connection.call(call("t", json!({}))).await.unwrap();
    for id in [json!(1), json!("1")] {
        let asks = asks(&mut running).await;
        running.answer(yes(&asks)).await.unwrap();
        let reply = log.last("POST reply");
        assert_eq!(reply.body, json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept"}}));
        assert_eq!(reply.header("mcp-session-id"), Some("s-1"));
    }
    let (_, outcome) = outcome(&mut running).await;
    // Nobody is being asked any more: the clock runs.
    assert_eq!(outcome.unwrap_err().kind(), Kind::Overdue);
    log.until("POST notifications/cancelled", 1).await;
    let pong = log.seen().into_iter().find(|seen| seen.body["id"] == "p").unwrap();
    assert_eq!((pong.body["result"].clone(), ear.lines().len()), (json!({}), 0));
}

#[tokio::test(start_paused = true)]
async fn the_clock_stands_still_while_a_person_thinks() {
    let (_, _, connection) = legacy("2025-06-18", |seen| {
        (seen.method() == "tools/call")
            .then(|| Said::stream().event(&elicit(json!(1))).wait(400).event(&seen.result(json!({}))))
    })
    .await;
    let patience = Patience { silence: Duration::from_secs(10), total: None };
    let mut running = connection.call(Call { patience, ..call("t", json!({})) }).await.unwrap();
    asks(&mut running).await;
    assert!(outcome(&mut running).await.1.unwrap().is_ok());
    let (_, _, connection) = legacy("2025-06-18", |seen| {
        (seen.method() == "tools/call").then(|| Said::stream().event(&elicit(json!(1))).hang())
    })
    .await;
    let mut running = connection.call(Call { patience, ..call("t", json!({})) }).await.unwrap();
    asks(&mut running).await;
    let begun = Instant::now();
    assert_eq!(running.step().await.unwrap_err().kind(), Kind::Overdue);
    assert_eq!(begun.elapsed(), Duration::from_secs(600));
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_over_a_question_refuses_it_and_is_cancelled() {
    let (log, _, connection) = legacy("2025-06-18", |seen| {
        (seen.method() == "tools/call").then(|| Said::stream().event(&elicit(json!(7))).hang())
    })
    .await;
    let mut running = connection.call(call("t", json!({}))).await.unwrap();
    asks(&mut running).await;
    drop(running);
    log.until("POST notifications/cancelled", 1).await;
    let reply = log.last("POST reply");
    assert_eq!((&reply.body["id"], &reply.body["error"]["code"]), (&json!(7), &json!(-1)));
}

#[tokio::test(start_paused = true)]
async fn losing_the_future_of_a_step_loses_nothing() {
    let (log, _, connection) = legacy("2025-11-25", |seen| {
        (seen.method() == "tools/call")
            .then(|| {
                let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}});
                let text = format!("id: 1\nretry: 3000\ndata: {log}\n\n");
                (0..text.len()).fold(Said::stream(), |said, at| {
                    said.then(Piece::Wait(Duration::from_millis(30))).raw(text[at..=at].to_owned())
                })
            })
            .or_else(|| {
                let resumes = seen.header("last-event-id").is_some();
                let reply = json!({"jsonrpc": "2.0", "id": 3, "result": {}});
                resumes.then(|| Said::stream().wait(1).event(&reply))
            })
    })
    .await;
    let mut running = connection.call(call("t", json!({}))).await.unwrap();
    let mut notes = 0;
    let outcome = loop {
        match time::timeout(Duration::from_millis(7), running.step()).await {
            Err(_) | Ok(Ok(Step::Away(_))) => {}
            Ok(Ok(Step::Note(_))) => notes += 1,
            Ok(Ok(Step::Done(outcome))) => break outcome,
            Ok(other) => panic!("{other:?}"),
        }
    };
    assert!(outcome.is_ok() && notes == 1);
    assert_eq!(log.count("POST tools/call"), 1);
}
