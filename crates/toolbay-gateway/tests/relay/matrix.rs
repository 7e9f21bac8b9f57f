//! The same conversation in all 5 × 5 pairs of revisions.

use std::sync::Arc;

use serde_json::json;
use toolbay_protocol::{
    Feature, Method, Raw, Revision,
    exchange::{Answers, Return, Standing, Step},
    fault::code,
    peer::Call,
    watch::Change,
};

use crate::script::{Script, bay, caller, follow, text};

/// Runs `check` for every pair: the caller's revision, the server's.
macro_rules! every_pair {
    (|$down:ident, $up:ident| $check:block) => {
        for $down in Revision::ALL {
            for $up in Revision::ALL {
                eprintln!("{} <- {}", $down, $up);
                $check
            }
        }
    };
}

#[tokio::test]
async fn lists_calls_reads_gets_and_completes() {
    every_pair!(|down, up| {
        let bay = bay(vec![("s", Script::new())], up).await;
        let (caller, _) = caller(&bay, down).await;
        let list = follow(&caller, Method::ToolsList, json!({})).await.unwrap().outcome.unwrap();
        let tools: Vec<_> = list.get("tools").unwrap().elements().map(|tool| text(&tool, "name")).collect();
        assert_eq!(tools.len(), 8);
        assert!(tools.contains(&"s__echo".to_owned()));
        assert_eq!(list.get("resultType").is_some(), down.has(Feature::ResultType));
        assert_eq!(list.get("ttlMs").is_some(), down.has(Feature::CacheHints));
        let call = json!({"name": "s__echo", "arguments": {"n": 1, "s": "é"}, "_meta": {"vendor/x": 1}});
        let story = follow(&caller, Method::ToolsCall, call).await.unwrap();
        let result = story.outcome.unwrap();
        let block = result.get("content").unwrap().elements().next().unwrap();
        assert_eq!(text(&block, "text"), r#"{"n":1,"s":"é"}"#);
        assert_eq!(result.get("odd"), Some(Raw::of(&1.5)), "unknown members pass");
        let get = json!({"name": "s__greet", "arguments": {"who": "Ada"}});
        assert!(follow(&caller, Method::PromptsGet, get).await.unwrap().outcome.is_ok());
        for uri in ["test://one", "test://t/7"] {
            let read = follow(&caller, Method::ResourcesRead, json!({"uri": uri})).await.unwrap();
            assert!(read.outcome.is_ok(), "{uri} {read:?}");
        }
        let complete =
            json!({"ref": {"type": "ref/prompt", "name": "s__greet"}, "argument": {"name": "who", "value": ""}});
        assert!(follow(&caller, Method::Complete, complete).await.unwrap().outcome.is_ok());
    });
}

#[tokio::test]
async fn progress_arrives_in_order_under_the_callers_own_token() {
    every_pair!(|down, up| {
        let bay = bay(vec![("s", Script::new())], up).await;
        let (caller, _) = caller(&bay, down).await;
        let story = follow(&caller, Method::ToolsCall, json!({"name": "s__steps"})).await.unwrap();
        assert_eq!(story.notes, vec![Method::Progress; 3]);
        assert!(format!("{:?}", story.outcome.unwrap()).contains("told"));
    });
}

#[tokio::test]
async fn questions_reach_the_caller_and_answers_the_server() {
    every_pair!(|down, up| {
        let bay = bay(vec![("s", Script::new())], up).await;
        let (caller, _) = caller(&bay, down).await;
        let elicits = down.has(Feature::Elicitation) && up.has(Feature::Elicitation);
        let story = follow(&caller, Method::ToolsCall, json!({"name": "s__asks"})).await.unwrap();
        if elicits {
            assert_eq!(story.asked, [Method::Elicit]);
            assert!(format!("{:?}", story.outcome).contains("Ada"), "{story:?}");
        } else {
            assert_eq!(story.asked, [], "nobody is asked what it cannot know");
        }
        let story = follow(&caller, Method::ToolsCall, json!({"name": "s__roots"})).await.unwrap();
        assert_eq!(story.asked, [Method::RootsList], "{story:?}");
        assert!(format!("{:?}", story.outcome).contains("file:///r"), "{story:?}");
        let story = follow(&caller, Method::ToolsCall, json!({"name": "s__asks_twice"})).await.unwrap();
        assert_eq!(story.asked.len(), if elicits { 2 } else { 0 }, "{story:?}");
    });
}

#[tokio::test]
async fn errors_keep_code_message_and_data_and_are_named_as_each_revision_does() {
    every_pair!(|down, up| {
        let bay = bay(vec![("s", Script::new())], up).await;
        let (caller, _) = caller(&bay, down).await;
        let error = follow(&caller, Method::ToolsCall, json!({"name": "s__fails"})).await.unwrap().outcome.unwrap_err();
        assert_eq!((error.code, &*error.message, error.data), (-77, "it fails", Some(Raw::of(&json!({"deep": [1]})))));
        let code_of = |outcome: Result<Raw, toolbay_protocol::ErrorObject>| outcome.unwrap_err().code;
        let unknown = follow(&caller, Method::ToolsCall, json!({"name": "echo"})).await.unwrap();
        assert_eq!(code_of(unknown.outcome), code::INVALID_PARAMS);
        for uri in ["test://t/../gone", "other://x"] {
            let _ = follow(&caller, Method::ResourcesRead, json!({"uri": uri})).await.unwrap();
        }
        let gone = follow(&caller, Method::ResourcesRead, json!({"uri": "other://x"})).await.unwrap();
        let expected =
            if down.has(Feature::NotFoundIsInvalidParams) { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND };
        assert_eq!(code_of(gone.outcome), expected);
    });
}

#[tokio::test]
async fn a_call_that_is_taken_back_stops_at_the_server() {
    every_pair!(|down, up| {
        let script = Script::new();
        let bay = bay(vec![("s", script.clone())], up).await;
        let (caller, _) = caller(&bay, down).await;
        let params = Raw::of(&json!({"name": "s__hangs"}));
        let call = toolbay_protocol::peer::Call::new(Method::ToolsCall, Some(params));
        let running = caller.call(call).await.unwrap();
        let mut hanging = script.hanging.subscribe();
        let soon = std::time::Duration::from_secs(10);
        tokio::time::timeout(soon, hanging.wait_for(|count| *count == (1, 0))).await.expect("it begins").unwrap();
        drop(running);
        tokio::time::timeout(soon, hanging.wait_for(|count| *count == (1, 1))).await.expect("it ends").unwrap();
        let last = bay.recent_calls().pop().expect("it is on record");
        assert_eq!(last.end, toolbay_gateway::audit::End::Abandoned);
    });
}

#[tokio::test]
async fn changes_reach_whoever_watches() {
    every_pair!(|down, up| {
        let script = Script::new();
        let bay = bay(vec![("s", script.clone())], up).await;
        let (caller, ears) = caller(&bay, down).await;
        let mut filter = toolbay_protocol::watch::Filter::lists();
        filter.uris.insert("test://one".into());
        let watching = caller.subscribe(filter).await.unwrap();
        script.tools.lock().unwrap().push("new");
        script.hub.publish(&Change::Tools);
        script.hub.publish(&Change::Updated("test://one".into()));
        let heard = async {
            loop {
                let heard = ears.0.lock().unwrap().clone();
                if heard.contains(&Change::Tools) && heard.contains(&Change::Updated("test://one".into())) {
                    break;
                }
                ears.1.notified().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(10), heard).await.expect("both are heard of");
        let list = follow(&caller, Method::ToolsList, json!({})).await.unwrap().outcome.unwrap();
        assert_eq!(list.get("tools").unwrap().elements().count(), 9);
        drop(watching);
    });
}

#[tokio::test]
async fn a_question_that_the_server_takes_back_is_taken_back_from_the_caller() {
    for revision in [Revision::V2024_11_05, Revision::V2025_06_18, Revision::LATEST_LEGACY] {
        let script = Script::new();
        let bay = bay(vec![("s", Arc::clone(&script))], revision).await;
        let (one, _) = caller(&bay, Revision::LATEST_LEGACY).await;
        let call = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__gives_up"}))));
        let mut running = one.call(call).await.unwrap();
        let Step::Ask(asks) = running.step().await.unwrap() else { panic!("it asks") };
        let (key, _) = asks.iter().next().unwrap();
        script.enough.notify_one();
        assert_eq!(running.step().await.unwrap(), Step::Withdrawn(key.to_owned()), "{revision}");
        // An answer that comes too late is nobody's.
        running.answer(Answers::one(key, Ok(Raw::of(&json!({"roots": []}))))).await.unwrap();
        let Step::Done(Ok(result)) = running.step().await.unwrap() else { panic!("it is done") };
        assert!(format!("{result:?}").contains("without an answer"));
        bay.close().await;
    }
}

#[tokio::test]
async fn what_an_older_server_asks_at_once_is_asked_at_once() {
    let bay = bay(vec![("s", Script::new())], Revision::LATEST_LEGACY).await;
    let (one, _) = caller(&bay, Revision::LATEST).await;
    let call = || Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__asks_twice"}))));
    let Step::Ask(asks) = one.call(call()).await.unwrap().step().await.unwrap() else { panic!("it asks") };
    assert_eq!(asks.iter().count(), 2);
    let Standing::Over(state) = asks.standing().clone() else { panic!("a modern call is over when it asks") };
    let answer = |name: &str| Ok(Raw::of(&json!({"action": "accept", "content": {"name": name}})));
    let answers: Answers =
        asks.iter().zip(["Ada", "Eve"]).map(|((key, _), name)| (key.to_owned(), answer(name))).collect();
    let call = Call { returning: Return { answers: Some(answers), state }, ..call() };
    let said = format!("{:?}", one.request(call).await.unwrap().unwrap());
    assert!(said.contains("Ada") && said.contains("Eve"), "{said}");
    bay.close().await;
}
