//! What an agent reaches through a bay: calls, questions in their midst, changes, ends; with servers of both eras.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use toolbay::prelude::*;
use toolbay_agent::{
    bay::{Offer, Reach},
    context::{Attacher, Slash, SlashError, mentions, prompted},
    person::{Answered, Approval, Elicitation, Nobody, Person, Sampling, Verdict},
    planner::Blame,
    toolbox::{Shelf, Tool as Offered, ToolId, Toolbox},
    transcript::Content,
};
use toolbay_gateway::{
    Bay, Identity,
    config::{Child, Endpoint},
    servers::{Plan, Spec, endpoint},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::Outcome,
    fault::code,
    greeting::Profile,
    watch::{Change, Filter},
};
use toolbay_transport::{Caller, Cx, Hub, Request, Service, Watch};

const ERAS: [Option<Revision>; 2] = [None, Some(Revision::LATEST_LEGACY)];

/// What the user decided.
#[data]
struct Decision {
    /// How many.
    count: u8,
    /// Keep a copy.
    #[serde(default)]
    copy: bool,
}

/// Asks with a form.
#[tool]
async fn form(cx: &Ctx) -> toolbay::Result<String> {
    cx.progress(1.0).of(2.0).saying("half").await;
    let decision: Decision = cx.ask("decision", "How many?").await?;
    Ok(format!("{} {}", decision.count, decision.copy))
}

/// Asks with a page.
#[tool]
async fn page(cx: &Ctx) -> toolbay::Result<String> {
    let visited = cx.elicit_url("page", "Sign in", "https://id.example.com/in").await?;
    Ok(format!("{}", matches!(visited, Elicited::Accepted(()))))
}

/// Asks the model.
#[tool]
async fn model(cx: &Ctx) -> toolbay::Result<String> {
    cx.sample_text("model", "say it", 10).await
}

/// Asks for the roots.
#[tool]
async fn roots(cx: &Ctx) -> toolbay::Result<String> {
    Ok(cx.roots("roots").await?.iter().map(|root| root.uri.clone()).collect())
}

/// A note.
#[resource("note://one", mime_type = "text/plain")]
async fn note() -> String {
    "the note".into()
}

/// Greets.
#[prompt]
async fn greet(
    /// Whom.
    name: String,
) -> String {
    format!("Greet {name}.")
}

#[derive(Default)]
struct Heard {
    asked: Mutex<Vec<String>>,
    told: Mutex<Vec<String>>,
}

impl Person for Heard {
    fn approve<'a>(&'a self, _: Approval<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async { Verdict::Once })
    }

    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, Answered> {
        let (asked, answer) = match question {
            Elicitation::Form { server, message, .. } => {
                (format!("{server}: {message}"), Some(Map::from_iter([("count".into(), json!(3))])))
            }
            Elicitation::Url { server, url, .. } => (format!("{server}: {url}"), None),
        };
        self.asked.lock().unwrap().push(asked);
        Box::pin(async { Answered::Accept(answer) })
    }

    fn sample<'a>(&'a self, sampling: Sampling<'a>) -> BoxFuture<'a, Result<Value, String>> {
        self.asked.lock().unwrap().push(format!("{}: {}", sampling.server, sampling.params["maxTokens"]));
        Box::pin(async {
            Ok(
                json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "said"}, "stopReason": "endTurn"}),
            )
        })
    }

    fn roots(&self) -> BoxFuture<'_, Vec<Value>> {
        Box::pin(async { vec![json!({"uri": "file:///home"})] })
    }

    fn told(&self, tool: &ToolId, what: &str) {
        self.told.lock().unwrap().push(format!("{tool}: {what}"));
    }
}

fn bay(revision: Option<Revision>) -> Bay {
    let server = Server::new("scripted", "1")
        .tool(form::tool())
        .tool(page::tool())
        .tool(model::tool())
        .tool(roots::tool())
        .resource(note::resource())
        .prompt(greet::prompt());
    open(Spec { revision, ..Spec::embedded("s", Arc::new(server)) })
}

fn open(spec: Spec) -> Bay {
    Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap()
}

async fn reach(bay: &Bay) -> Reach {
    Reach::bay(bay.clone(), "host", "0", Offer::Model).await.unwrap()
}

fn find(shelf: &Shelf, name: &str) -> Option<Arc<Offered>> {
    shelf.tools.iter().find(|tool| tool.id == ToolId { server: "s".into(), name: name.into() }).cloned()
}

async fn said(reach: &Reach, name: &str, person: &dyn Person) -> String {
    let tool = find(&*reach.shelf().await, name).unwrap();
    let result = timeout(Duration::from_secs(20), reach.call(&tool, Map::new(), person)).await.unwrap().unwrap();
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn questions_in_mid_call_are_answered_by_the_person() {
    for era in ERAS {
        let (bay, person) = (bay(era), Heard::default());
        let reach = reach(&bay).await;
        // What was left out has its default.
        assert_eq!(said(&reach, "form", &person).await, "3 false", "{era:?}");
        assert_eq!(said(&reach, "page", &person).await, "true");
        assert_eq!(said(&reach, "model", &person).await, "said");
        assert_eq!(said(&reach, "roots", &person).await, "file:///home");
        let asked = person.asked.lock().unwrap().clone();
        assert_eq!(asked, ["s: How many?", "s: https://id.example.com/in", "s: 10"], "{era:?}");
        let told = person.told.lock().unwrap().clone();
        assert!(told.iter().any(|line| line.contains("1/2 half") || line.contains("1.0/2.0 half")), "{told:?}");
        bay.close().await;
    }
}

#[tokio::test]
async fn nobody_to_ask_is_an_answer_and_no_failure_of_the_host() {
    for era in ERAS {
        let bay = bay(era);
        let reach = reach(&bay).await;
        assert!(said(&reach, "form", &Nobody).await.contains("did not answer"), "{era:?}");
        bay.close().await;
    }
}

#[tokio::test]
async fn a_shelf_is_kept_while_nothing_changes() {
    for era in ERAS {
        let bay = bay(era);
        let reach = reach(&bay).await;
        let shelf = reach.shelf().await;
        assert!(shelf.tools.len() == 4 && shelf.down.is_empty());
        assert!(Arc::ptr_eq(&shelf, &reach.shelf().await));
        bay.close().await;
    }
}

#[tokio::test]
async fn resources_and_prompts_are_found_by_what_is_typed() {
    let bay = bay(None);
    let reach = reach(&bay).await;
    reach.shelf().await;
    let mut attacher = Attacher::default();
    let attached = attacher.attach(&reach, &mentions("read @s:note://one, and @s:note://on")).await;
    assert_eq!(attached.parts[0].what, Content::Text("the note".into()), "{attached:?}");
    assert_eq!(attached.parts[0].origin.as_ref().map(|from| from.what.as_str()), Some("note://one"));
    assert!(attached.failed[0].contains("is @s:note://one meant?"), "{attached:?}");
    let again = attacher.attach(&reach, &mentions("@s:note://one")).await;
    assert!(again.parts.is_empty() && again.told[0].contains("already"), "{again:?}");

    let slash = Slash::read(&reach, "s:greet", "").await.unwrap();
    assert_eq!(slash.missing[0].name, "name");
    let slash = Slash::read(&reach, &slash.prompt.public, "Ann and Bob").await.unwrap();
    assert!(slash.missing.is_empty());
    let result = reach.prompt(&slash.prompt.public, slash.arguments, &Nobody).await.unwrap();
    assert!(format!("{:?}", prompted("s", "greet", &result)).contains("Greet Ann and Bob."), "{result}");
    let unknown = Slash::read(&reach, "s:gret", "").await.unwrap_err();
    assert_eq!(unknown, SlashError::Unknown("s:gret".into(), Some("s:greet".into())));
    bay.close().await;
}

/// Ends when it is called.
#[cfg(unix)]
const DIES: &str = r#"
while read -r line; do
    id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *'"method":"initialize"'*)
        echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}' ;;
    *'"method":"tools/list"'*)
        echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}' ;;
    *'"method":"tools/call"'*) exit 1 ;;
    esac
done
"#;

#[cfg(unix)]
#[tokio::test]
async fn a_server_that_dies_in_mid_call_is_its_own_fault() {
    let child = Child::literal("sh", ["-c".to_owned(), DIES.to_owned()]);
    let plan = Plan::Connect(endpoint(Endpoint::Child(child)));
    let bay = open(Spec { revision: Some(Revision::LATEST_LEGACY), ..Spec::planned("s", "stdio", plan) });
    let reach = reach(&bay).await;
    let tool = find(&*reach.shelf().await, "t").unwrap();
    let failure = timeout(Duration::from_secs(20), reach.call(&tool, Map::new(), &Nobody)).await.unwrap().unwrap_err();
    assert_eq!(failure.blame, Blame::Server, "{failure:?}");
    bay.close().await;
}

/// A server that offers more to whoever lends it a model, and learns more on the way.
#[derive(Default)]
struct Choosy {
    learned: AtomicBool,
    hub: Hub,
}

impl Service for Choosy {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = Raw::of(&json!({"tools": {"listChanged": true}}));
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "choosy", "version": "1"})),
            capabilities,
            instructions: None,
        })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        let lends = request.caller.introduction.declares(&["sampling"]);
        match request.method {
            Method::ToolsList => {
                let offered =
                    [("plain", true), ("guess", lends), ("late", lends && self.learned.load(Ordering::SeqCst))];
                let names = offered.into_iter().filter_map(|(name, offered)| offered.then_some(name));
                let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
                Ok(Raw::of(&json!({"tools": names.map(tool).collect::<Vec<_>>()})))
            }
            Method::ToolsCall => {
                let called = request.params.get("name").unwrap().as_text().unwrap().into_owned();
                Ok(Raw::of(&json!({"content": [{"type": "text", "text": called}]})))
            }
            other => Err(ErrorObject::new(code::METHOD_NOT_FOUND, other.to_string())),
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }
}

#[tokio::test]
async fn what_a_server_offers_to_us_alone_is_found_and_called() {
    for era in ERAS {
        let choosy = Arc::<Choosy>::default();
        let bay = open(Spec { revision: era, ..Spec::embedded("s", Arc::clone(&choosy)) });
        let reach = reach(&bay).await;
        assert_eq!(said(&reach, "plain", &Nobody).await, "plain");
        // A server without sessions lists the same for everybody.
        if era == Some(Revision::LATEST_LEGACY) {
            assert_eq!(said(&reach, "guess", &Nobody).await, "guess");
            assert!(find(&*reach.shelf().await, "late").is_none());
            choosy.learned.store(true, Ordering::SeqCst);
            choosy.hub.publish(&Change::Tools);
            let late = async {
                while find(&*reach.shelf().await, "late").is_none() {
                    tokio::task::yield_now().await;
                }
            };
            timeout(Duration::from_secs(20), late).await.expect("it is told of");
            assert_eq!(said(&reach, "late", &Nobody).await, "late");
        }
    }
}
