//! Tasks across eras: a caller of 2025-11-25 at a server of the extension, and the other way round.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolbay_gateway::{
    Bay, Identity, StateKey,
    config::Isolation,
    limits::{Bounds, Limits},
    servers::{Plan, Spec, embedded},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Answers, Outcome, Return, Standing, Step, Wishes},
    fault::code,
    greeting::{Device, Introduction},
    method::TASKS,
    peer::Call,
    types::meta::key::RELATED_TASK,
    watch::{Change, Filter, TaskChange},
};
use toolbay_transport::{Approach, Connection, Listener, Principal, connect, duplex::Options};

use crate::worker::Worker;

const CORE: Revision = Revision::LATEST_LEGACY;
const MODERN: Revision = Revision::LATEST;
const OLDER: Revision = Revision::V2025_06_18;

async fn bay(revision: Revision, limits: Limits) -> (Bay, Arc<Worker>) {
    bounded(revision, limits, Bounds::default()).await
}

async fn bounded(revision: Revision, limits: Limits, bounds: Bounds) -> (Bay, Arc<Worker>) {
    let worker = Arc::<Worker>::default();
    let spec = Spec { revision: Some(revision), bounds, ..Spec::embedded("w", Arc::clone(&worker)) };
    let identity = Identity { name: "bay".into(), version: "0".into() };
    let bay = Bay::open_within(&identity, vec![spec], &StateKey::random().unwrap(), limits).unwrap();
    bay.settled().await;
    (bay, worker)
}

/// A server that knows nothing of one connection on another, and counts its tasks on each.
async fn apart(revision: Revision, isolation: Isolation) -> Bay {
    let anew = Plan::Connect(Arc::new(|approach| embedded(Arc::<Worker>::default())(approach)));
    let spec = Spec::embedded("w", Arc::<Worker>::default());
    let spec = Spec { revision: Some(revision), isolation, plan: anew, ..spec };
    let identity = Identity { name: "bay".into(), version: "0".into() };
    let bay = Bay::open(&identity, vec![spec]).unwrap();
    bay.settled().await;
    bay
}

async fn client(bay: &Bay, revision: Revision, who: &str) -> Connection {
    let capabilities = Raw::of(&json!({"elicitation": {"form": {}}, "extensions": {TASKS: {}}}));
    declaring(bay, revision, who, capabilities).await
}

async fn declaring(bay: &Bay, revision: Revision, who: &str, capabilities: Raw) -> Connection {
    listening(bay, revision, who, capabilities, Arc::new(Ears(mpsc::unbounded_channel().0))).await
}

struct Ears(mpsc::UnboundedSender<TaskChange>);

impl Listener for Ears {
    fn changed(&self, change: Change) {
        if let Change::Task(task) = change {
            let _ = self.0.send(task);
        }
    }
}

/// A client of "ada" that says on which device it is.
async fn on_device(bay: &Bay, revision: Revision, device: &str) -> Connection {
    let device = Some(Device::parse(device).unwrap());
    let mut approach = Approach::new(Introduction { device, ..Introduction::anonymous(revision) });
    approach.revision = Some(revision);
    let options = Options { principal: Principal::Named("ada".into()), ..Options::default() };
    connect::memory(Arc::new(bay.clone()), options, approach).await.unwrap()
}

async fn listening(bay: &Bay, revision: Revision, who: &str, capabilities: Raw, ears: Arc<dyn Listener>) -> Connection {
    let us = Introduction { capabilities, ..Introduction::anonymous(revision) };
    let mut approach = Approach::new(us).heard_by(ears);
    approach.revision = Some(revision);
    let options = Options { principal: Principal::Named(who.into()), ..Options::default() };
    connect::memory(Arc::new(bay.clone()), options, approach).await.unwrap()
}

async fn ask(one: &Connection, method: Method, params: Value) -> Result<Value, ErrorObject> {
    one.request(Call::new(method, Some(Raw::of(&params)))).await.unwrap().map(|raw| raw.read().unwrap())
}

/// Begins a task for a caller of the core.
async fn begin(one: &Connection, tool: &str) -> String {
    let params = json!({"name": format!("w__{tool}"), "arguments": {}, "task": {"ttl": 60000}});
    let begun = ask(one, Method::ToolsCall, params).await.unwrap();
    assert_eq!(begun["task"]["status"], "working", "{begun}");
    assert_eq!((begun["task"]["ttl"].clone(), begun["task"].get("ttlMs")), (json!(60000), None), "{begun}");
    begun["task"]["taskId"].as_str().unwrap().to_owned()
}

/// The same for one of the extension.
async fn extended(one: &Connection, tool: &str) -> String {
    let begun = ask(one, Method::ToolsCall, json!({"name": format!("w__{tool}"), "arguments": {}})).await.unwrap();
    assert_eq!((&begun["resultType"], &begun["status"]), (&json!("task"), &json!("working")), "{begun}");
    assert_eq!((&begun["ttlMs"], &begun["pollIntervalMs"]), (&json!(60000), &json!(2000)), "{begun}");
    begun["taskId"].as_str().unwrap().to_owned()
}

async fn state(one: &Connection, id: &str) -> Value {
    ask(one, Method::TasksGet, json!({"taskId": id})).await.unwrap()
}

/// Waits until a task stands so.
async fn until(one: &Connection, id: &str, status: &str) -> Value {
    loop {
        let state = state(one, id).await;
        if state["status"] == status {
            return state;
        }
        tokio::task::yield_now().await;
    }
}

/// What was asked, what was told, and the outcome; every question is answered with "Ada".
async fn follow(one: &Connection, call: Call) -> (Vec<Value>, usize, Outcome) {
    let mut running = one.call(call.clone()).await.unwrap();
    let (mut asked, mut told) = (vec![], 0);
    loop {
        match running.step().await.unwrap() {
            Step::Done(outcome) => return (asked, told, outcome),
            Step::Note(_) => told += 1,
            Step::Away(_) | Step::Withdrawn(_) => {}
            Step::Ask(asks) => {
                asked.extend(asks.iter().map(|(_, ask)| ask.params.clone().unwrap().read::<Value>().unwrap()));
                let ada = Raw::of(&json!({"action": "accept", "content": {"name": "Ada"}}));
                let answers: Answers = asks.iter().map(|(key, _)| (key.to_owned(), Ok(ada.clone()))).collect();
                match asks.standing() {
                    Standing::Open => running.answer(answers).await.unwrap(),
                    Standing::Over(state) => {
                        let returning = Return { answers: Some(answers), state: state.clone() };
                        running = one.call(Call { returning, ..call.clone() }).await.unwrap();
                    }
                }
            }
        }
    }
}

fn call(tool: &str) -> Call {
    let params = Raw::of(&json!({"name": format!("w__{tool}"), "arguments": {}}));
    Call { wishes: Wishes::progress(), ..Call::new(Method::ToolsCall, Some(params)) }
}

fn result(id: &str) -> Call {
    Call::new(Method::TasksResult, Some(Raw::of(&json!({"taskId": id}))))
}

#[tokio::test(start_paused = true)]
async fn a_task_of_the_extension_is_one_of_the_core_for_whoever_knows_that() {
    let (bay, worker) = bay(MODERN, Limits::default()).await;
    let (ada, eve) = (client(&bay, CORE, "ada").await, client(&bay, CORE, "eve").await);
    for path in [&["tasks", "list"][..], &["tasks", "cancel"], &["tasks", "requests", "tools", "call"]] {
        assert!(ada.meeting().profile.declares(path), "{path:?}");
    }
    let tools = ask(&ada, Method::ToolsList, json!({})).await.unwrap();
    assert!(tools["tools"].as_array().unwrap().iter().all(|tool| tool["execution"]["taskSupport"] == "optional"));
    let older = ask(&client(&bay, OLDER, "ada").await, Method::ToolsList, json!({})).await.unwrap();
    assert!(older["tools"].as_array().unwrap().iter().all(|tool| tool.get("execution").is_none()));

    let id = begin(&ada, "asks").await;
    let now = state(&ada, &id).await;
    assert_eq!((&now["taskId"], &now["status"]), (&json!(id), &json!("input_required")));
    assert_eq!((&now["pollInterval"], now.get("inputRequests"), now.get("resultType")), (&json!(2000), None, None));
    let (asked, _, outcome) = follow(&ada, result(&id)).await;
    assert_eq!(asked.len(), 1, "each key once");
    assert_eq!(asked[0]["_meta"][RELATED_TASK]["taskId"], json!(id));
    let outcome: Value = outcome.unwrap().read().unwrap();
    assert_eq!(outcome["content"][0]["text"], "hello \"Ada\"");
    assert_eq!(outcome["_meta"], json!({RELATED_TASK: {"taskId": id}}));
    let (asked, _, again) = follow(&ada, result(&id)).await;
    assert_eq!((asked.len(), again.unwrap().read::<Value>().unwrap()), (0, outcome));
    assert_eq!(state(&ada, &id).await["status"], "completed");
    assert_eq!(worker.log(), [r#"update t-1 {"who":{"action":"accept","content":{"name":"Ada"}}}"#]);
    for method in [Method::TasksGet, Method::TasksResult, Method::TasksCancel] {
        for id in [id.as_str(), "t-1"] {
            let error = ask(&eve, method.clone(), json!({"taskId": id})).await.unwrap_err();
            assert_eq!(error.code, code::INVALID_PARAMS, "{method}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_server_answers_at_once_is_a_task_that_is_over() {
    let (bay, _) = bay(MODERN, Limits::default()).await;
    let (ada, eve) = (client(&bay, CORE, "ada").await, client(&bay, CORE, "eve").await);
    let id = begin(&ada, "plain").await;
    assert_eq!(state(&ada, &id).await["status"], "completed");
    let outcome = ask(&ada, Method::TasksResult, json!({"taskId": id})).await.unwrap();
    assert_eq!(outcome["content"][0]["text"], "done at once");
    assert_eq!(outcome["_meta"], json!({RELATED_TASK: {"taskId": id}}));
    for (who, method) in [(&ada, Method::TasksCancel), (&eve, Method::TasksGet), (&eve, Method::TasksResult)] {
        let error = ask(who, method, json!({"taskId": id})).await.unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS);
    }
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(ask(&ada, Method::TasksGet, json!({"taskId": id})).await.unwrap_err().code, code::INVALID_PARAMS);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_fails_its_task_in_the_core_alone() {
    let (modern, _) = bay(MODERN, Limits::default()).await;
    let core = client(&modern, CORE, "ada").await;
    let (sad, breaks) = (begin(&core, "sad").await, begin(&core, "breaks").await);
    assert_eq!(state(&core, &sad).await["status"], "failed");
    assert_eq!(ask(&core, Method::TasksResult, json!({"taskId": sad})).await.unwrap()["isError"], json!(true));
    let error = ask(&core, Method::TasksResult, json!({"taskId": breaks})).await.unwrap_err();
    assert_eq!((error.code, state(&core, &breaks).await["status"].clone()), (-77, json!("failed")));

    let (legacy, _) = bay(CORE, Limits::default()).await;
    let one = client(&legacy, MODERN, "ada").await;
    let (sad, breaks) = (extended(&one, "sad").await, extended(&one, "breaks").await);
    let sad = until(&one, &sad, "completed").await;
    assert_eq!((&sad["result"]["isError"], sad["result"].get("_meta")), (&json!(true), None), "{sad}");
    let breaks = until(&one, &breaks, "failed").await;
    assert_eq!(breaks["error"], json!({"code": -77, "message": "it breaks", "data": {"deep": [1]}}));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_was_taken_back_stays_so() {
    let (bay, worker) = bay(MODERN, Limits::default()).await;
    worker.deaf.store(true, Ordering::SeqCst);
    let ada = client(&bay, CORE, "ada").await;
    let id = begin(&ada, "hangs").await;
    let mut waiting = ada.call(result(&id)).await.unwrap();
    let early = tokio::time::timeout(Duration::from_secs(3), waiting.step()).await;
    assert!(early.is_err(), "it is waited for");
    let cancelled = ask(&ada, Method::TasksCancel, json!({"taskId": id})).await.unwrap();
    let Step::Done(outcome) = waiting.step().await.unwrap() else { panic!("it is over") };
    assert!(outcome.unwrap_err().message.contains("cancelled"));
    assert_eq!((&cancelled["status"], &cancelled["taskId"]), (&json!("cancelled"), &json!(id)));
    assert_eq!(state(&ada, &id).await["status"], "cancelled", "though its server says that it works");
    assert!(ask(&ada, Method::TasksResult, json!({"taskId": id})).await.is_err());
    let again = ask(&ada, Method::TasksCancel, json!({"taskId": id})).await.unwrap_err();
    assert_eq!((again.code, worker.log()), (code::INVALID_PARAMS, vec!["cancel t-1".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_list_of_tasks_has_those_of_its_own_principal() {
    let (bay, _) = bay(MODERN, Limits::default()).await;
    let (ada, eve) = (client(&bay, CORE, "ada").await, client(&bay, CORE, "eve").await);
    let mut begun = vec![begin(&ada, "quick").await];
    for _ in 0..60 {
        begun.push(begin(&ada, "plain").await);
    }
    begin(&eve, "plain").await;
    let (mut listed, mut page, mut pages) = (vec![], json!({}), 0);
    loop {
        let params = page.get("nextCursor").map_or(json!({}), |cursor| json!({"cursor": cursor}));
        page = ask(&ada, Method::TasksList, params).await.unwrap();
        pages += 1;
        listed.extend(page["tasks"].as_array().unwrap().clone());
        if page.get("nextCursor").is_none() {
            break;
        }
    }
    assert_eq!(pages, 2);
    assert!(listed.iter().all(|task| task["status"] == "completed"), "where they stand now");
    assert_eq!(listed.iter().map(|task| task["taskId"].as_str().unwrap()).collect::<Vec<_>>(), begun);
    let error = ask(&ada, Method::TasksList, json!({"cursor": "x"})).await.unwrap_err();
    assert_eq!(error.code, code::INVALID_PARAMS);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_tasks_has_none_that_its_server_does_not_know() {
    let (bay, worker) = bay(MODERN, Limits::default()).await;
    let ada = client(&bay, CORE, "ada").await;
    let (forgotten, kept) = (begin(&ada, "hangs").await, begin(&ada, "hangs").await);
    worker.forgets("t-1");
    let page = ask(&ada, Method::TasksList, json!({})).await.unwrap();
    let listed: Vec<_> = page["tasks"].as_array().unwrap().iter().map(|task| task["taskId"].clone()).collect();
    assert_eq!(listed, [json!(kept)], "not {forgotten}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_runs_as_a_task_alone_answers_whoever_knows_of_none() {
    let (bay, worker) = bay(MODERN, Limits::default()).await;
    for down in [CORE, OLDER] {
        let one = client(&bay, down, "ada").await;
        let (asked, told, outcome) = follow(&one, call("asks")).await;
        assert_eq!(asked.len(), 1, "{down}");
        assert!(told > 0 && asked[0].get("_meta").is_none_or(|meta| meta.get(RELATED_TASK).is_none()), "{down}");
        assert!(format!("{:?}", outcome.unwrap()).contains("hello"), "{down}");
        let error = one.request(call("breaks")).await.unwrap().unwrap_err();
        assert_eq!(error.code, -77, "{down}");
    }
    let error = declaring(&bay, MODERN, "ada", Raw::EMPTY).await.request(call("quick")).await.unwrap().unwrap_err();
    assert_eq!(error.code, code::MISSING_CAPABILITY, "whoever could declare it is told so");
    assert_eq!(worker.log().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_taken_back_takes_its_hidden_task_back() {
    for (up, downs) in [(MODERN, [CORE, OLDER]), (CORE, [OLDER, MODERN])] {
        let (bay, worker) = bay(up, Limits::default()).await;
        for (place, down) in downs.into_iter().enumerate() {
            let one = declaring(&bay, down, "ada", Raw::EMPTY).await;
            let mut running = one.call(call("hangs")).await.unwrap();
            // Until it waits for the task.
            let _ = tokio::time::timeout(Duration::from_secs(1), async { while running.step().await.is_ok() {} }).await;
            drop(running);
            let what = format!("cancel t-{}", place + 1);
            tokio::time::timeout(Duration::from_secs(9), worker.hears(&what)).await.expect("it is taken back");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_of_the_core_is_one_of_the_extension_for_whoever_declared_that() {
    let (bay, worker) = bay(CORE, Limits::default()).await;
    let (ada, eve) = (client(&bay, MODERN, "ada").await, client(&bay, MODERN, "eve").await);
    assert!(ada.meeting().profile.declares(&["extensions", TASKS]));
    let id = extended(&ada, "asks").await;
    let asking = until(&ada, &id, "input_required").await;
    assert_eq!((&asking["resultType"], &asking["taskId"]), (&json!("complete"), &json!(id)));
    let (key, asked) = asking["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!((&asked["method"], &asked["params"]["message"]), (&json!("elicitation/create"), &json!("who?")));
    let update = |responses: Value| json!({"taskId": id, "inputResponses": responses});
    let wrong = ask(&ada, Method::TasksUpdate, update(json!({key: {"no": 1}}))).await.unwrap_err();
    assert_eq!(wrong.code, code::INVALID_PARAMS);
    let ada_answers = json!({key: {"action": "accept", "content": {"name": "Ada"}}, "unknown": {}});
    for _ in 0..2 {
        ask(&ada, Method::TasksUpdate, update(ada_answers.clone())).await.unwrap();
    }
    let done = until(&ada, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "hello \"Ada\"");
    assert_eq!((done["result"].get("_meta"), done.get("inputRequests")), (None, None), "{done}");

    let hanging = extended(&ada, "hangs").await;
    assert_eq!(state(&ada, &hanging).await["status"], "working");
    for _ in 0..2 {
        ask(&ada, Method::TasksCancel, json!({"taskId": hanging})).await.unwrap();
    }
    until(&ada, &hanging, "cancelled").await;
    ask(&ada, Method::TasksCancel, json!({"taskId": id})).await.unwrap();
    assert_eq!(state(&ada, &id).await["status"], "completed");
    assert_eq!(worker.log()[0], "cancel t-2");
    for (method, id) in [(Method::TasksGet, &*id), (Method::TasksUpdate, &hanging), (Method::TasksCancel, "t-1")] {
        let error = ask(&eve, method, json!({"taskId": id, "inputResponses": {}})).await.unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS);
    }
    assert!(ask(&ada, Method::ToolsCall, json!({"name": "w__plain"})).await.unwrap()["content"].is_array());
    let plain = declaring(&bay, MODERN, "ada", Raw::EMPTY).await;
    assert!(ask(&plain, Method::ToolsCall, json!({"name": "w__quick"})).await.unwrap()["content"].is_array());
}

#[tokio::test(start_paused = true)]
async fn tasks_that_run_long_leave_places_for_calls() {
    let (bay, worker) = bounded(CORE, Limits::default(), Bounds { in_flight: 4, ..Bounds::default() }).await;
    let ada = client(&bay, MODERN, "ada").await;
    let mut hanging = vec![];
    for _ in 0..8 {
        hanging.push(extended(&ada, "hangs").await);
    }
    let quick = extended(&ada, "quick").await;
    until(&ada, &quick, "completed").await;
    worker.takes_back("t-8");
    tokio::time::advance(Duration::from_secs(3)).await;
    until(&ada, &hanging[7], "cancelled").await;
    assert!(ask(&ada, Method::ToolsCall, json!({"name": "w__plain"})).await.unwrap()["content"].is_array());
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_comes_to_answer_gives_its_place_back() {
    let (bay, worker) = bay(CORE, Limits::default()).await;
    worker.keeps.store(true, Ordering::SeqCst);
    let ada = client(&bay, MODERN, "ada").await;
    let begun = ask(&ada, Method::ToolsCall, json!({"name": "w__asks", "arguments": {}})).await.unwrap();
    let id = begun["taskId"].as_str().unwrap().to_owned();
    until(&ada, &id, "input_required").await;
    tokio::time::advance(Duration::from_secs(601)).await;
    let over = until(&ada, &id, "failed").await;
    assert!(over["error"]["message"].as_str().unwrap().contains("ten minutes"), "{over}");
    assert_eq!(over.get("inputRequests"), None);
}

#[tokio::test(start_paused = true)]
async fn whoever_listens_to_a_task_of_the_core_hears_of_it_in_the_words_of_the_extension() {
    let (bay, _) = bay(CORE, Limits::default()).await;
    let (say, mut heard) = mpsc::unbounded_channel();
    let capabilities = Raw::of(&json!({"elicitation": {"form": {}}, "extensions": {TASKS: {}}}));
    let ada = listening(&bay, MODERN, "ada", capabilities, Arc::new(Ears(say))).await;
    let eve = client(&bay, MODERN, "eve").await;
    let id = extended(&ada, "asks").await;
    let listening = ada.subscribe(Filter::task(id.clone())).await.unwrap();
    assert!(listening.filter().tasks.contains(&id));
    assert!(eve.subscribe(Filter::task(id.clone())).await.unwrap().filter().tasks.is_empty());
    let requests = loop {
        let told = heard.recv().await.unwrap();
        let state: Value = told.state.read().unwrap();
        assert_eq!((&told.id, &state["taskId"], state.get("resultType")), (&id, &json!(id), None));
        if state["status"] == "input_required" {
            break state["inputRequests"].clone();
        }
    };
    let key = requests.as_object().unwrap().keys().next().unwrap();
    let answers = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
    ask(&ada, Method::TasksUpdate, json!({"taskId": id, "inputResponses": answers})).await.unwrap();
    let done: Value = loop {
        let state: Value = heard.recv().await.unwrap().state.read().unwrap();
        if state["status"] == "completed" {
            break state;
        }
    };
    assert_eq!(done["result"]["content"][0]["text"], "hello \"Ada\"");
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_before_a_task_begins_is_asked_by_the_call() {
    for (up, down) in [(MODERN, CORE), (CORE, MODERN), (MODERN, OLDER)] {
        let (bay, _) = bay(up, Limits::default()).await;
        let ada = client(&bay, down, "ada").await;
        let params = Raw::of(&json!({"name": "w__shy", "arguments": {}, "task": {}}));
        let (asked, _, outcome) = follow(&ada, Call::new(Method::ToolsCall, Some(params))).await;
        let outcome: Value = outcome.unwrap().read().unwrap();
        assert_eq!((asked.len(), asked[0].get("_meta")), (1, None), "{down}");
        match down {
            OLDER => assert_eq!(outcome["content"][0]["text"], "quick"),
            CORE => assert_eq!(outcome["task"]["status"], "working", "{outcome}"),
            _ => {
                let id = outcome["taskId"].as_str().unwrap();
                assert_eq!(until(&ada, id, "completed").await["result"]["content"][0]["text"], "quick");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_followed_takes_no_question_of_anything_else() {
    let (bay, _) = bay(CORE, Limits::default()).await;
    let ada = client(&bay, MODERN, "ada").await;
    let tasks = [extended(&ada, "hangs").await, extended(&ada, "asks").await, extended(&ada, "hangs").await];
    until(&ada, &tasks[1], "input_required").await;
    let (asked, _, outcome) = follow(&ada, call("curious")).await;
    assert_eq!((asked.len(), outcome.is_ok()), (1, true));
    for (id, status) in tasks.iter().zip(["working", "input_required", "working"]) {
        let state = state(&ada, id).await;
        assert_eq!(state["status"], status);
        assert!(state["inputRequests"].as_object().is_none_or(|requests| requests.len() == 1), "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_each_user_so_many_tasks_are_kept_and_so_many_bytes() {
    let limits = Limits { tasks: 2, task_bytes: 4096, ..Limits::default() };
    for (up, down) in [(MODERN, CORE), (CORE, MODERN)] {
        let (bay, worker) = bay(up, limits).await;
        let (ada, eve) = (client(&bay, down, "ada").await, client(&bay, down, "eve").await);
        let params = |tool: &str| json!({"name": format!("w__{tool}"), "arguments": {}, "task": {}});
        for _ in 0..2 {
            ask(&ada, Method::ToolsCall, params("hangs")).await.unwrap();
        }
        let full = ask(&ada, Method::ToolsCall, params("hangs")).await.unwrap_err();
        assert!(full.message.contains("limit `tasks`"), "{full}");
        assert!(ask(&eve, Method::ToolsCall, params("hangs")).await.is_ok());
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(ask(&ada, Method::ToolsCall, params("hangs")).await.is_ok(), "their time is over");
        if up == CORE {
            let large = extended(&eve, "large").await;
            let error = until(&eve, &large, "failed").await["error"]["message"].to_string();
            assert!(error.contains("limit `taskBytes`"), "{error}");
        }
        drop(worker);
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_was_told_the_end_of_a_task_has_room_for_another() {
    let (bay, _) = bay(CORE, Limits { tasks: 2, ..Limits::default() }).await;
    let ada = client(&bay, MODERN, "ada").await;
    for _ in 0..5 {
        let id = extended(&ada, "quick").await;
        until(&ada, &id, "completed").await;
    }
    for _ in 0..5 {
        let id = extended(&ada, "hangs").await;
        ask(&ada, Method::TasksCancel, json!({"taskId": id})).await.unwrap();
        assert_eq!(state(&ada, &id).await["status"], "cancelled");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_its_server_took_back_is_cancelled_and_did_not_fail() {
    let (bay, worker) = bay(CORE, Limits::default()).await;
    let ada = client(&bay, MODERN, "ada").await;
    let id = extended(&ada, "hangs").await;
    assert_eq!(state(&ada, &id).await["status"], "working");
    worker.takes_back("t-1");
    tokio::time::advance(Duration::from_secs(1)).await;
    let state = state(&ada, &id).await;
    assert_eq!((&state["status"], state.get("error")), (&json!("cancelled"), None), "{state}");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_taken_back_though_nothing_can_be_kept_of_it() {
    let key = StateKey::random().unwrap();
    let worker = Arc::<Worker>::default();
    let open = |limits| {
        let spec = Spec { revision: Some(MODERN), ..Spec::embedded("w", Arc::clone(&worker)) };
        Bay::open_within(&Identity { name: "bay".into(), version: "0".into() }, vec![spec], &key, limits).unwrap()
    };
    let (here, full) = (open(Limits::default()), open(Limits { tasks: 0, ..Limits::default() }));
    here.settled().await;
    full.settled().await;
    let id = begin(&client(&here, CORE, "ada").await, "hangs").await;
    let there = client(&full, CORE, "ada").await;
    let cancelled = ask(&there, Method::TasksCancel, json!({"taskId": id})).await.unwrap();
    assert_eq!((&cancelled["status"], worker.log()), (&json!("cancelled"), vec!["cancel t-1".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_its_server_did_not_take_is_asked_for_again() {
    let (bay, worker) = bay(MODERN, Limits::default()).await;
    let ada = client(&bay, CORE, "ada").await;
    let id = begin(&ada, "asks").await;
    worker.refuses.store(true, Ordering::SeqCst);
    let (asked, _, outcome) = follow(&ada, result(&id)).await;
    assert!(outcome.unwrap_err().message.contains("does not take the answer"));
    worker.refuses.store(false, Ordering::SeqCst);
    let (again, _, outcome) = follow(&ada, result(&id)).await;
    assert_eq!((asked.len(), again.len()), (1, 1));
    assert!(format!("{:?}", outcome.unwrap()).contains("Ada"));
}

#[tokio::test]
async fn tasks_that_a_server_calls_the_same_on_two_connections_are_two_of_the_extension() {
    let bay = apart(CORE, Isolation::default()).await;
    let declared = [json!({"elicitation": {"form": {}}}), json!({"sampling": {}})];
    let declared = declared.map(|mut capabilities| {
        capabilities["extensions"] = json!({TASKS: {}});
        Raw::of(&capabilities)
    });
    let (ears, mut heard) = mpsc::unbounded_channel();
    let [first, second] = declared;
    let one = listening(&bay, MODERN, "ada", first, Arc::new(Ears(ears))).await;
    let two = declaring(&bay, MODERN, "ada", second).await;
    let (slow, quick) = (extended(&one, "hangs").await, extended(&two, "quick").await);
    assert_ne!(slow, quick);
    let done = until(&two, &quick, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "quick", "{done}");
    // Each is the same for whichever connection of its user asks.
    for connection in [&one, &two] {
        assert_eq!(state(connection, &slow).await["status"], "working");
        assert_eq!(state(connection, &quick).await["status"], "completed");
    }
    let filter = Filter { tasks: [slow.clone(), quick.clone()].into(), ..Filter::default() };
    let listened = one.subscribe(filter.clone()).await.unwrap();
    assert_eq!(listened.filter().tasks, filter.tasks);
    ask(&two, Method::TasksCancel, json!({"taskId": slow})).await.unwrap();
    let told = loop {
        let told = heard.recv().await.unwrap();
        if told.state.get("status") == Some(Raw::of("cancelled")) {
            break told.id;
        }
    };
    assert_eq!(told, slow);
    assert_eq!(state(&one, &quick).await["status"], "completed");
}

#[tokio::test]
async fn tasks_that_a_server_calls_the_same_on_two_connections_are_two_of_the_core() {
    let bay = apart(MODERN, Isolation::PerDevice).await;
    let [one, two] = [on_device(&bay, CORE, "one").await, on_device(&bay, CORE, "two").await];
    let (slow, quick) = (begin(&one, "hangs").await, begin(&two, "quick").await);
    assert_ne!(slow, quick);
    for connection in [&one, &two] {
        assert_eq!(state(connection, &slow).await["status"], "working");
        assert_eq!(state(connection, &quick).await["status"], "completed");
    }
    let listed = ask(&two, Method::TasksList, json!({})).await.unwrap();
    let listed = listed["tasks"].as_array().unwrap().iter().map(|task| (&task["taskId"], &task["status"]));
    let expected = [(&json!(slow), &json!("working")), (&json!(quick), &json!("completed"))];
    assert_eq!(listed.collect::<Vec<_>>(), expected);
    ask(&two, Method::TasksCancel, json!({"taskId": slow})).await.unwrap();
    assert_eq!(state(&one, &slow).await["status"], "cancelled");
    let (_, _, outcome) = follow(&one, result(&quick)).await;
    let outcome: Value = outcome.unwrap().read().unwrap();
    assert_eq!(outcome["content"][0]["text"], "quick", "{outcome}");
    assert_eq!(outcome["_meta"][RELATED_TASK]["taskId"], json!(quick), "{outcome}");
}
