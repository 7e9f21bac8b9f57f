//! Tasks through the bay: of the core between two ends of 2025-11-25, of the extension between two of 2026-07-28.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};
use toolbay_gateway::{
    Bay, Identity,
    servers::{Phase, Spec},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Answers, Note, Outcome, Return, Standing, Step, Wishes},
    fault::code,
    greeting::Introduction,
    method::TASKS,
    peer::Call,
    types::meta::key::RELATED_TASK,
    watch::{Change, Filter},
};
use toolbay_transport::{Approach, Connection, Listener, Principal, connect, duplex::Options};

use crate::{script::Script, tasker::Tasker};

const CORE: Revision = Revision::LATEST_LEGACY;
const SOON: Duration = Duration::from_secs(10);

async fn bay(servers: &[Arc<Tasker>], revision: Revision) -> Bay {
    let spec = |(place, tasker): (usize, &Arc<Tasker>)| Spec {
        revision: Some(revision),
        ..Spec::embedded(["a", "b"][place], Arc::clone(tasker))
    };
    let identity = Identity { name: "bay".into(), version: "0".into() };
    let bay = Bay::open(&identity, servers.iter().enumerate().map(spec).collect()).unwrap();
    bay.settled().await;
    bay
}

struct Ears(mpsc::UnboundedSender<Value>);

impl Listener for Ears {
    fn noted(&self, note: Note) {
        let _ = self.0.send(note.params.unwrap().read().unwrap());
    }

    fn changed(&self, change: Change) {
        if let Change::Task(task) = change {
            let _ = self.0.send(task.state.read().unwrap());
        }
    }
}

async fn client(bay: &Bay, revision: Revision, who: &str) -> (Connection, mpsc::UnboundedReceiver<Value>) {
    declaring(bay, revision, who, json!({"elicitation": {"form": {}}, "extensions": {TASKS: {}}})).await
}

/// A client that knows nothing of tasks.
async fn plain(bay: &Bay, revision: Revision) -> Connection {
    declaring(bay, revision, "ada", json!({"elicitation": {"form": {}}})).await.0
}

async fn declaring(
    bay: &Bay,
    revision: Revision,
    who: &str,
    capabilities: Value,
) -> (Connection, mpsc::UnboundedReceiver<Value>) {
    let capabilities = Raw::of(&capabilities);
    let us = Introduction { capabilities, ..Introduction::anonymous(revision) };
    let (ears, heard) = mpsc::unbounded_channel();
    let mut approach = Approach::new(us).heard_by(Arc::new(Ears(ears)));
    approach.revision = Some(revision);
    let options = Options { principal: Principal::Named(who.into()), ..Options::default() };
    (connect::memory(Arc::new(bay.clone()), options, approach).await.unwrap(), heard)
}

async fn ask(one: &Connection, method: Method, params: Value) -> Result<Value, ErrorObject> {
    one.request(Call::new(method, Some(Raw::of(&params)))).await.unwrap().map(|raw| raw.read().unwrap())
}

/// Begins a task.
async fn begin(one: &Connection, tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {}, "task": {"ttl": 60000}});
    let begun = ask(one, Method::ToolsCall, params).await.unwrap();
    let task = if begun["resultType"] == "task" { &begun } else { &begun["task"] };
    assert_eq!(task["status"], "working", "{begun}");
    task["taskId"].as_str().unwrap().to_owned()
}

/// Answers every question with "Ada"; what was asked, and the outcome.
async fn answered(one: &Connection, call: Call) -> (Vec<Value>, Outcome) {
    let (mut next, mut asked) = (call, vec![]);
    loop {
        let again = next.clone();
        let mut running = one.call(next).await.unwrap();
        let asks = loop {
            match running.step().await.unwrap() {
                Step::Done(outcome) => return (asked, outcome),
                Step::Note(_) | Step::Away(_) | Step::Withdrawn(_) => {}
                Step::Ask(asks) => {
                    asked.extend(asks.iter().map(|(_, ask)| ask.params.clone().unwrap().read::<Value>().unwrap()));
                    let ada = Raw::of(&json!({"action": "accept", "content": {"name": "Ada"}}));
                    let answers: Answers = asks.iter().map(|(key, _)| (key.to_owned(), Ok(ada.clone()))).collect();
                    match asks.standing() {
                        Standing::Open => running.answer(answers).await.unwrap(),
                        Standing::Over(state) => break Return { answers: Some(answers), state: state.clone() },
                    }
                }
            }
        };
        next = Call { returning: asks, ..again };
    }
}

#[tokio::test]
async fn tasks_of_the_core_are_looked_after_at_their_own_server() {
    let servers = [Arc::<Tasker>::default(), Arc::default()];
    let bay = bay(&servers, CORE).await;
    let (ada, mut heard) = client(&bay, CORE, "ada").await;
    let (eve, _) = client(&bay, CORE, "eve").await;
    let declared = &ada.meeting().profile;
    assert!(declared.declares(&["tasks", "requests", "tools", "call"]) && declared.declares(&["tasks", "list"]));
    let (first, second) = (begin(&ada, "a__job").await, begin(&ada, "b__job").await);
    assert!(first != second && first != "t-1", "both are t-1 at their servers");
    assert_eq!(ask(&ada, Method::TasksGet, json!({"taskId": first})).await.unwrap()["taskId"], json!(first));
    for method in [Method::TasksGet, Method::TasksResult, Method::TasksCancel] {
        for id in [first.as_str(), "t-1"] {
            let error = ask(&eve, method.clone(), json!({"taskId": id})).await.unwrap_err();
            assert_eq!(error.code, code::INVALID_PARAMS, "{method}");
        }
    }
    let result = Call::new(Method::TasksResult, Some(Raw::of(&json!({"taskId": first}))));
    let (asked, outcome) = answered(&ada, result).await;
    assert_eq!(asked[0]["_meta"][RELATED_TASK]["taskId"], json!(first));
    let outcome: Value = outcome.unwrap().read().unwrap();
    assert!(outcome["content"][0]["text"].as_str().unwrap().contains("Ada"), "{outcome}");
    assert_eq!(outcome["_meta"][RELATED_TASK]["taskId"], json!(first));
    begin(&ada, "b__job").await;
    let (mut listed, mut page) = (vec![], json!({}));
    loop {
        let params = page.get("nextCursor").map_or(json!({}), |cursor| json!({"cursor": cursor}));
        page = ask(&ada, Method::TasksList, params).await.unwrap();
        listed.extend(page["tasks"].as_array().unwrap().iter().map(|task| task["taskId"].as_str().unwrap().to_owned()));
        if page.get("nextCursor").is_none() {
            break;
        }
    }
    assert_eq!((listed.len(), &listed[0], &listed[1]), (3, &first, &second));
    assert_eq!(ask(&ada, Method::TasksCancel, json!({"taskId": second})).await.unwrap()["status"], "cancelled");
    assert_eq!(*servers[1].asked.lock().unwrap(), ["tasks/cancel t-1"]);
    servers[0].tell("t-1", "completed");
    let told = timeout(SOON, heard.recv()).await.expect("it is told").unwrap();
    assert_eq!((&told["taskId"], &told["status"]), (&json!(first), &json!("completed")));
}

#[tokio::test]
async fn progress_of_a_task_goes_on_after_the_call_that_began_it() {
    let servers = [Arc::<Tasker>::default()];
    let bay = bay(&servers, CORE).await;
    let (ada, mut heard) = client(&bay, CORE, "ada").await;
    let (_eve, mut unheard) = client(&bay, CORE, "eve").await;
    let params = json!({"name": "a__job", "arguments": {}, "task": {"ttl": 60000}});
    let call = Call { wishes: Wishes::progress(), ..Call::new(Method::ToolsCall, Some(Raw::of(&params))) };
    let begun: Value = ada.request(call).await.unwrap().unwrap().read().unwrap();
    servers[0].progress(3.0);
    let told = timeout(SOON, heard.recv()).await.expect("it is told").unwrap();
    assert_eq!((&told["progress"], &told["total"]), (&json!(3.0), &json!(9.0)));
    assert_eq!(told["_meta"][RELATED_TASK]["taskId"], begun["task"]["taskId"]);
    assert!(unheard.try_recv().is_err(), "it is nobody else's");
}

#[tokio::test]
async fn progress_of_a_task_that_its_caller_knows_nothing_of_is_progress_of_the_call() {
    let servers = [Arc::<Tasker>::default()];
    let bay = bay(&servers, CORE).await;
    let (one, _) = client(&bay, Revision::V2025_06_18, "ada").await;
    let params = Raw::of(&json!({"name": "a__only", "arguments": {}}));
    let call = Call { wishes: Wishes::progress(), ..Call::new(Method::ToolsCall, Some(params)) };
    let mut running = one.call(call).await.unwrap();
    let mut told = vec![];
    while told.is_empty() {
        match timeout(SOON, running.step()).await.expect("it is told").unwrap() {
            Step::Note(note) => told.push(note.params.unwrap().read::<Value>().unwrap()),
            Step::Ask(asks) => running.answer(Answers::refuse(&asks, &ErrorObject::internal("no"))).await.unwrap(),
            step @ (Step::Done(_) | Step::Away(_) | Step::Withdrawn(_)) => panic!("{step:?}"),
        }
    }
    assert_eq!((&told[0]["progress"], told[0].get("_meta")), (&json!(4.0), None));
}

#[tokio::test]
async fn tasks_of_the_extension_are_looked_after_at_their_own_server() {
    let servers = [Arc::<Tasker>::default(), Arc::default()];
    let bay = bay(&servers, Revision::LATEST).await;
    let (ada, mut heard) = client(&bay, Revision::LATEST, "ada").await;
    let (eve, _) = client(&bay, Revision::LATEST, "eve").await;
    assert!(ada.meeting().profile.declares(&["extensions", TASKS]));
    let (first, second) = (begin(&ada, "a__job").await, begin(&ada, "b__job").await);
    assert!(first != second && first != "t-1");
    let state = ask(&ada, Method::TasksGet, json!({"taskId": second})).await.unwrap();
    assert_eq!((&state["taskId"], &state["inputRequests"]["k"]["method"]), (&json!(second), &json!("roots/list")));
    for method in [Method::TasksGet, Method::TasksUpdate, Method::TasksCancel] {
        let error = ask(&eve, method.clone(), json!({"taskId": first, "inputResponses": {}})).await.unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS, "{method}");
    }
    let answers = json!({"k": {"roots": []}});
    ask(&ada, Method::TasksUpdate, json!({"taskId": second, "inputResponses": answers})).await.unwrap();
    ask(&ada, Method::TasksCancel, json!({"taskId": second})).await.unwrap();
    let asked = servers[1].asked.lock().unwrap().clone();
    assert_eq!(asked, [r#"tasks/update t-1 {"k":{"roots":[]}}"#, "tasks/cancel t-1"]);
    let tasks = [first.clone(), second.clone(), "t-1".to_owned()].into();
    let watching = ada.subscribe(Filter { tasks, ..Filter::default() }).await.unwrap();
    assert_eq!(watching.filter().tasks, [first.clone(), second.clone()].into());
    let stranger = eve.subscribe(Filter::task(first.clone())).await.unwrap();
    assert!(stranger.filter().tasks.is_empty());
    servers[1].tell("t-1", "completed");
    let told = timeout(SOON, heard.recv()).await.expect("it is told").unwrap();
    assert_eq!((&told["taskId"], &told["status"]), (&json!(second), &json!("completed")));
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_task_is_listened_to_does_not_rest() {
    let tasker = Arc::<Tasker>::default();
    let rest = Duration::from_secs(30);
    let spec = Spec { revision: Some(Revision::LATEST), rest, ..Spec::embedded("a", Arc::clone(&tasker)) };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    bay.settled().await;
    let (ada, mut heard) = client(&bay, Revision::LATEST, "ada").await;
    // What keeps it for the life of a task is over by then.
    let task = begin(&ada, "a__job").await;
    let watching = ada.subscribe(Filter::task(task.clone())).await.unwrap();
    let pass = async |time| drop(timeout(time, std::future::pending::<()>()).await);
    pass(Duration::from_secs(2 * 24 * 60 * 60)).await;
    let rests = || matches!(bay.status()[0].phase, Phase::Resting { .. });
    assert!(!rests());
    tasker.tell("t-1", "completed");
    let told = timeout(SOON, heard.recv()).await.expect("it is told").unwrap();
    assert_eq!((&told["taskId"], &told["status"]), (&json!(task), &json!("completed")));
    drop(watching);
    pass(rest * 3).await;
    assert!(rests(), "nobody listens any more");
    bay.close().await;
}

#[tokio::test]
async fn who_did_not_declare_the_extension_has_no_tasks() {
    let bay = bay(&[Arc::default()], Revision::LATEST).await;
    let mut approach = Approach::new(Introduction::anonymous(Revision::LATEST));
    approach.revision = Some(Revision::LATEST);
    let plain = connect::memory(Arc::new(bay.clone()), Options::default(), approach).await.unwrap();
    assert!(ask(&plain, Method::ToolsCall, json!({"name": "a__job"})).await.unwrap()["content"].is_array());
    let error = ask(&plain, Method::TasksGet, json!({"taskId": "t"})).await.unwrap_err();
    assert_eq!(error.code, code::MISSING_CAPABILITY);
}

#[tokio::test]
async fn across_eras_a_task_is_awaited_for_whoever_knows_of_none() {
    let legacy = bay(&[Arc::default()], CORE).await;
    for down in [Revision::LATEST, Revision::V2025_06_18] {
        let one = plain(&legacy, down).await;
        let only = Call {
            wishes: Wishes::progress(),
            ..Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "a__only", "arguments": {}}))))
        };
        let (asked, outcome) = answered(&one, only).await;
        assert_eq!(asked.len(), 1, "{down}: what the task asks is asked");
        let said = format!("{:?}", outcome.unwrap());
        assert!(said.contains("Ada") && !said.contains("related-task"), "{down} {said}");
    }
    // A server may ask before it begins the task, and may refuse to begin it.
    for down in [Revision::LATEST, Revision::V2025_06_18] {
        let one = plain(&legacy, down).await;
        let shy = || Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "a__shy", "arguments": {}}))));
        let (asked, outcome) = answered(&one, shy()).await;
        assert_eq!(asked.len(), 2, "{down}: first by the call, then by the task");
        assert!(format!("{:?}", outcome.unwrap()).contains("Ada"), "{down}");
    }
    let (one, _) = client(&legacy, Revision::V2025_06_18, "ada").await;
    let shy = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "a__shy", "arguments": {}}))));
    let error = one.request(shy).await.unwrap().unwrap_err();
    assert_eq!(error.code, -77, "what the server says of it is said: {error}");
    // The same word means nothing in another revision.
    for down in [Revision::LATEST, Revision::V2025_06_18] {
        let one = plain(&legacy, down).await;
        for tool in ["a__job", "a__plain"] {
            let params = json!({"name": tool, "arguments": {}, "task": {"ttl": 60000}});
            assert!(ask(&one, Method::ToolsCall, params).await.unwrap()["content"].is_array(), "{down} {tool}");
        }
    }
    let (core, _) = client(&legacy, CORE, "ada").await;
    let error = ask(&core, Method::ToolsCall, json!({"name": "a__only"})).await.unwrap_err();
    assert_eq!(error.code, code::METHOD_NOT_FOUND, "who knows of tasks must ask for one");
}

#[tokio::test]
async fn no_more_is_promised_than_some_server_can() {
    let spec = Spec::embedded("s", Script::new());
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    bay.settled().await;
    for revision in [CORE, Revision::LATEST] {
        let (one, _) = client(&bay, revision, "ada").await;
        let profile = &one.meeting().profile;
        assert!(!profile.declares(&["tasks"]) && !profile.declares(&["extensions"]), "{revision}");
        assert!(ask(&one, Method::TasksGet, json!({"taskId": "t"})).await.is_err());
    }
}
