use std::{num::NonZeroUsize, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Step, Wishes},
    greeting::Introduction,
    peer::Call,
    types::{CallToolResult, ContentBlock, ListToolsResult},
};
use toolbay_transport::{Approach, Connection, connect, duplex::Options};

use super::*;
use crate::{JsonSchema, Result, ToolError, server::Suggestions};

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The first of the two.
    left: i64,
    right: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Id {
    id: u32,
}

struct Shop {
    name: &'static str,
}

fn server() -> Server<Shop> {
    Server::new("sums", "1.0.0")
        .state(Shop { name: "corner" })
        .on_error(|_| {})
        .list_changed()
        .tool(Tool::new("add", "Adds", |args: Add| async move { Json(Sum { sum: args.left + args.right }) }))
        .tool(Tool::new("shop", "", |shop: State<Shop>| async move { shop.name }))
        .tool(Tool::new("boom", "", || async { panic!("out of coal") as () }))
        .tool(Tool::new("sad", "", || async { Err::<(), _>(ToolError::new("no").hint("try yes")) }))
        .tool(Tool::new("sound", "", || async { ContentBlock::audio("AAAA", "audio/wav") }))
        .tool(Tool::new("steps", "", |cx: Ctx| async move {
            for step in [1.0, 2.0, 2.0, 3.0] {
                cx.progress(step).of(3.0).await;
            }
            cx.info("done").await;
        }))
        .resource(Resource::new("config://app", "config", || async { "x = 1" }))
        .template(
            Template::new("order://{id}", "order", |order: Id, shop: State<Shop>| async move {
                (order.id < 10).then(|| format!("order {} of {}", order.id, shop.name))
            })
            .complete("id", |typed, _| async move { Suggestions::beginning(&typed.value, ["1", "12", "2"]) }),
        )
        .prompt(Prompt::new("week", "A week", |args: Id| async move { format!("week {}", args.id) }))
}

async fn meet<S: Send + Sync + 'static>(server: Server<S>, revision: Revision) -> Connection {
    let mut approach = Approach::new(Introduction::anonymous(revision));
    approach.revision = Some(revision);
    connect::memory(Arc::new(server), Options::default(), approach).await.unwrap()
}

async fn ask(connection: &Connection, method: Method, params: Value) -> Result<Value, ErrorObject> {
    connection.request(Call::new(method, Some(Raw::of(&params)))).await.unwrap().map(|raw| raw.read().unwrap())
}

async fn call(connection: &Connection, name: &str, arguments: Value) -> CallToolResult {
    let params = Raw::of(&json!({"name": name, "arguments": arguments}));
    let outcome = connection.request(Call::new(Method::ToolsCall, Some(params))).await.unwrap();
    outcome.unwrap().read().unwrap()
}

#[tokio::test]
async fn every_revision_lists_and_calls() {
    for revision in Revision::ALL {
        let connection = meet(server(), revision).await;
        let list = connection.request(Call::new(Method::ToolsList, None)).await.unwrap().unwrap();
        let list: ListToolsResult = list.read().unwrap();
        assert_eq!(list.tools.len(), 6);
        assert_eq!(list.tools[0].output_schema.is_some(), revision.has(toolbay_protocol::Feature::StructuredOutput));
        let sum = call(&connection, "add", json!({"left": 1, "right": 2})).await;
        assert_eq!(sum.content[0].as_text(), Some(r#"{"sum":3}"#));
        assert_eq!(call(&connection, "shop", json!({})).await.content[0].as_text(), Some("corner"));
        let sound = call(&connection, "sound", json!({})).await;
        assert_eq!(sound.content[0].as_text().is_none(), revision.has(toolbay_protocol::Feature::Audio));
    }
}

#[tokio::test]
async fn failures_reach_whom_they_are_for() {
    let connection = meet(server(), Revision::LATEST).await;
    let check = |result: &CallToolResult, expected: &str| {
        let text = result.content[0].as_text().unwrap();
        assert!(result.failed() && text.contains(expected), "{text}");
    };
    check(&call(&connection, "add", json!({"left": "x", "right": 2})).await, "`left`: invalid type");
    check(&call(&connection, "add", json!({"left": 1})).await, "missing field `right`");
    check(&call(&connection, "sad", json!({})).await, "no (try yes)");
    check(&call(&connection, "boom", json!({})).await, "tool `boom` failed");
    // The server is still there.
    assert_eq!(call(&connection, "shop", json!({})).await.content[0].as_text(), Some("corner"));
    let code = |outcome: Result<Value, ErrorObject>| outcome.unwrap_err().code;
    assert_eq!(code(ask(&connection, Method::ToolsCall, json!({"name": "nope"})).await), -32602);
    assert_eq!(code(ask(&connection, Method::ToolsCall, json!({"name": "add", "arguments": [1]})).await), -32602);
    assert_eq!(code(ask(&connection, Method::ToolsList, json!({"cursor": "x"})).await), -32602);
    assert_eq!(code(ask(&connection, Method::PromptsGet, json!({"name": "nope"})).await), -32602);
    assert_eq!(code(ask(&connection, Method::PromptsGet, json!({"name": "week"})).await), -32602);
    let missing = json!({"uri": "order://99"});
    assert_eq!(code(ask(&connection, Method::ResourcesRead, missing.clone()).await), -32602);
    let legacy = meet(server(), Revision::LATEST_LEGACY).await;
    assert_eq!(code(ask(&legacy, Method::ResourcesRead, missing).await), -32002);
}

#[tokio::test]
async fn resources_prompts_and_completions_are_served() {
    let connection = meet(server(), Revision::LATEST).await;
    let read = ask(&connection, Method::ResourcesRead, json!({"uri": "order://7"})).await.unwrap();
    assert_eq!(read["contents"], json!([{"uri": "order://7", "mimeType": "text/plain", "text": "order 7 of corner"}]));
    let list = ask(&connection, Method::ResourcesList, json!({})).await.unwrap();
    assert_eq!(list["resources"], json!([{"uri": "config://app", "name": "config"}]));
    let prompts = ask(&connection, Method::PromptsList, json!({})).await.unwrap();
    let hole = json!([{"name": "id", "required": true}]);
    assert_eq!(prompts["prompts"], json!([{"name": "week", "description": "A week", "arguments": hole}]));
    let got = ask(&connection, Method::PromptsGet, json!({"name": "week", "arguments": {"id": "7"}})).await.unwrap();
    assert_eq!(got["messages"], json!([{"role": "user", "content": {"type": "text", "text": "week 7"}}]));
    let typed =
        json!({"ref": {"type": "ref/resource", "uri": "order://{id}"}, "argument": {"name": "id", "value": "1"}});
    let completed = ask(&connection, Method::Complete, typed).await.unwrap();
    assert_eq!(completed["completion"], json!({"values": ["1", "12"], "total": 2, "hasMore": false}));
}

#[tokio::test]
async fn progress_grows_and_log_comes_only_where_it_is_wanted() {
    let connection = meet(server(), Revision::LATEST).await;
    let params = Some(Raw::of(&json!({"name": "steps"})));
    let wishes = Wishes { log_level: Some("info".into()), ..Wishes::progress() };
    let mut running = connection.call(Call { wishes, ..Call::new(Method::ToolsCall, params) }).await.unwrap();
    let mut seen = Vec::new();
    loop {
        match running.step().await.unwrap() {
            Step::Note(note) => {
                let params = note.params.unwrap();
                seen.push(params.get("progress").or_else(|| params.get("data")).map(|raw| format!("{raw:?}")).unwrap());
            }
            Step::Done(outcome) => break assert!(outcome.is_ok()),
            Step::Away(_) | Step::Withdrawn(_) | Step::Ask(_) => unreachable!("nothing is asked"),
        }
    }
    assert_eq!(seen, ["1.0", "2.0", "3.0", "\"done\""]);
}

#[tokio::test]
async fn pages_hold_so_many_and_changes_are_told() {
    let size = NonZeroUsize::new(4).unwrap();
    let server = server().page_size(size);
    let handle = server.handle();
    let connection = meet(server, Revision::LATEST).await;
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let page = ask(&connection, Method::ToolsList, params).await.unwrap();
        names.extend(page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        match page.get("nextCursor") {
            Some(next) => params = json!({"cursor": next}),
            None => break,
        }
    }
    assert_eq!(names, ["add", "shop", "boom", "sad", "sound", "steps"]);
    let mut watch = handle.watch_for_tests();
    assert_eq!(handle.add_tool(Tool::new("late", "", || async {})), super::Added::New);
    assert_eq!(watch.next().await, Some(toolbay_protocol::watch::Change::Tools));
    assert!(!call(&connection, "late", json!({})).await.failed());
}

#[tokio::test]
async fn what_is_hidden_cannot_be_used_either() {
    let server = server().visible(|_, item| !item.name().starts_with(['a', 'o', 'w']));
    let connection = meet(server, Revision::LATEST).await;
    let list = ask(&connection, Method::ToolsList, json!({})).await.unwrap();
    assert_eq!(list["tools"].as_array().unwrap().len(), 5);
    for (method, params) in [
        (Method::ToolsCall, json!({"name": "add", "arguments": {"left": 1, "right": 2}})),
        (Method::PromptsGet, json!({"name": "week", "arguments": {"id": "1"}})),
        (Method::ResourcesRead, json!({"uri": "order://1"})),
    ] {
        assert_eq!(ask(&connection, method, params).await.unwrap_err().code, -32602);
    }
}

#[tokio::test]
async fn what_is_hidden_is_neither_read_another_way_nor_watched_nor_shared() {
    use std::time::Duration;

    use toolbay_protocol::{types::CacheScope, watch::Filter};
    use toolbay_transport::Service as _;

    #[derive(Deserialize, JsonSchema)]
    struct Rest {
        rest: String,
    }

    let read = |rest: Rest| async move { rest.rest };
    let server = Server::new("s", "1")
        .subscribable()
        .cache_lists(Duration::from_secs(9), CacheScope::Public)
        .cache_reads(Duration::from_secs(9), CacheScope::Public)
        .tool(Tool::new("hidden-tool", "", |args: Id| async move { args.id }).header("id", "Id"))
        .resource(Resource::new("a:/secret", "hidden", || async { "x" }))
        .template(Template::new("a:/inner/{rest}", "hidden", read))
        .template(Template::new("a:/{+rest}", "all", read))
        .lister(|_, _| async { Ok(Page::last([])) })
        .visible(|_, item| !item.name().starts_with("hidden"));
    let connection = meet(server.clone(), Revision::LATEST).await;
    for uri in ["a:/secret", "a:/inner/1"] {
        let hidden = ask(&connection, Method::ResourcesRead, json!({"uri": uri})).await.unwrap_err();
        let missing = ask(&connection, Method::ResourcesRead, json!({"uri": "b:/"})).await.unwrap_err();
        assert_eq!((hidden.code, hidden.message), (missing.code, missing.message.replace("b:/", uri)));
    }
    let open = ask(&connection, Method::ResourcesRead, json!({"uri": "a:/open"})).await.unwrap();
    assert_eq!((&open["contents"][0]["text"], &open["cacheScope"]), (&json!("open"), &json!("private")));
    for method in [Method::ToolsList, Method::ResourcesList, Method::TemplatesList] {
        let list = ask(&connection, method, json!({})).await.unwrap();
        assert_eq!((&list["ttlMs"], &list["cacheScope"]), (&json!(9_000), &json!("private")));
    }
    let introduction = Arc::new(Introduction::anonymous(Revision::LATEST));
    let principal = toolbay_transport::Principal::Local;
    let caller = Arc::new(toolbay_transport::Caller { introduction, principal, session: None, device: None });
    let uris = ["a:/secret", "a:/inner/1", "b:/", "a:/open"].map(str::to_owned).into();
    let watch = server.watch(&caller, Filter { uris, ..Filter::default() }).await.unwrap();
    assert_eq!(watch.filter(), &Filter::resource("a:/open"));
    assert!(server.header_plan(&caller, "hidden-tool").is_none());
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_function_has_the_same_time() {
    let forever = || std::future::pending::<String>();
    let server = Server::new("s", "1")
        .call_deadline(std::time::Duration::from_secs(5))
        .resource(Resource::new("a:1", "one", forever))
        .prompt(
            Prompt::new("p", "", |_: Id| std::future::pending::<String>())
                .complete("id", |_, _| std::future::pending::<Suggestions>()),
        )
        .lister(|_, _| std::future::pending());
    let connection = meet(server, Revision::LATEST).await;
    let complete = json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "id", "value": ""}});
    for (method, params) in [
        (Method::ResourcesRead, json!({"uri": "a:1"})),
        (Method::ResourcesList, json!({})),
        (Method::PromptsGet, json!({"name": "p", "arguments": {"id": "1"}})),
        (Method::Complete, complete),
    ] {
        let late = ask(&connection, method, params).await.unwrap_err();
        assert!(late.message.contains("within 5s (limit `call_deadline`)"), "{late}");
    }
}

#[tokio::test]
async fn what_was_added_at_run_time_is_taken_away_again() {
    let handle = server().handle();
    let template =
        || Template::new("late://{id}", "late", |order: Id, _: State<Shop>| async move { order.id.to_string() });
    assert_eq!((handle.add_template(template()), handle.add_template(template())), (Added::New, Added::Replaced));
    let mut watch = handle.watch_for_tests();
    assert_eq!(
        (handle.remove_template("late://{id}"), handle.remove_template("late://{id}")),
        (Removed::Gone, Removed::Unknown)
    );
    assert_eq!(watch.next().await, Some(toolbay_protocol::watch::Change::Resources));
}

#[tokio::test]
async fn a_panic_around_a_request_ends_that_request_alone() {
    let server = server().visible(|_, item| item.name() != "boom" || panic!("blind")).around(|request, next| {
        assert!(request.method != Method::PromptsList, "no prompts");
        next.run(request)
    });
    let connection = meet(server, Revision::LATEST).await;
    for (method, params, what) in [
        (Method::PromptsList, json!({}), "request `prompts/list` failed: panicked: no prompts"),
        (Method::ToolsCall, json!({"name": "boom"}), "request `tools/call` failed: panicked: blind"),
    ] {
        let error = ask(&connection, method, params).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32603, what));
    }
    assert_eq!(call(&connection, "shop", json!({})).await.content[0].as_text(), Some("corner"));
}

#[tokio::test]
async fn a_context_is_printed_without_arguments() {
    let server = Server::new("s", "1").tool(Tool::new("show", "", |_: Id, cx: Ctx| async move { format!("{cx:?}") }));
    let connection = meet(server, Revision::LATEST).await;
    let shown = call(&connection, "show", json!({"id": 987_654})).await;
    let shown = shown.content[0].as_text().unwrap();
    assert!(shown.contains("tools/call") && !shown.contains("987654"), "{shown}");
}

#[tokio::test]
async fn what_stands_around_sees_each_request_in_order_and_may_refuse_it() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let seen = Arc::clone(&seen);
        move |request: toolbay_transport::Request, next: Next| {
            seen.lock().unwrap().push(format!("{name} {}", request.method));
            async move {
                if request.method == Method::PromptsList {
                    return Err(ErrorObject::invalid_params("not today"));
                }
                next.run(request).await
            }
        }
    };
    let connection = meet(server().around(note("inner")).around(note("outer")), Revision::LATEST).await;
    assert_eq!(call(&connection, "shop", json!({})).await.content[0].as_text(), Some("corner"));
    assert_eq!(ask(&connection, Method::PromptsList, json!({})).await.unwrap_err().message, "not today");
    assert_eq!(*seen.lock().unwrap(), ["outer tools/call", "inner tools/call", "outer prompts/list"]);
}

#[tokio::test(start_paused = true)]
async fn a_function_that_takes_too_long_is_stopped_and_the_model_is_told() {
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        time::Duration,
    };

    use crate::{
        Client,
        client::ResultExt as _,
        types::{Dict, ElicitResult},
    };

    struct Dropped(Arc<AtomicBool>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    const LIMIT: Duration = Duration::from_secs(5);
    let dropped = Arc::new(AtomicBool::new(false));
    let guard = Arc::clone(&dropped);
    let endless = move || {
        let guard = Dropped(Arc::clone(&guard));
        async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        }
    };
    let slow = || async {
        tokio::time::advance(3 * LIMIT).await;
        "slow"
    };
    let server = Server::new("s", "1")
        .call_deadline(LIMIT)
        .tool(Tool::new("quick", "", || async { "quick" }))
        .tool(Tool::new("endless", "", endless))
        .tool(Tool::new("job", "", slow).task())
        .tool(Tool::new("asks", "", |cx: Ctx| async move {
            let yes = cx.confirm("go", "Go on?").await?.accepted().is_some();
            Ok::<_, crate::Fail>(yes.to_string())
        }));
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = Client::builder("c", "1")
            .revision(revision)
            .tasks()
            .on_form(|_| async {
                tokio::time::advance(3 * LIMIT).await;
                ElicitResult::accept(Dict::new())
            })
            .connect(server.clone())
            .await
            .unwrap();
        assert_eq!(client.call("quick", &()).await.unwrap().texts(), "quick");
        let late = client.call("endless", &()).await.unwrap();
        assert!(late.failed() && late.texts().contains("within 5s (limit `call_deadline`)"), "{}", late.texts());
        assert!(dropped.swap(false, Ordering::SeqCst), "{revision}");
        assert_eq!(client.call("asks", &()).await.unwrap().texts(), "true", "{revision}: people may think");
        let job = client.call("job", &()).start().await.unwrap();
        let crate::client::Started::Task(job) = job else { panic!("it is a task") };
        assert_eq!(job.result().await.unwrap().texts(), "slow", "{revision}: a task has time");
    }
}
