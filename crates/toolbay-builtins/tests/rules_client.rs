//! Rules of the protocol that no scenario of the official suite covers, for clients: servers of all sorts are met, in
//! process.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use toolbay::{
    Client, Error, ErrorObject, Raw, Server, Tool,
    client::{ClientError, ResultExt, Target},
    protocol::{
        Method, Revision,
        exchange::{Ask, Asks, Outcome},
        greeting::Profile,
        watch::Filter,
    },
    transport::{Approach, Caller, Connection, Cx, Hub, Request, Service, Watch, connect, duplex::Options},
    types::{Dict, ElicitResult},
};
use toolbay_builtins::everything::{Faults, server};

/// A server that does what no good server does.
#[derive(Default)]
struct Odd {
    hub: Hub,
    calls: AtomicUsize,
}

#[derive(Clone, Default)]
struct OddTarget(Arc<Odd>);

impl Target for OddTarget {
    async fn connect(&self, approach: Approach) -> Result<Connection, Error> {
        connect::memory(Arc::clone(&self.0), Options::default(), approach).await
    }
}

impl Service for Odd {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "odd", "version": "1"})),
            capabilities: Raw::of(&json!({"tools": {}, "resources": {}, "prompts": {}})),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        let params: Value = request.params.read().unwrap_or_default();
        match &request.method {
            Method::ToolsList => Ok(Raw::of(&pages(params["cursor"].as_str()))),
            Method::PromptsList => Ok(Raw::of(&json!({"prompts": [], "nextCursor": "round and round"}))),
            Method::ResourcesRead => Err(ErrorObject::new(-32002, "gone")),
            Method::ToolsCall => {
                self.calls.fetch_add(1, Ordering::SeqCst);
                let form =
                    json!({"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}});
                let asks = Asks::one("again", Ask { method: Method::Elicit, params: Some(Raw::of(&form)) });
                // Where the caller stays, the question comes again and again in one call.
                while matches!(
                    cx.ask(asks.clone(), Some(Raw::of("state"))).await,
                    Ok(toolbay::transport::Reply::Answers(_))
                ) {
                    self.calls.fetch_add(1, Ordering::SeqCst);
                }
                Err(ErrorObject::internal("nobody hears this"))
            }
            _ => Err(ErrorObject::internal("not here")),
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }
}

/// Three pages, of none, one and two tools; one of the cursors is empty.
fn pages(cursor: Option<&str>) -> Value {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    match cursor {
        None => json!({"tools": [], "nextCursor": ""}),
        Some("") => json!({"tools": [tool("a")], "nextCursor": "ä \" {}"}),
        Some("ä \" {}") => json!({"tools": [tool("b"), tool("c")]}),
        Some(other) => json!({"tools": [tool(&format!("no cursor of mine: {other}"))]}),
    }
}

async fn meet(revision: Revision, odd: &OddTarget) -> Client {
    let client = Client::builder("c", "1").revision(revision);
    client.on_form(|_| async { ElicitResult::accept(Dict::new()) }).connect(odd.clone()).await.unwrap()
}

// Rule 121.
#[tokio::test]
async fn cursors_are_carried_as_they_are_and_pages_may_be_empty() {
    for revision in Revision::ALL {
        let client = meet(revision, &OddTarget::default()).await;
        let names: Vec<String> =
            client.tools().all().await.unwrap().into_iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(names, ["a", "b", "c"], "{revision}");
        assert!(matches!(client.prompts().all().await, Err(ClientError::Misfit(_))), "{revision}: pages without end");
    }
}

// Rule 103.
#[tokio::test]
async fn a_server_that_asks_without_end_is_left() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let odd = OddTarget::default();
        let client = meet(revision, &odd).await;
        assert!(matches!(client.call("x", &()).await, Err(ClientError::Misfit(_))), "{revision}");
        assert!(odd.0.calls.load(Ordering::SeqCst) < 100, "{revision}");
        assert_eq!(client.tools().all().await.unwrap().len(), 3, "{revision}: the connection goes on");
    }
}

// Rule 141: by either code, in either era, it is not there.
#[tokio::test]
async fn an_older_code_for_what_is_not_there_is_a_refusal_like_others() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = meet(revision, &OddTarget::default()).await;
        let Err(ClientError::Refused(error)) = client.read("x://y").await else { panic!("{revision}") };
        assert!([-32002, -32602].contains(&error.code), "{revision}: {error}");
    }
}

// Rule 109.
#[tokio::test]
async fn a_watch_says_what_the_server_will_tell_of() {
    let silent = Server::new("s", "1").tool(Tool::new("t", "", || async {}));
    let client = Client::connect(silent).await.unwrap();
    let wanted = Filter { tools: true, ..Filter::resource("a:1") };
    assert!(client.watch(wanted.clone()).await.map_or(true, |watch| watch.filter().is_empty()));
    let client = Client::connect(server(Faults::Withheld)).await.unwrap();
    let (one, two) = (client.watch(wanted).await.unwrap(), client.watch(Filter::resource("a:2")).await.unwrap());
    assert!(one.filter().tools && one.filter().uris.contains("a:1"));
    assert!(!two.filter().tools && two.filter().uris.contains("a:2"));
}

// Rules 152 and 154: what the user leaves as it is has the form's defaults.
#[tokio::test]
async fn defaults_of_a_form_are_filled_in() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = Client::builder("c", "1")
            .revision(revision)
            .on_form(|_| async { ElicitResult::accept([("age", Raw::of(&31))].into_iter().collect::<Dict<Raw>>()) })
            .connect(server(Faults::Withheld))
            .await
            .unwrap();
        let said = client.call("test_elicitation_sep1034_defaults", &()).await.unwrap().texts();
        for part in
            ["\"age\":31", "\"name\":\"John Doe\"", "\"score\":95.5", "\"status\":\"active\"", "\"verified\":true"]
        {
            assert!(said.contains(part), "{revision}: {said} lacks {part}");
        }
    }
}
