//! What each room keeps out, and what it keeps apart.

use serde_json::json;
use toolbay_gateway::audit::End;
use toolbay_protocol::{Method, Raw, Revision, exchange::Return, fault::code, peer::Call};

use crate::script::{Script, bay, caller, caller_that, follow};

#[tokio::test]
async fn a_state_comes_back_for_the_same_request_alone() {
    for up in [Revision::LATEST, Revision::LATEST_LEGACY] {
        let bay = bay(vec![("s", Script::new()), ("t", Script::new())], up).await;
        let (caller, _) = caller(&bay, Revision::LATEST).await;
        let params = |name: &str| Raw::of(&json!({"name": name}));
        let mut running = caller.call(Call::new(Method::ToolsCall, Some(params("s__asks")))).await.unwrap();
        let toolbay_protocol::exchange::Step::Ask(asks) = running.step().await.unwrap() else { panic!("it asks") };
        let toolbay_protocol::exchange::Standing::Over(Some(state)) = asks.standing().clone() else {
            panic!("a modern call is over when it asks")
        };
        drop(running);
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        let key = asks.iter().next().unwrap().0.to_owned();
        let answers = [(key, Ok(Raw::of(&answer)))].into_iter().collect();
        let returning = |state: &Raw| Return {
            answers: Some(toolbay_protocol::exchange::Answers::clone(&answers)),
            state: Some(state.clone()),
        };
        let bring = |name: &str, state: &Raw| {
            let call = Call { returning: returning(state), ..Call::new(Method::ToolsCall, Some(params(name))) };
            let caller = caller.clone();
            async move { caller.request(call).await.unwrap() }
        };
        for (name, state) in [("t__asks", state.clone()), ("s__echo", state.clone()), ("s__asks", Raw::of("forged"))] {
            assert_eq!(bring(name, &state).await.unwrap_err().code, code::INVALID_PARAMS, "{name}");
        }
        assert!(format!("{:?}", bring("s__asks", &state).await).contains("Ada"));
        let again = bring("s__asks", &state).await;
        assert_eq!(again.is_ok(), up == Revision::LATEST, "a call that waited here runs once");
    }
}

#[tokio::test]
async fn who_cannot_answer_is_not_asked() {
    for down in [Revision::LATEST, Revision::LATEST_LEGACY] {
        for up in [Revision::LATEST, Revision::LATEST_LEGACY] {
            let bay = bay(vec![("s", Script::new())], up).await;
            let (caller, _) = caller_that(&bay, down, json!({})).await;
            let story = follow(&caller, Method::ToolsCall, json!({"name": "s__asks"})).await.unwrap();
            assert_eq!(story.asked, [], "{down} {up}");
        }
    }
}

#[tokio::test]
async fn every_call_is_on_record_with_its_end() {
    let bay = bay(vec![("s", Script::new())], Revision::LATEST).await;
    let (caller, _) = caller(&bay, Revision::LATEST).await;
    for name in ["s__echo", "s__fails", "nowhere"] {
        let _ = follow(&caller, Method::ToolsCall, json!({"name": name})).await.unwrap();
    }
    let ends: Vec<_> =
        bay.recent_calls().into_iter().map(|call| (call.server.map(|s| s.to_string()), call.end)).collect();
    let s = || Some("s".to_owned());
    assert_eq!(ends, [(s(), End::Done), (s(), End::Failed(-77)), (None, End::Failed(code::INVALID_PARAMS))]);
}

#[tokio::test]
async fn a_cursor_of_somebody_else_is_refused() {
    let bay = bay(vec![("s", Script::new())], Revision::LATEST).await;
    let (caller, _) = caller(&bay, Revision::LATEST).await;
    let story = follow(&caller, Method::ToolsList, json!({"cursor": "x"})).await.unwrap();
    assert_eq!(story.outcome.unwrap_err().code, code::INVALID_PARAMS);
}
