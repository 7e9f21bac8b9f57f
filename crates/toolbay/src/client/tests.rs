use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

use serde_json::json;
use toolbay_protocol::{
    Revision,
    types::Root,
    watch::{Change, Filter},
};

use super::*;
use crate::{
    Ctx, Fail, JsonSchema, Prompt, Resource, Server, Template, Tool, ToolError,
    serde::Deserialize,
    server::Suggestions,
    types::{CreateMessageResult, Dict, ElicitResult, Reference},
};

#[derive(Deserialize, JsonSchema)]
struct Name {
    #[serde(default = "nobody")]
    name: String,
}

fn nobody() -> String {
    "nobody".into()
}

fn server(reads: &Arc<AtomicU32>) -> Server {
    let reads = Arc::clone(reads);
    Server::new("s", "1")
        .list_changed()
        .subscribable()
        .cache_reads(std::time::Duration::from_secs(60), crate::types::CacheScope::Private)
        .page_size(2.try_into().unwrap())
        .tool(Tool::new("greet", "", |cx: Ctx| async move {
            let name: Name = cx.ask("name", "Who?").await?;
            let said = cx.sample_text("say", format!("Greet {}", name.name), 9).await?;
            Ok::<_, Fail>(format!("{said}, {} roots", cx.roots("roots").await?.len()))
        }))
        .tool(Tool::new("walk", "", |cx: Ctx| async move {
            cx.progress(1.0).of(2.0).saying("half").await;
            cx.progress(2.0).of(2.0).await;
        }))
        .tool(Tool::new("fail", "", || async { Err::<(), _>(ToolError::new("no")) }))
        .resource(Resource::new("a:1", "one", move || {
            reads.fetch_add(1, Ordering::SeqCst);
            async { "one" }
        }))
        .template(Template::new("b:{name}", "b", |name: Name| async move { name.name }))
        .prompt(
            Prompt::new("p", "", |name: Name| async move { name.name })
                .complete("name", |typed, _| async move { Suggestions::beginning(&typed.value, ["ada", "bob"]) }),
        )
}

#[tokio::test]
async fn every_revision_does_it_all() {
    for revision in Revision::ALL {
        let changes = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&changes);
        let reads = Arc::default();
        let server = server(&reads);
        let handle = server.handle();
        let woken = Arc::new(tokio::sync::Notify::new());
        let wake = Arc::clone(&woken);
        let client = Client::builder("c", "1")
            .revision(revision)
            .on_change(move |change| {
                heard.lock().unwrap().push(change);
                wake.notify_one();
            })
            .connect(server)
            .await
            .unwrap();
        assert_eq!(client.revision(), revision);
        assert_eq!(client.server().unwrap().name, "s");
        assert_eq!(client.tools().all().await.unwrap().len(), 3);
        assert_eq!(client.prompts().all().await.unwrap()[0].name, "p");
        assert_eq!(client.templates().all().await.unwrap()[0].name, "b");
        let mut told = Vec::new();
        client.call("walk", &()).on_progress(|step| told.push(step.done)).await.unwrap();
        assert_eq!(told, [1.0, 2.0], "{revision}");
        let failed = client.call("fail", &()).await.unwrap();
        assert!(matches!(failed.json::<()>(), Err(ClientError::Tool(what)) if what == "no"));
        assert!(matches!(client.call("none", &()).await, Err(ClientError::Refused(error)) if error.code == -32602));
        let prompt = client.prompt("p", &json!({"name": "x"})).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("x"));
        if revision != Revision::V2024_11_05 {
            let done = client.complete(Reference::prompt("p"), "name", "a", Dict::new()).await.unwrap();
            assert_eq!(done.values, ["ada"]);
        }
        let watch = client.watch(Filter::resource("a:1")).await.unwrap();
        handle.updated("a:1");
        woken.notified().await;
        assert_eq!(*changes.lock().unwrap(), [Change::Updated("a:1".into())]);
        drop(watch);
        client.ping().await.unwrap();
        client.close().await;
    }
}

#[tokio::test]
async fn handlers_answer_what_a_tool_asks_in_both_eras() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = Client::builder("c", "1")
            .revision(revision)
            .on_form(|_| async { ElicitResult::accept(Dict::new()) })
            .on_sample(|asked| async move {
                let said = format!("{:?}", asked.messages[0].content.as_slice()[0].as_text());
                Ok(CreateMessageResult::text("m", said))
            })
            .roots([Root::new("file:///a")])
            .connect(server(&Arc::default()))
            .await
            .unwrap();
        let greeting = client.call("greet", &()).await.unwrap();
        assert_eq!(greeting.texts(), "Some(\"Greet nobody\"), 1 roots", "{revision}");
        let name = json!({"action": "accept", "content": {"name": "Ada"}});
        let greeting = client.call("greet", &()).answer("name", &name).await.unwrap();
        assert_eq!(greeting.texts(), "Some(\"Greet Ada\"), 1 roots", "{revision}");
    }
}

#[tokio::test]
async fn what_may_be_kept_is_not_read_again_until_it_changes() {
    let reads = Arc::default();
    let server = server(&reads);
    let client = Client::connect(server).await.unwrap();
    for _ in 0..3 {
        assert_eq!(client.read("a:1").await.unwrap().contents[0].text.as_deref(), Some("one"));
    }
    assert_eq!(reads.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn tasks_are_waited_for_or_watched() {
    // rule 183
    let job = |cx: Ctx| async move {
        let name: Name = cx.ask("name", "Who?").await?;
        Ok::<_, Fail>(name.name)
    };
    let server = Server::new("s", "1").tool(Tool::new("job", "", job).task());
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = Client::builder("c", "1")
            .revision(revision)
            .tasks()
            .on_form(|_| async { ElicitResult::accept(Dict::new()) })
            .connect(server.clone())
            .await
            .unwrap();
        assert_eq!(client.call("job", &()).await.unwrap().texts(), "nobody", "{revision}");
        let Started::Task(task) = client.call("job", &()).start().await.unwrap() else { panic!("it is a task") };
        assert_eq!(task.result().await.unwrap().texts(), "nobody", "{revision}");
        let again = RemoteTask::known(&client, task.id());
        assert_eq!(again.state().await.unwrap().status, crate::types::TaskStatus::Completed);
    }
}

#[cfg(feature = "validate")]
#[tokio::test]
async fn results_are_held_against_what_was_promised() {
    // rule 133
    use crate::{Raw, server::Arguments, types::CallToolResult};

    let schema = Raw::of(&json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}));
    let back = |args: Arguments| async move { CallToolResult::structured(args.0) };
    let tool = Tool::new("back", "", back).output_schema(schema.clone());
    let strict = Tool::new("strict", "", |_: Arguments| async {}).input_schema(schema);
    let client = Client::connect(Server::new("s", "1").tool(tool).tool(strict)).await.unwrap();
    assert!(client.call("back", &json!({"n": "x"})).await.is_ok(), "nothing is known of it yet");
    client.tools().all().await.unwrap();
    assert!(client.call("back", &json!({"n": 1})).await.is_ok());
    let error = client.call("back", &json!({"n": "x"})).await.unwrap_err();
    assert!(matches!(&error, ClientError::Misfit(what) if what.contains("`n`")), "{error}");
    assert!(client.call("back", &json!({"n": "x"})).unchecked().await.is_ok());
    let refused = client.call("strict", &json!({"n": "x"})).await.unwrap();
    assert!(refused.failed() && refused.texts().contains("`n`"), "{}", refused.texts());
}

#[tokio::test(start_paused = true)]
async fn a_task_may_take_longer_than_a_call_and_no_longer_than_a_deadline() {
    use std::time::Duration;

    let job = || async {
        // The clock is a fake one: five minutes pass at once.
        let _ = tokio::time::timeout(Duration::from_secs(300), std::future::pending::<()>()).await;
        "done"
    };
    let server = Server::new("s", "1").tool(Tool::new("job", "", job).task());
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = Client::builder("c", "1").revision(revision).tasks().connect(server.clone()).await.unwrap();
        let Started::Task(task) = client.call("job", &()).start().await.unwrap() else { panic!("it is a task") };
        assert_eq!(task.result().await.unwrap().texts(), "done", "{revision}");
        let began = tokio::time::Instant::now();
        let late = client.call("job", &()).deadline(Duration::from_secs(9)).await.unwrap_err();
        assert!(matches!(&late, ClientError::Link(error) if error.kind() == crate::transport::Kind::Overdue), "{late}");
        assert_eq!(began.elapsed().as_secs(), 9, "{revision}");
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_is_the_callers_own_fault() {
    let client = Client::connect(server(&Arc::default())).await.unwrap();
    let unwritable = std::collections::BTreeMap::from([((1, 2), 3)]);
    let flaws = [
        client.call("walk", &[1]).await.unwrap_err(),
        client.call("walk", &unwritable).await.unwrap_err(),
        client.call("walk", &()).meta("x").await.unwrap_err(),
        client.call("greet", &()).answer("name", &unwritable).await.unwrap_err(),
        client.prompt("p", &["x"]).await.unwrap_err(),
    ];
    for flaw in flaws {
        assert!(matches!(&flaw, ClientError::Misuse(_)), "{flaw}");
        assert!(!flaw.to_string().contains("server"), "{flaw}");
    }
}

#[tokio::test]
async fn a_lost_server_is_met_again_by_calls_and_by_watches() {
    let (reads, heard) = (Arc::default(), Arc::new(tokio::sync::Notify::new()));
    let (server, hear) = (server(&reads), Arc::clone(&heard));
    let handle = server.handle();
    let builder = Client::builder("c", "1").on_change(move |_| hear.notify_one());
    let client = builder.connect(server).await.unwrap();
    client.read("a:1").await.unwrap();
    client.connection().close().await;
    let _watch = client.watch(Filter::resource("a:1")).await.unwrap();
    handle.updated("a:1");
    heard.notified().await;
    client.connection().close().await;
    client.read("a:1").await.unwrap();
    assert_eq!(reads.load(Ordering::SeqCst), 2, "what was kept is forgotten with its connection");
}

#[tokio::test]
async fn the_cause_of_a_lost_link_is_told_once() {
    use std::error::Error as _;

    let lost = Client::connect("http://127.0.0.1:1/mcp").await.unwrap_err();
    let ClientError::Link(link) = &lost else { panic!("{lost}") };
    assert_eq!(lost.source().map(ToString::to_string), link.source().map(ToString::to_string));
    assert!(Client::connect("no url").await.unwrap_err().source().is_some());
}

#[cfg(feature = "validate")]
#[tokio::test]
async fn results_are_not_held_against_what_a_tool_promised_before_it_changed() {
    use crate::{Raw, server::Arguments, types::CallToolResult};

    let tool = |kind: &str| {
        let schema = Raw::of(&json!({"type": "object", "properties": {"n": {"type": kind}}}));
        Tool::new("back", "", |args: Arguments| async move { CallToolResult::structured(args.0) }).output_schema(schema)
    };
    let server = Server::new("s", "1").list_changed().tool(tool("integer"));
    let (handle, changed) = (server.handle(), Arc::new(tokio::sync::Notify::new()));
    let hear = Arc::clone(&changed);
    let builder = Client::builder("c", "1").revision(Revision::LATEST_LEGACY).on_change(move |_| hear.notify_one());
    let client = builder.connect(server).await.unwrap();
    let (text, number) = (json!({"n": "x"}), json!({"n": 1}));
    client.tools().all().await.unwrap();
    assert!(client.call("back", &text).await.is_err());
    handle.add_tool(tool("string"));
    changed.notified().await;
    assert!(client.call("back", &text).await.is_ok());
    client.tools().all().await.unwrap();
    assert!(client.call("back", &number).await.is_err());
    client.connection().close().await;
    assert!(client.call("back", &number).await.is_ok(), "what was learned ended with its connection");
}

#[tokio::test]
async fn a_handler_that_panics_answers_with_an_error_and_ends_nothing() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = Client::builder("c", "1")
            .revision(revision)
            .on_form(|_| async { panic!("no form") })
            .connect(server(&Arc::default()))
            .await
            .unwrap();
        let greeting = client.call("greet", &()).await.unwrap();
        // One that returns has no place for an error: it comes back as if the user had looked away.
        let told = if revision == Revision::LATEST { "the user did not answer" } else { "the client failed inside" };
        assert!(greeting.failed() && greeting.texts().contains(told), "{}", greeting.texts());
        client.call("walk", &()).await.unwrap();
    }
}

fn roots_tool() -> Tool {
    Tool::new("roots", "", |cx: Ctx| async move {
        let uris: Vec<String> = cx.roots("roots").await?.into_iter().map(|root| root.uri).collect();
        Ok::<_, Fail>(uris.join(" "))
    })
}

#[tokio::test]
async fn rule_165_no_server_is_given_a_root_that_is_no_file() {
    let server = Server::new("s", "1").tool(roots_tool());
    for bad in ["https://a.test/x", "/home/me", "file:///a/../b"] {
        let client = Client::builder("c", "1").roots([Root::new("file:///a"), Root::new(bad)]).connect(server.clone());
        let Err(ClientError::Setup(what)) = client.await else { panic!("{bad}") };
        assert!(what.contains(bad), "{what}");
    }
    for revision in [Revision::V2024_11_05, Revision::LATEST_LEGACY, Revision::LATEST] {
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&complaints);
        let client = Client::builder("c", "1")
            .revision(revision)
            .on_roots(|| async { ["file:///a", "https://a.test/x", "file:///b"].map(Root::new).into() })
            .on_stray(move |what| heard.lock().unwrap().push(what.to_owned()))
            .connect(server.clone())
            .await
            .unwrap();
        assert_eq!(client.call("roots", &()).await.unwrap().texts(), "file:///a file:///b", "{revision}");
        assert!(complaints.lock().unwrap().iter().any(|what| what.contains("https://a.test/x")), "{revision}");
    }
}

/// What tells a job to go on, and the job.
fn job() -> (Arc<tokio::sync::Notify>, Tool) {
    let go = Arc::new(tokio::sync::Notify::new());
    let on = Arc::clone(&go);
    let job = move |cx: Ctx| {
        let go = Arc::clone(&on);
        async move {
            go.notified().await;
            cx.progress(1.0).saying("half").await;
            go.notified().await;
            "done"
        }
    };
    (go, Tool::new("job", "", job).task())
}

/// A server that counts how often it is asked where a task stands.
fn counting(tool: Tool) -> (Arc<AtomicU32>, Server) {
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let server = Server::new("s", "1").tool(tool).around(move |request, next| {
        if request.method == crate::protocol::Method::TasksGet {
            count.fetch_add(1, Ordering::SeqCst);
        }
        next.run(request)
    });
    (asked, server)
}

#[tokio::test(start_paused = true)]
async fn the_states_of_a_task_are_told_where_they_can_be_and_asked_for_otherwise() {
    // rules 172 and 183
    use crate::types::TaskStatus;

    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let ((go, tool), told) = (job(), revision == Revision::LATEST);
        let (asked, server) = counting(tool);
        let client = Client::builder("c", "1").revision(revision).tasks().connect(server).await.unwrap();
        let Started::Task(task) = client.call("job", &()).start().await.unwrap() else { panic!("it is a task") };
        let mut states = task.states();
        let first = states.next().await.unwrap().unwrap();
        assert_eq!((&first.status, first.message.as_deref()), (&TaskStatus::Working, None));
        // Long enough for a listener to be let in, and for others to ask some times.
        tokio::time::timeout(std::time::Duration::from_secs(5), states.next()).await.unwrap_err();
        go.notify_one();
        let second = states.next().await.unwrap().unwrap();
        assert_eq!((&second.status, second.message.as_deref()), (&TaskStatus::Working, Some("half")));
        go.notify_one();
        let last = states.next().await.unwrap().unwrap();
        assert_eq!(last.status, TaskStatus::Completed);
        assert!(states.next().await.is_none(), "{revision}");
        let asked = asked.load(Ordering::SeqCst);
        assert!(if told { asked == 1 } else { asked > 5 }, "{revision}: {asked}");
        assert_eq!(last.outcome().is_some(), told, "{revision}: the older one says so on demand");
        assert_eq!(task.result().await.unwrap().texts(), "done", "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_tell_of_tasks_is_asked() {
    // It acknowledges less than was asked for, as any server may.
    struct Silent(Server);

    impl crate::transport::Service for Silent {
        fn profile(&self) -> Arc<crate::protocol::greeting::Profile> {
            self.0.profile()
        }

        async fn call(
            &self,
            request: crate::transport::Request,
            cx: crate::transport::Cx,
        ) -> crate::protocol::exchange::Outcome {
            self.0.call(request, cx).await
        }

        async fn watch(
            &self,
            _: &Arc<crate::transport::Caller>,
            _: Filter,
        ) -> Result<crate::transport::Watch, crate::ErrorObject> {
            Ok(crate::transport::Hub::new().watch(Filter::default()))
        }
    }

    struct To(Arc<Silent>);

    impl Target for To {
        async fn connect(
            &self,
            approach: crate::transport::Approach,
        ) -> Result<crate::transport::Connection, crate::Error> {
            let options = crate::transport::duplex::Options::default();
            crate::transport::connect::memory(Arc::clone(&self.0), options, approach).await
        }
    }

    let (go, tool) = job();
    let (asked, server) = counting(tool);
    let client = Client::builder("c", "1").tasks().connect(To(Arc::new(Silent(server)))).await.unwrap();
    let Started::Task(task) = client.call("job", &()).start().await.unwrap() else { panic!("it is a task") };
    let mut states = task.states();
    states.next().await.unwrap().unwrap();
    go.notify_one();
    assert_eq!(states.next().await.unwrap().unwrap().message.as_deref(), Some("half"));
    go.notify_one();
    assert!(states.next().await.unwrap().unwrap().status.is_final());
    assert!(asked.load(Ordering::SeqCst) >= 3);
}
