//! What is translated, refused or taken up elsewhere between two eras.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::timeout;
use toolbay_gateway::{Bay, Identity, StateKey, servers::Spec};
use toolbay_protocol::{
    Feature, Method, Raw, Revision,
    exchange::{Answers, Asks, Return, Standing, Step},
    fault::code,
    peer::Call,
};
use toolbay_transport::Connection;

use crate::seen::{Seen, ask, bay, client};

const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_resource_that_is_not_there_is_so_in_every_revision() {
    for up in Revision::ALL {
        for down in Revision::ALL {
            let bay = bay(&Arc::default(), up, |spec| spec).await;
            let (one, _) = client(&bay, down, "", json!({})).await;
            let error = ask(&one, Method::ResourcesRead, json!({"uri": "test://gone"})).await.unwrap_err();
            let renamed = down.has(Feature::NotFoundIsInvalidParams);
            let expected = if renamed { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND };
            assert_eq!((error.code, &*error.message), (expected, "gone"), "{down} {up}");
        }
    }
}

/// Calls `samples` until it asks, and leaves.
async fn asked(one: &Connection) -> (Asks, Raw) {
    let call = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__samples"}))));
    let mut running = one.call(call).await.unwrap();
    let Step::Ask(asks) = running.step().await.unwrap() else { panic!("it asks") };
    let Standing::Over(Some(state)) = asks.standing().clone() else { panic!("a modern call is over when it asks") };
    (asks, state)
}

async fn back(
    one: &Connection,
    asks: &Asks,
    state: &Raw,
    answer: serde_json::Value,
) -> toolbay_protocol::exchange::Outcome {
    let key = asks.iter().next().unwrap().0.to_owned();
    let answers: Answers = [(key, Ok(Raw::of(&answer)))].into_iter().collect();
    let returning = Return { answers: Some(answers), state: Some(state.clone()) };
    let call = Call { returning, ..Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__samples"})))) };
    one.request(call).await.unwrap()
}

fn model_says() -> serde_json::Value {
    json!({"role": "assistant", "content": {"type": "text", "text": "42"}, "model": "m"})
}

#[tokio::test]
async fn a_modern_caller_that_refuses_its_model_ends_the_call_at_once() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, Revision::LATEST_LEGACY, |spec| spec).await;
    let (one, _) = client(&bay, Revision::LATEST, "", json!({"sampling": {}})).await;
    let (asks, state) = asked(&one).await;
    assert_eq!(*seen.hanging.borrow(), (1, 0), "the call waits");
    let error = back(&one, &asks, &state, json!({"error": {"code": -1, "message": "no"}})).await.unwrap_err();
    assert_eq!(error.code, code::INVALID_PARAMS, "{error}");
    let mut hanging = seen.hanging.subscribe();
    timeout(SOON, hanging.wait_for(|count| *count == (1, 1))).await.expect("it ends at the server").unwrap();
    assert!(back(&one, &asks, &state, model_says()).await.is_err(), "and is not taken up again");
}

#[tokio::test]
async fn a_legacy_caller_that_refuses_its_model_fails_the_call() {
    for up in [Revision::LATEST, Revision::LATEST_LEGACY] {
        let bay = bay(&Arc::default(), up, |spec| spec).await;
        let (one, _) = client(&bay, Revision::LATEST_LEGACY, "", json!({"sampling": {}})).await;
        let call = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__samples"}))));
        let said = format!("{:?}", one.request(call).await.unwrap());
        assert!(said.contains("nobody is there to answer"), "{up} {said}");
    }
}

fn replica(seen: &Arc<Seen>, up: Revision, key: &StateKey) -> Bay {
    let spec = Spec { revision: Some(up), ..Spec::embedded("s", Arc::clone(seen)) };
    Bay::open_sealed(&Identity { name: "bay".into(), version: "0".into() }, vec![spec], key).unwrap()
}

#[tokio::test]
async fn replicas_with_one_key_take_up_each_others_calls() {
    let (seen, key) = (Arc::<Seen>::default(), StateKey::parse(&"5a".repeat(32)).unwrap());
    let up = Revision::LATEST;
    let bays = [replica(&seen, up, &key), replica(&seen, up, &key), replica(&seen, up, &StateKey::random().unwrap())];
    let mut callers = vec![];
    for bay in &bays {
        callers.push(client(bay, Revision::LATEST, "ada", json!({"sampling": {}})).await.0);
    }
    let (asks, state) = asked(&callers[0]).await;
    let said = format!("{:?}", back(&callers[1], &asks, &state, model_says()).await.unwrap());
    assert!(said.contains("42"), "{said}");
    let error = back(&callers[2], &asks, &state, model_says()).await.unwrap_err();
    assert_eq!(error.code, code::INVALID_PARAMS, "another key opens nothing");
    let (eve, _) = client(&bays[1], Revision::LATEST, "eve", json!({"sampling": {}})).await;
    let error = back(&eve, &asks, &state, model_says()).await.unwrap_err();
    assert_eq!(error.code, code::INVALID_PARAMS, "nor does another user");
}

#[tokio::test]
async fn a_call_that_waits_in_another_replica_fails_cleanly() {
    let (seen, key) = (Arc::<Seen>::default(), StateKey::random().unwrap());
    let up = Revision::LATEST_LEGACY;
    let (here, there) = (replica(&seen, up, &key), replica(&seen, up, &key));
    let (caller, _) = client(&here, Revision::LATEST, "ada", json!({"sampling": {}})).await;
    let (elsewhere, _) = client(&there, Revision::LATEST, "ada", json!({"sampling": {}})).await;
    let (asks, state) = asked(&caller).await;
    let error = back(&elsewhere, &asks, &state, model_says()).await.unwrap_err();
    assert!(error.message.contains("another replica") && error.message.contains("to one replica"), "{error}");
    let said = format!("{:?}", back(&caller, &asks, &state, model_says()).await.unwrap());
    assert!(said.contains("42"), "it still waits where it is: {said}");
}

#[tokio::test]
async fn a_server_that_asks_without_end_is_stopped() {
    let bay = bay(&Arc::default(), Revision::LATEST, |spec| spec).await;
    let (one, _) = client(&bay, Revision::LATEST_LEGACY, "", json!({"roots": {}})).await;
    let mut running =
        one.call(Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__endless"}))))).await.unwrap();
    let mut asked = 0;
    let error = loop {
        match running.step().await.unwrap() {
            Step::Ask(asks) => {
                asked += 1;
                let roots = Raw::of(&json!({"roots": []}));
                let answers: Answers = asks.iter().map(|(key, _)| (key.to_owned(), Ok(roots.clone()))).collect();
                running.answer(answers).await.unwrap();
            }
            Step::Done(outcome) => break outcome.unwrap_err(),
            Step::Note(_) | Step::Away(_) | Step::Withdrawn(_) => {}
        }
    };
    assert!(error.message.contains("limit `rounds`"), "{error}");
    assert_eq!(asked, 32);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_to_come_back_later_is_called_again() {
    let bay = bay(&Arc::default(), Revision::LATEST, |spec| spec).await;
    let (one, _) = client(&bay, Revision::LATEST_LEGACY, "", json!({})).await;
    let said = ask(&one, Method::ToolsCall, json!({"name": "s__later"})).await.unwrap();
    assert!(said.to_string().contains("later it is"), "{said}");
}

#[tokio::test]
async fn who_must_visit_a_page_first_is_told_as_its_revision_does() {
    let up = Revision::LATEST_LEGACY;
    let url = json!({"elicitation": {"url": {}}});
    let same = bay(&Arc::default(), up, |spec| spec).await;
    let (legacy, _) = client(&same, up, "", url.clone()).await;
    let error = ask(&legacy, Method::ToolsCall, json!({"name": "s__pages"})).await.unwrap_err();
    assert_eq!(error.code, code::URL_ELICITATION_REQUIRED);
    assert!(format!("{:?}", error.data).contains("e1"));

    let other = bay(&Arc::default(), up, |spec| spec).await;
    let (modern, _) = client(&other, Revision::LATEST, "", url).await;
    let params = Raw::of(&json!({"name": "s__pages"}));
    let mut running = modern.call(Call::new(Method::ToolsCall, Some(params.clone()))).await.unwrap();
    let Step::Ask(asks) = running.step().await.unwrap() else { panic!("it is sent to a page") };
    let (key, page) = asks.iter().next().unwrap();
    assert!(format!("{page:?}").contains("https://x/y") && !format!("{page:?}").contains("elicitationId"), "{page:?}");
    let Standing::Over(state) = asks.standing().clone() else { panic!("a modern call is over when it asks") };
    let bring = |action: &str| {
        let answers: Answers = [(key.to_owned(), Ok(Raw::of(&json!({"action": action}))))].into_iter().collect();
        let returning = Return { answers: Some(answers), state: state.clone() };
        modern.request(Call { returning, ..Call::new(Method::ToolsCall, Some(params.clone())) })
    };
    assert_eq!(bring("decline").await.unwrap().unwrap_err().code, code::REFUSED);
    assert!(format!("{:?}", bring("accept").await.unwrap()).contains("signed in"));
}
