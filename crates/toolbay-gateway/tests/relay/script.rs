//! The scripted ends: a server with one tool for each thing that can happen in a call, and a caller that answers.

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use toolbay_gateway::{Bay, Identity, servers::Spec};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Answers, Ask, Asks, Note, Outcome, Step, Wishes},
    fault::code,
    greeting::{Introduction, Profile},
    peer::Call,
    watch::{Change, Filter},
};
use toolbay_transport::{
    Approach, Caller, Connection, Cx, Error, Hub, Listener, Reply, Request, Service, Watch, connect, duplex,
};

/// A server whose tools do what their names say.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) hub: Hub,
    pub(crate) hanging: tokio::sync::watch::Sender<(usize, usize)>,
    pub(crate) tools: Mutex<Vec<&'static str>>,
    /// Has `gives_up` wait no longer.
    pub(crate) enough: tokio::sync::Notify,
}

impl Script {
    pub(crate) fn new() -> Arc<Self> {
        let tools = vec!["echo", "steps", "asks", "asks_twice", "fails", "hangs", "roots", "gives_up"];
        Arc::new(Self { tools: Mutex::new(tools), ..Self::default() })
    }

    fn list(&self, method: &Method) -> Value {
        match method {
            Method::ToolsList => {
                let tools = self.tools.lock().unwrap();
                let tool = |name: &&str| json!({"name": name, "title": "T", "inputSchema": {"type": "object"}});
                json!({"tools": tools.iter().map(tool).collect::<Vec<_>>()})
            }
            Method::PromptsList => json!({"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}]}),
            Method::ResourcesList => json!({"resources": [{"uri": "test://one", "name": "one"}]}),
            _ => json!({"resourceTemplates": [{"uriTemplate": "test://t/{id}", "name": "t"}]}),
        }
    }

    async fn tool(&self, request: &Request, cx: &Cx) -> Outcome {
        let name = text(&request.params, "name");
        match name.as_str() {
            "echo" => Ok(said(&format!("{:?}", request.params.get("arguments").unwrap_or(Raw::NULL)))),
            "steps" => {
                for step in 1..=3 {
                    let _ = cx.note(Note::progress(f64::from(step), Some(3.0), Some("on the way"))).await;
                }
                Ok(said(if cx.wants_progress() { "told" } else { "untold" }))
            }
            "asks" => self.ask(request, cx, &["who"]).await,
            "asks_twice" => self.ask(request, cx, &["who", "why"]).await,
            "roots" => {
                let ask = Ask { method: Method::RootsList, params: None };
                request.caller.introduction.admits(&ask).map_err(ErrorObject::from)?;
                self.put(request, cx, Asks::one("roots", ask), None).await
            }
            "gives_up" => {
                let ask = Ask { method: Method::RootsList, params: None };
                tokio::select! {
                    reply = cx.ask(Asks::one("roots", ask), None) => panic!("nobody answers: {reply:?}"),
                    () = self.enough.notified() => Ok(said("without an answer")),
                }
            }
            "fails" => Err(ErrorObject::new(-77, "it fails").with_data(&json!({"deep": [1]}))),
            "hangs" => {
                let _held = Held::new(self.hanging.clone());
                std::future::pending().await
            }
            other => Err(ErrorObject::invalid_params(format!("unknown tool {other}"))),
        }
    }

    async fn ask(&self, request: &Request, cx: &Cx, keys: &[&str]) -> Outcome {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let ask = |key: &str| Ask {
            method: Method::Elicit,
            params: Some(Raw::of(&json!({"message": format!("{key}?"), "requestedSchema": schema}))),
        };
        let asks: Asks = keys.iter().map(|key| ((*key).to_owned(), ask(key))).collect();
        self.put(request, cx, asks, Some(Raw::of("the server's own"))).await
    }

    async fn put(&self, request: &Request, cx: &Cx, asks: Asks, state: Option<Raw>) -> Outcome {
        let answers = match &request.returning.answers {
            Some(answers) => {
                assert_eq!(request.returning.state, state, "the state comes back exactly");
                answers.clone()
            }
            None => match cx.ask(asks, state).await {
                Ok(Reply::Answers(answers)) => answers,
                Ok(Reply::WillReturn) | Err(_) => return Ok(Raw::EMPTY),
            },
        };
        let shown: Vec<_> = answers.iter().map(|(_, answer)| format!("{answer:?}")).collect();
        Ok(said(&shown.join(" ")))
    }
}

/// Counts calls that began to hang, and those of them that ended.
struct Held(tokio::sync::watch::Sender<(usize, usize)>);

impl Held {
    fn new(count: tokio::sync::watch::Sender<(usize, usize)>) -> Self {
        count.send_modify(|(begun, _)| *begun += 1);
        Self(count)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.send_modify(|(_, ended)| *ended += 1);
    }
}

pub(crate) fn text(object: &Raw, key: &str) -> String {
    object.get(key).as_ref().and_then(Raw::as_text).unwrap_or_default().into_owned()
}

pub(crate) fn said(text: &str) -> Raw {
    Raw::of(&json!({"content": [{"type": "text", "text": text}], "isError": false, "odd": 1.5}))
}

impl Service for Script {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "script", "version": "1"})),
            capabilities: Raw::of(&json!({
                "tools": {"listChanged": true}, "prompts": {}, "resources": {"subscribe": true}, "completions": {}
            })),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        match &request.method {
            Method::ToolsCall => self.tool(&request, &cx).await,
            Method::PromptsGet => Ok(Raw::of(&json!({"messages": [{"role": "user", "content": {
                "type": "text", "text": format!("{:?}", request.params.get("arguments"))
            }}]}))),
            Method::ResourcesRead if text(&request.params, "uri") == "test://gone" => {
                Err(ErrorObject::new(code::RESOURCE_NOT_FOUND, "gone"))
            }
            Method::ResourcesRead => {
                Ok(Raw::of(&json!({"contents": [{"uri": text(&request.params, "uri"), "text": "x"}]})))
            }
            Method::Complete => Ok(Raw::of(&json!({"completion": {"values": ["a", "b"]}}))),
            list => Ok(Raw::of(&self.list(list))),
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }
}

/// A bay in front of scripted servers, each met in `revision`.
pub(crate) async fn bay(servers: Vec<(&str, Arc<Script>)>, revision: Revision) -> Bay {
    let spec = |(name, script): (&str, Arc<Script>)| {
        let mut spec = Spec::embedded(name, script);
        spec.revision = Some(revision);
        spec
    };
    let identity = Identity { name: "bay".into(), version: "0".into() };
    let bay = Bay::open(&identity, servers.into_iter().map(spec).collect()).unwrap();
    bay.settled().await;
    bay
}

/// Remembers the changes that it hears of.
#[derive(Default)]
pub(crate) struct Ears(pub(crate) Mutex<Vec<Change>>, pub(crate) tokio::sync::Notify);

impl Listener for Ears {
    fn changed(&self, change: Change) {
        self.0.lock().unwrap().push(change);
        self.1.notify_one();
    }

    fn asked(&self, ask: Ask) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(async move { Err(ErrorObject::internal(format!("{} out of place", ask.method))) })
    }
}

/// A caller of `revision` that can answer everything.
pub(crate) async fn caller(bay: &Bay, revision: Revision) -> (Connection, Arc<Ears>) {
    caller_that(bay, revision, json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}})).await
}

pub(crate) async fn caller_that(bay: &Bay, revision: Revision, capabilities: Value) -> (Connection, Arc<Ears>) {
    let us = Introduction { capabilities: Raw::of(&capabilities), ..Introduction::anonymous(revision) };
    let ears = Arc::new(Ears::default());
    let mut approach = Approach::new(us).heard_by(Arc::clone(&ears) as Arc<dyn Listener>);
    approach.revision = Some(revision);
    let connection = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
    assert_eq!(connection.meeting().revision, revision);
    (connection, ears)
}

/// What a caller saw of a call.
#[derive(Debug, PartialEq)]
pub(crate) struct Story {
    pub(crate) notes: Vec<Method>,
    pub(crate) asked: Vec<Method>,
    pub(crate) outcome: Outcome,
}

/// Calls and answers every question with "Ada".
pub(crate) async fn follow(connection: &Connection, method: Method, params: Value) -> Result<Story, Error> {
    let call = Call { wishes: Wishes::progress(), ..Call::new(method, Some(Raw::of(&params))) };
    let mut running = connection.call(call).await?;
    let (mut notes, mut asked) = (vec![], vec![]);
    loop {
        match running.step().await? {
            Step::Note(note) => notes.push(note.method),
            Step::Away(_) | Step::Withdrawn(_) => {}
            Step::Ask(asks) => {
                let answer = |method: &Method| match method {
                    Method::RootsList => json!({"roots": [{"uri": "file:///r"}]}),
                    _ => json!({"action": "accept", "content": {"name": "Ada"}}),
                };
                let answers: Answers =
                    asks.iter().map(|(key, ask)| (key.to_owned(), Ok(Raw::of(&answer(&ask.method))))).collect();
                asked.extend(asks.iter().map(|(_, ask)| ask.method.clone()));
                running.answer(answers).await?;
            }
            Step::Done(outcome) => return Ok(Story { notes, asked, outcome }),
        }
    }
}
