//! `call_tool`: a call of the tool that it names, in all that happens in it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;
use toolbay_gateway::{Bay, Identity, audit::End, meta::Exposure, servers::Spec};
use toolbay_protocol::{
    Method, Raw, Revision,
    exchange::{Answers, Outcome, Return, Standing, Step},
    fault::code,
    greeting::Introduction,
    peer::Call,
};
use toolbay_transport::{Approach, Connection, connect, duplex};

use crate::{
    house::{ERAS, call, client, searching},
    script::{Script, bay, follow},
    tasker::Tasker,
};

const SOON: Duration = Duration::from_secs(10);

/// What stands for a call of that tool.
fn standing_for(tool: &str, arguments: &Value) -> Value {
    json!({"name": "call_tool", "arguments": {"name": tool, "arguments": arguments}})
}

/// What is on record behind so many: tool, server, end.
fn recorded(bay: &Bay, after: usize) -> Vec<(String, String, End)> {
    let text = |name: Option<Arc<str>>| name.as_deref().unwrap_or_default().to_owned();
    let calls = bay.recent_calls().into_iter().skip(after);
    calls.map(|event| (text(event.target), text(event.server), event.end)).collect()
}

/// Each era calls each.
macro_rules! every_pair {
    (|$down:ident, $up:ident| $body:block) => {
        for $down in ERAS {
            for $up in ERAS {
                $body
            }
        }
    };
}

#[tokio::test]
async fn what_is_said_and_asked_on_the_way_passes_as_in_a_call_by_name() {
    every_pair!(|down, up| {
        let bay = bay(vec![("s", Script::new())], up).await;
        bay.expose(searching());
        let (one, _) = client(&bay, down, "one").await;
        for tool in ["echo", "steps", "asks", "asks_twice", "roots", "fails"] {
            let arguments = json!({"deep": [1.5, {"a": "b"}]});
            let name = format!("s__{tool}");
            let by_name = json!({"name": name, "arguments": arguments});
            let began = bay.recent_calls().len();
            let by_name = follow(&one, Method::ToolsCall, by_name).await.unwrap();
            let (first, meanwhile) = (recorded(&bay, began), bay.recent_calls().len());
            let standing = follow(&one, Method::ToolsCall, standing_for(&name, &arguments)).await.unwrap();
            assert_eq!(standing, by_name, "{down} {up} {tool}");
            assert_eq!(recorded(&bay, meanwhile), first, "{down} {up} {tool}");
            assert!(first.iter().all(|(target, server, _)| (&**target, &**server) == (&*name, "s")), "{first:?}");
        }
    });
}

#[tokio::test]
async fn a_result_comes_back_byte_for_byte_and_arguments_go_so() {
    every_pair!(|down, up| {
        let bay = bay(vec![("s", Script::new())], up).await;
        bay.expose(searching());
        let (one, _) = client(&bay, down, "one").await;
        let text = r#"{"name":"call_tool","arguments":{"arguments":{"z":1.50,"a":[ ]},"name":"s__echo"}}"#;
        let params = Raw::parse(text.into(), Default::default()).unwrap();
        let answer = one.request(Call::new(Method::ToolsCall, Some(params))).await.unwrap().unwrap();
        assert!(answer.as_str().contains(r#"{\"z\":1.50,\"a\":[ ]}"#), "{down} {up} {answer:?}");
        let bare = call(&one, "call_tool", json!({"name": "s__echo"})).await.unwrap();
        assert!(bare.as_str().contains("null"), "{bare:?}");
    });
}

#[tokio::test]
async fn a_key_that_stands_twice_reaches_no_server() {
    let bay = bay(vec![("s", Script::new())], Revision::LATEST).await;
    bay.expose(searching());
    let (one, _) = client(&bay, Revision::LATEST, "one").await;
    let text = r#"{"name":"call_tool","arguments":{"name":"s__echo","arguments":{"path":1,"Path":2}}}"#;
    let params = Raw::parse(text.into(), Default::default()).unwrap();
    let answer = one.request(Call::new(Method::ToolsCall, Some(params))).await.unwrap().unwrap();
    assert!(answer.as_str().contains("cannot be read"), "{answer:?}");
    assert_eq!(bay.recent_calls().pop().unwrap().server, None);
}

#[tokio::test]
async fn whoever_leaves_takes_the_call_back() {
    every_pair!(|down, up| {
        let script = Script::new();
        let bay = bay(vec![("s", script.clone())], up).await;
        bay.expose(searching());
        let (one, _) = client(&bay, down, "one").await;
        let params = Raw::of(&standing_for("s__hangs", &json!({})));
        let running = one.call(Call::new(Method::ToolsCall, Some(params))).await.unwrap();
        let mut hanging = script.hanging.subscribe();
        timeout(SOON, hanging.wait_for(|count| *count == (1, 0))).await.expect("it begins").unwrap();
        drop(running);
        timeout(SOON, hanging.wait_for(|count| *count == (1, 1))).await.expect("it ends").unwrap();
        let last = bay.recent_calls().pop().unwrap();
        assert_eq!((last.end, last.target), (End::Abandoned, Some("s__hangs".into())));
    });
}

/// Brings answers back with these parameters.
async fn back(one: &Connection, params: Value, state: &Option<Raw>, keys: &[String]) -> Outcome {
    let accept = || Ok(Raw::of(&json!({"action": "accept", "content": {"name": "Ada"}})));
    let answers: Answers = keys.iter().map(|key| (key.clone(), accept())).collect();
    let returning = Return { answers: Some(answers), state: state.clone() };
    let call = Call { returning, ..Call::new(Method::ToolsCall, Some(Raw::of(&params))) };
    one.request(call).await.unwrap()
}

#[tokio::test]
async fn a_caller_comes_back_with_what_it_sent_and_nothing_else() {
    for up in ERAS {
        let bay = bay(vec![("s", Script::new())], up).await;
        bay.expose(searching());
        let (one, _) = client(&bay, Revision::LATEST, "one").await;
        let sent = standing_for("s__asks", &json!({"a": 1}));
        let mut running = one.call(Call::new(Method::ToolsCall, Some(Raw::of(&sent)))).await.unwrap();
        let Step::Ask(asks) = running.step().await.unwrap() else { panic!("it asks") };
        let Standing::Over(state) = asks.standing().clone() else { panic!("a modern call is over when it asks") };
        let keys: Vec<_> = asks.iter().map(|(key, _)| key.to_owned()).collect();
        for other in [
            json!({"name": "s__asks", "arguments": {"a": 1}}),
            standing_for("s__asks", &json!({"a": 2})),
            standing_for("s__echo", &json!({"a": 1})),
        ] {
            let error = back(&one, other.clone(), &state, &keys).await.unwrap_err();
            assert_eq!(error.code, code::INVALID_PARAMS, "{up} {other}");
        }
        let answer = back(&one, sent, &state, &keys).await.unwrap();
        assert!(answer.as_str().contains("Ada"), "{up} {answer:?}");
    }
}

#[tokio::test]
async fn a_task_is_one_of_the_tool_that_is_meant() {
    let revision = Revision::LATEST_LEGACY;
    let spec = Spec { revision: Some(revision), ..Spec::embedded("t", Arc::<Tasker>::default()) };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    bay.settled().await;
    bay.expose(searching());
    let mut approach = Approach::new(Introduction::anonymous(revision));
    approach.revision = Some(revision);
    let one = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
    let ask = async |method: Method, params: &Value| -> Value {
        one.request(Call::new(method, Some(Raw::of(params)))).await.unwrap().unwrap().read().unwrap()
    };
    let mut params = standing_for("t__job", &json!({}));
    params["task"] = json!({"ttl": 60000});
    let begun = ask(Method::ToolsCall, &params).await;
    let id = begun["task"]["taskId"].as_str().expect("a task").to_owned();
    assert_ne!(id, "t-1", "it has a name of the gateway's");
    assert_eq!(ask(Method::TasksGet, &json!({"taskId": id})).await["taskId"], id);
}

#[tokio::test]
async fn real_tools_are_called_by_name_all_the_same() {
    every_pair!(|down, up| {
        let bay = bay(vec![("s", Script::new())], up).await;
        for exposure in [searching(), Exposure::all()] {
            bay.expose(exposure);
            let (one, _) = client(&bay, down, "one").await;
            assert!(call(&one, "s__echo", json!({"x": 1})).await.is_ok());
            let unknown = call(&one, "s__none", json!({})).await.unwrap_err();
            let standing = call(&one, "call_tool", json!({"name": "s__none"})).await.unwrap_err();
            assert_eq!(standing.code, unknown.code);
        }
    });
}
