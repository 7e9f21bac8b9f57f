use std::sync::Arc;

use serde_json::{Value, json};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Answers, Outcome, Step},
    greeting::Introduction,
    peer::Call,
    watch::{Change, Filter},
};
use toolbay_transport::{Approach, Connection, Listening, Principal, connect, duplex::Options};

use crate::{Client, Ctx, Fail, JsonSchema, Server, Tool, ToolError, serde::Deserialize, types::ElicitResult};

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

fn server() -> Server {
    Server::new("t", "1")
        .tool(Tool::new("quick", "", || async { "done" }))
        .tool(Tool::new("job", "", || async { "done" }).task())
        .tool(Tool::new("sad", "", || async { Err::<(), _>(ToolError::new("no")) }).task())
        .tool(Tool::new("only", "", || async { "done" }).only_as_task())
        .tool(Tool::new("forever", "", std::future::pending::<String>).task())
        .tool(Tool::new("wrong", "", || async { Err::<(), _>(ErrorObject::internal("broken")) }).task())
        .tool(
            Tool::new("ask", "", |cx: Ctx| async move {
                let (a, b) = tokio::try_join!(cx.ask::<Name>("a", "A?"), cx.ask::<Name>("b", "B?"))?;
                Ok::<_, Fail>(format!("{}{}", a.name, b.name))
            })
            .task(),
        )
        .tool(
            Tool::new("later", "", |cx: Ctx| async move {
                let name: Name = cx.ask("name", "Who?").await?;
                cx.into_task().await?;
                let more: Name = cx.ask("name2", "And?").await?;
                Ok::<_, Fail>(format!("{}{}", name.name, more.name))
            })
            .task()
            .task_when_asked(),
        )
}

async fn meet(server: &Server, revision: Revision, principal: Principal, tasks: bool) -> Connection {
    let extensions = if tasks { json!({"io.modelcontextprotocol/tasks": {}}) } else { json!({}) };
    let capabilities = Raw::of(&json!({"elicitation": {}, "extensions": extensions}));
    let us = Introduction { capabilities, ..Introduction::anonymous(revision) };
    let mut approach = Approach::new(us);
    approach.revision = Some(revision);
    connect::memory(Arc::new(server.clone()), Options { principal, ..Options::default() }, approach).await.unwrap()
}

async fn ask(connection: &Connection, method: Method, params: Value) -> Result<Value, ErrorObject> {
    connection.request(Call::new(method, Some(Raw::of(&params)))).await.unwrap().map(|raw| raw.read().unwrap())
}

async fn call(connection: &Connection, name: &str) -> Result<Value, ErrorObject> {
    ask(connection, Method::ToolsCall, json!({"name": name})).await
}

/// The state of a task once it is no longer `working`.
async fn settled(connection: &Connection, id: &Value) -> Value {
    loop {
        let state = ask(connection, Method::TasksGet, json!({"taskId": id})).await.unwrap();
        if state["status"] != "working" {
            return state;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_client_of_the_extension_is_given_tasks_and_others_answers() {
    // rules 173, 174, 176
    let server = server();
    let with = meet(&server, Revision::LATEST, Principal::Local, true).await;
    let without = meet(&server, Revision::LATEST, Principal::Local, false).await;
    let created = call(&with, "job").await.unwrap();
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")));
    assert!(created["ttlMs"].is_u64() && created["pollIntervalMs"].is_u64() && created.get("task").is_none());
    let state = settled(&with, &created["taskId"]).await;
    assert_eq!((&state["resultType"], &state["status"]), (&json!("complete"), &json!("completed")));
    assert_eq!(state["result"]["content"][0]["text"], "done");
    assert_eq!(call(&without, "job").await.unwrap()["content"][0]["text"], "done");
    assert_eq!(call(&with, "quick").await.unwrap()["resultType"], "complete");
    let refused = call(&without, "only").await.unwrap_err();
    assert_eq!(refused.code, -32021);
    let needed: Value = refused.data.unwrap().read().unwrap();
    assert_eq!(needed["requiredCapabilities"]["extensions"]["io.modelcontextprotocol/tasks"], json!({}));
    let get = ask(&without, Method::TasksGet, json!({"taskId": created["taskId"]})).await;
    assert_eq!(get.unwrap_err().code, -32021);
    let sad = call(&with, "sad").await.unwrap();
    let sad = settled(&with, &sad["taskId"]).await;
    assert_eq!((&sad["status"], &sad["result"]["isError"]), (&json!("completed"), &json!(true)));
    let wrong = call(&with, "wrong").await.unwrap();
    let wrong = settled(&with, &wrong["taskId"]).await;
    assert_eq!((&wrong["status"], &wrong["error"]["code"]), (&json!("failed"), &json!(-32603)));
}

#[tokio::test]
async fn a_task_belongs_to_its_principal() {
    // rules 179 and 184
    let server = server();
    let mine = meet(&server, Revision::LATEST, Principal::Named("me".into()), true).await;
    let yours = meet(&server, Revision::LATEST, Principal::Named("you".into()), true).await;
    let created = call(&mine, "forever").await.unwrap();
    for method in [Method::TasksGet, Method::TasksCancel] {
        let params = json!({"taskId": created["taskId"]});
        assert_eq!(ask(&yours, method, params).await.unwrap_err().code, -32602);
    }
    let state = ask(&mine, Method::TasksGet, json!({"taskId": created["taskId"]})).await.unwrap();
    assert_eq!(state["status"], "working");
    // rule 178
    for _ in 0..2 {
        let ack = ask(&mine, Method::TasksCancel, json!({"taskId": created["taskId"]})).await.unwrap();
        assert_eq!(ack["resultType"], "complete");
        assert!(ack.get("taskId").is_none());
    }
    assert_eq!(settled(&mine, &created["taskId"]).await["status"], "cancelled");
}

#[tokio::test]
async fn questions_of_a_task_are_answered_one_by_one() {
    // rule 177
    let connection = meet(&server(), Revision::LATEST, Principal::Local, true).await;
    let id = call(&connection, "ask").await.unwrap()["taskId"].clone();
    let state = settled(&connection, &id).await;
    assert_eq!(state["status"], "input_required");
    assert_eq!(state["inputRequests"]["a"]["method"], "elicitation/create");
    assert!(state.get("requestState").is_none() && state["inputRequests"]["b"].is_object());
    let answer = |key: &str, content: Value| {
        let responses = json!({ key: {"action": "accept", "content": content}, "stray": 1 });
        ask(&connection, Method::TasksUpdate, json!({"taskId": id, "inputResponses": responses}))
    };
    assert_eq!(answer("a", json!({"name": "x"})).await.unwrap()["resultType"], "complete");
    let state = ask(&connection, Method::TasksGet, json!({"taskId": id})).await.unwrap();
    assert!(state["status"] == "input_required" && state["inputRequests"].get("a").is_none());
    // One that does not fit is asked for again, under a key that was never used.
    answer("b", json!({"nome": "x"})).await.unwrap();
    let state = settled(&connection, &id).await;
    assert_eq!(state["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["b#2"]);
    answer("b", json!({"name": "late"})).await.unwrap();
    answer("b#2", json!({"name": "y"})).await.unwrap();
    let state = settled(&connection, &id).await;
    assert_eq!(state["result"]["content"][0]["text"], "xy");
}

#[tokio::test]
async fn a_call_asks_first_and_becomes_a_task_then() {
    // rule 181
    let connection = meet(&server(), Revision::LATEST, Principal::Local, true).await;
    let params = Raw::of(&json!({"name": "later"}));
    let mut running = connection.call(Call::new(Method::ToolsCall, Some(params))).await.unwrap();
    let Step::Ask(_) = running.step().await.unwrap() else { panic!("it asks first") };
    let name = |name: &str| -> Outcome { Ok(Raw::of(&json!({"action": "accept", "content": {"name": name}}))) };
    running.answer(Answers::one("name", name("Ada"))).await.unwrap();
    let Step::Done(Ok(created)) = running.step().await.unwrap() else { panic!("it becomes a task") };
    let created: Value = created.read().unwrap();
    assert_eq!(created["resultType"], "task");
    assert!(created.get("requestState").is_none());
    let state = settled(&connection, &created["taskId"]).await;
    assert_eq!(state["inputRequests"].as_object().unwrap().len(), 1);
    let responses = json!({"name2": {"action": "accept", "content": {"name": "!"}}});
    ask(&connection, Method::TasksUpdate, json!({"taskId": created["taskId"], "inputResponses": responses}))
        .await
        .unwrap();
    assert_eq!(settled(&connection, &created["taskId"]).await["result"]["content"][0]["text"], "Ada!");
}

#[tokio::test]
async fn the_core_of_2025_11_25_has_tasks_of_its_own() {
    // rules 167 to 171
    let connection = meet(&server(), Revision::LATEST_LEGACY, Principal::Local, false).await;
    let start = |name: &str| ask(&connection, Method::ToolsCall, json!({"name": name, "task": {"ttl": 60_000}}));
    assert_eq!(call(&connection, "job").await.unwrap()["content"][0]["text"], "done");
    assert_eq!(call(&connection, "only").await.unwrap_err().code, -32601);
    assert_eq!(start("quick").await.unwrap_err().code, -32601);
    let task = start("sad").await.unwrap()["task"].clone();
    assert_eq!((&task["ttl"], &task["status"]), (&json!(60_000), &json!("working")));
    let id = json!({"taskId": task["taskId"]});
    let result = ask(&connection, Method::TasksResult, id.clone()).await.unwrap();
    assert_eq!(result["content"][0]["text"], "no");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"], id);
    assert_eq!(ask(&connection, Method::TasksGet, id.clone()).await.unwrap()["status"], "failed");
    assert_eq!(ask(&connection, Method::TasksCancel, id).await.unwrap_err().code, -32602);
    let forever = json!({"taskId": start("forever").await.unwrap()["task"]["taskId"]});
    assert_eq!(ask(&connection, Method::TasksCancel, forever.clone()).await.unwrap()["status"], "cancelled");
    assert!(ask(&connection, Method::TasksResult, forever).await.is_err());
    let list = ask(&connection, Method::TasksList, json!({})).await.unwrap();
    assert_eq!(list["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(ask(&connection, Method::TasksList, json!({"cursor": "x"})).await.unwrap_err().code, -32602);
    assert_eq!(ask(&connection, Method::TasksUpdate, json!({"taskId": "x"})).await.unwrap_err().code, -32601);
}

#[tokio::test]
async fn questions_of_a_core_task_come_while_its_result_is_awaited() {
    // rule 169
    let client = Client::builder("c", "1")
        .revision(Revision::LATEST_LEGACY)
        .on_form(|form| async move {
            assert!(form.meta.unwrap().get("io.modelcontextprotocol/related-task").is_some());
            ElicitResult::accept([("name", Raw::of(&form.message))].into_iter().collect())
        })
        .connect(server())
        .await
        .unwrap();
    let call = json!({"name": "ask", "task": {}});
    let created: Value = client.request(Method::ToolsCall, Raw::of(&call)).await.unwrap().read().unwrap();
    let id = json!({"taskId": created["task"]["taskId"]});
    assert_eq!(settled(&client.connection(), &created["task"]["taskId"]).await["status"], "input_required");
    let result: Value = client.request(Method::TasksResult, Raw::of(&id)).await.unwrap().read().unwrap();
    assert_eq!(result["content"][0]["text"], "A?B?");
}

#[tokio::test]
async fn who_cannot_be_asked_is_told_so_where_it_awaits_the_result_of_a_core_task() {
    let server = server();
    let asked = meet(&server, Revision::LATEST_LEGACY, Principal::Local, false).await;
    let created = ask(&asked, Method::ToolsCall, json!({"name": "ask", "task": {}})).await.unwrap();
    let id = json!({"taskId": created["task"]["taskId"]});
    settled(&asked, &created["task"]["taskId"]).await;
    let deaf = Client::builder("c", "1").revision(Revision::LATEST_LEGACY).connect(server).await.unwrap();
    let refused = deaf.request(Method::TasksResult, Raw::of(&id)).await;
    assert!(matches!(&refused, Err(crate::client::ClientError::Refused(_))), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_waits_for_an_answer_as_long_as_it_is_kept() {
    let server = server().task_store(super::MemoryStore::default(), std::time::Duration::from_secs(30));
    let connection = meet(&server, Revision::LATEST, Principal::Local, true).await;
    let id = call(&connection, "ask").await.unwrap()["taskId"].as_str().unwrap().to_owned();
    let mut listening = connection.listen(Filter::task(&id)).await.unwrap();
    let last = loop {
        let state = told(&mut listening).await;
        if state["status"] != "input_required" && state["status"] != "working" {
            break state;
        }
    };
    let text = last["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("as long as the task is kept"), "{last}");
}

/// A store of texts, one of whose writes is slow.
#[derive(Clone, Default)]
struct Texts(Arc<Drawer>);

#[derive(Default)]
struct Drawer {
    texts: std::sync::Mutex<std::collections::BTreeMap<String, String>>,
    go: tokio::sync::Notify,
}

impl Texts {
    fn find(&self, id: &str) -> Option<super::TaskRecord> {
        self.0.texts.lock().unwrap().get(id).map(|text| serde_json::from_str(text).unwrap())
    }
}

impl super::TaskStore for Texts {
    async fn put(&self, record: super::TaskRecord) -> crate::Result<()> {
        if record.message.as_deref() == Some("slow") {
            self.0.go.notified().await;
        }
        self.0.texts.lock().unwrap().insert(record.id.clone(), serde_json::to_string(&record)?);
        Ok(())
    }

    async fn get(&self, id: &str) -> crate::Result<Option<super::TaskRecord>> {
        Ok(self.find(id))
    }

    async fn list(&self, _: &Principal, _: Option<&str>, _: usize) -> crate::Result<Vec<super::TaskRecord>> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_store_that_is_slow_ends_with_what_came_last() {
    let (texts, said) = (Texts::default(), Arc::new(tokio::sync::Notify::new()));
    let (drawer, done) = (texts.clone(), Arc::clone(&said));
    let tool = Tool::new("job", "", move |cx: Ctx| {
        let (drawer, done) = (drawer.clone(), Arc::clone(&done));
        async move {
            let quick = async {
                cx.progress(2.0).saying("quick").await;
                drawer.0.go.notify_one();
            };
            tokio::join!(cx.progress(1.0).saying("slow").into_future(), quick);
            done.notify_one();
            std::future::pending::<()>().await;
        }
    });
    let server = Server::new("t", "1").tool(tool.task()).task_store(texts.clone(), std::time::Duration::from_secs(60));
    let connection = meet(&server, Revision::LATEST, Principal::Named("me".into()), true).await;
    let id = call(&connection, "job").await.unwrap()["taskId"].as_str().unwrap().to_owned();
    said.notified().await;
    assert_eq!(texts.find(&id).unwrap().message.as_deref(), Some("quick"));
}

#[tokio::test]
async fn what_a_store_wrote_is_found_after_a_new_beginning() {
    let texts = Texts::default();
    let life = std::time::Duration::from_secs(60);
    let meet = async || {
        let server = server().task_store(texts.clone(), life);
        let connection = meet(&server, Revision::LATEST, Principal::Named("me".into()), true).await;
        (server, connection)
    };
    let (server, connection) = meet().await;
    let mut states = Vec::new();
    for tool in ["job", "wrong", "ask"] {
        let id = call(&connection, tool).await.unwrap()["taskId"].clone();
        states.push((id.clone(), settled(&connection, &id).await));
    }
    drop((server, connection));
    let (_server, connection) = meet().await;
    for (id, state) in states {
        assert_eq!(ask(&connection, Method::TasksGet, json!({"taskId": id})).await.unwrap(), state);
    }
}

/// The next state that a listener is told, in its own words.
async fn told(listening: &mut Listening) -> Value {
    match listening.next().await {
        Some(Change::Task(task)) => {
            let state: Value = task.state.read().unwrap();
            assert_eq!(state["taskId"], task.id);
            state
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn rule_175_only_who_declares_the_extension_may_listen_to_tasks() {
    let server = server();
    let with = meet(&server, Revision::LATEST, Principal::Local, true).await;
    let without = meet(&server, Revision::LATEST, Principal::Local, false).await;
    let id = call(&with, "forever").await.unwrap()["taskId"].clone();
    let params = json!({"notifications": {"taskIds": [id], "toolsListChanged": true}});
    let refused = ask(&without, Method::Listen, params).await.unwrap_err();
    assert_eq!(refused.code, -32021);
    let needed: Value = refused.data.unwrap().read().unwrap();
    assert_eq!(needed, json!({"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}));
    let id = id.as_str().unwrap();
    let listening = with.listen(Filter::task(id)).await.unwrap();
    assert_eq!(listening.filter(), &Filter::task(id));
    // Our own client asks for no more than it may.
    assert!(without.listen(Filter::task(id)).await.unwrap().filter().is_empty());
}

#[tokio::test]
async fn rules_175_176_184_a_listener_is_told_all_that_tasks_get_would_say() {
    let connection = meet(&server(), Revision::LATEST, Principal::Local, true).await;
    let id = call(&connection, "ask").await.unwrap()["taskId"].clone();
    let other = call(&connection, "forever").await.unwrap()["taskId"].clone();
    settled(&connection, &id).await;
    let mut listening = connection.listen(Filter::task(id.as_str().unwrap())).await.unwrap();
    let get = async || {
        let mut state = ask(&connection, Method::TasksGet, json!({"taskId": id})).await.unwrap();
        let kind = state.as_object_mut().unwrap().shift_remove("resultType");
        state.as_object_mut().unwrap().shift_remove("_meta");
        assert_eq!(kind, Some(json!("complete")), "results say what they are, notifications do not");
        state
    };
    let now = told(&mut listening).await;
    assert_eq!((&now, &now["status"]), (&get().await, &json!("input_required")), "where it stands is told at once");
    ask(&connection, Method::TasksCancel, json!({"taskId": other})).await.unwrap();
    for key in ["a", "b"] {
        let responses = json!({ key: {"action": "accept", "content": {"name": key}} });
        let params = json!({"taskId": id, "inputResponses": responses});
        ask(&connection, Method::TasksUpdate, params).await.unwrap();
    }
    let last = loop {
        let state = told(&mut listening).await;
        if state["status"] == "completed" {
            break state;
        }
        assert!(state["status"] == "input_required" || state["status"] == "working", "{state}");
    };
    assert_eq!((&last, &last["result"]["content"][0]["text"]), (&get().await, &json!("ab")));
    let mut late = connection.listen(Filter::task(id.as_str().unwrap())).await.unwrap();
    assert_eq!(told(&mut late).await, last, "of one that is over, its end");
    for (tool, status, has) in [("wrong", "failed", "error"), ("sad", "completed", "result")] {
        let id = call(&connection, tool).await.unwrap()["taskId"].clone();
        settled(&connection, &id).await;
        let mut listening = connection.listen(Filter::task(id.as_str().unwrap())).await.unwrap();
        let state = told(&mut listening).await;
        assert!(state["status"] == status && state[has].is_object(), "{state}");
    }
}

#[tokio::test]
async fn rules_184_196_nobody_is_told_of_tasks_of_others() {
    let server = server();
    let mine = meet(&server, Revision::LATEST, Principal::Named("me".into()), true).await;
    let yours = meet(&server, Revision::LATEST, Principal::Named("you".into()), true).await;
    let id = call(&mine, "forever").await.unwrap()["taskId"].as_str().unwrap().to_owned();
    let own = call(&yours, "forever").await.unwrap()["taskId"].as_str().unwrap().to_owned();
    let all = Filter { tasks: [id.clone(), own.clone(), "nobody's".into()].into(), ..Filter::default() };
    let mut listening = yours.listen(all).await.unwrap();
    assert_eq!(listening.filter(), &Filter::task(&own), "what is not theirs is as if it were not there");
    assert_eq!(told(&mut listening).await["taskId"], own);
    ask(&mine, Method::TasksCancel, json!({"taskId": id})).await.unwrap();
    ask(&yours, Method::TasksCancel, json!({"taskId": own})).await.unwrap();
    let state = told(&mut listening).await;
    assert_eq!((&state["taskId"], &state["status"]), (&json!(own), &json!("cancelled")));
    let many: std::collections::BTreeSet<String> = (0..1001).map(|n| n.to_string()).collect();
    let params = json!({"notifications": {"taskIds": many}});
    let refused = ask(&mine, Method::Listen, params).await.unwrap_err();
    assert!(refused.code == -32602 && refused.message.contains("listened_tasks"), "{refused}");
}
