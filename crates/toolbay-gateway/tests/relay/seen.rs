//! A server that remembers by whom it was called, and over which connection.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use toolbay_gateway::{Bay, Identity, servers::Spec};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Ask, Asks, Note, Outcome},
    fault::code,
    greeting::{Introduction, Profile},
    peer::Call,
    watch::Filter,
};
use toolbay_transport::{
    Approach, Caller, Connection, Cx, Hub, Listener, Principal, Reply, Request, Service, Voice, Watch, connect, duplex,
};

use crate::script::{said, text};

/// What it saw.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) hub: Hub,
    /// The sessions that were opened: what each declared.
    pub(crate) joined: Mutex<Vec<Arc<Caller>>>,
    pub(crate) left: AtomicUsize,
    pub(crate) levels: Mutex<Vec<String>>,
    pub(crate) roots_changed: AtomicUsize,
    pub(crate) voices: Mutex<Vec<Voice>>,
    /// Calls that hang: how many began, how many ended.
    pub(crate) hanging: tokio::sync::watch::Sender<(usize, usize)>,
    pub(crate) visited: AtomicUsize,
    /// One more tool, for those who are told that they may have it.
    pub(crate) special: bool,
    pub(crate) watched: tokio::sync::watch::Sender<usize>,
}

impl Seen {
    pub(crate) fn opened(&self) -> usize {
        self.joined.lock().unwrap().len()
    }

    /// What each session declared.
    pub(crate) fn declared(&self) -> Vec<String> {
        self.joined.lock().unwrap().iter().map(|caller| caller.introduction.capabilities.as_str().to_owned()).collect()
    }

    /// Says something in the session that was opened in this place.
    pub(crate) fn say_in(&self, place: usize, level: &str, what: &str) {
        let params = Raw::of(&json!({"level": level, "data": what}));
        self.voices.lock().unwrap()[place].say(Note::new(Method::Message, params));
    }

    async fn tool(&self, request: &Request, cx: &Cx) -> Outcome {
        match text(&request.params, "name").as_str() {
            "who" => {
                let joined = self.joined.lock().unwrap();
                let place = joined.iter().position(|one| Arc::ptr_eq(&one.introduction, &request.caller.introduction));
                let who = json!({"session": place, "declared": request.caller.introduction.capabilities});
                Ok(said(&who.to_string()))
            }
            "logs" => {
                for level in ["debug", "info", "error"] {
                    let params = Raw::of(&json!({"level": level, "data": level}));
                    let _ = cx.note(Note::new(Method::Message, params)).await;
                }
                Ok(said("logged"))
            }
            "samples" => {
                let params =
                    json!({"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 9});
                let ask = Ask { method: Method::CreateMessage, params: Some(Raw::of(&params)) };
                if request.returning.answers.is_some() {
                    return Ok(said(&format!("{:?}", request.returning.answers)));
                }
                let _held = Held::new(self.hanging.clone());
                match cx.ask(Asks::one("model", ask), Some(Raw::of("state"))).await {
                    Ok(Reply::Answers(answers)) => Ok(said(&format!("{answers:?}"))),
                    Ok(Reply::WillReturn) | Err(_) => Ok(Raw::EMPTY),
                }
            }
            "endless" => {
                let ask = Ask { method: Method::RootsList, params: None };
                match cx.ask(Asks::one("roots", ask), Some(Raw::of("again"))).await {
                    Ok(Reply::Answers(_)) => Ok(said("enough")),
                    Ok(Reply::WillReturn) | Err(_) => Ok(Raw::EMPTY),
                }
            }
            "later" if request.returning.state.is_none() => {
                let _ = cx.ask(Asks::default(), Some(Raw::of("once"))).await;
                Ok(Raw::EMPTY)
            }
            "later" => Ok(said("later it is")),
            "pages" if self.visited.fetch_add(1, Ordering::SeqCst) == 0 => {
                let page = json!({"mode": "url", "elicitationId": "e1", "url": "https://x/y", "message": "go"});
                let error = ErrorObject::new(code::URL_ELICITATION_REQUIRED, "sign in first");
                Err(error.with_data(&json!({"elicitations": [page]})))
            }
            "pages" => Ok(said("signed in")),
            "special" => Ok(said("special")),
            "hangs" => {
                let _held = Held::new(self.hanging.clone());
                std::future::pending().await
            }
            other => Err(ErrorObject::invalid_params(format!("unknown tool {other}"))),
        }
    }
}

/// Counts calls that began, and those of them that ended.
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

impl Service for Seen {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}, "logging": {}});
        let server = Raw::of(&json!({"name": "seen", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&capabilities), instructions: None })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
        match &request.method {
            Method::ToolsCall => self.tool(&request, &cx).await,
            Method::ToolsList => {
                let names = ["who", "logs", "samples", "hangs", "endless", "later", "pages", "special"];
                let special = self.special && request.caller.introduction.declares(&["sampling"]);
                let mut tools: Vec<_> = names[..if special { 8 } else { 7 }].iter().map(tool).collect();
                if special {
                    tools.push(json!({"name": "rotten"}));
                }
                Ok(Raw::of(&json!({"tools": tools})))
            }
            Method::ResourcesList => Ok(Raw::of(
                &json!({"resources": [{"uri": "test://gone", "name": "g"}, {"uri": "test://r", "name": "r"}]}),
            )),
            Method::TemplatesList => Ok(Raw::of(&json!({"resourceTemplates": []}))),
            Method::ResourcesRead => Err(ErrorObject::new(code::RESOURCE_NOT_FOUND, "gone")),
            Method::SetLevel => {
                self.levels.lock().unwrap().push(text(&request.params, "level"));
                Ok(Raw::EMPTY)
            }
            other => Err(ErrorObject::new(code::METHOD_NOT_FOUND, other.to_string())),
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        self.watched.send_modify(|count| *count += filter.uris.len());
        let watch = self.hub.watch(filter);
        if watch.filter().tools {
            self.voices.lock().unwrap().push(watch.voice());
        }
        Ok(watch)
    }

    async fn note(&self, _: &Arc<Caller>, note: Note) {
        if note.method == Method::RootsChanged {
            self.roots_changed.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn joined(&self, caller: &Arc<Caller>) {
        self.joined.lock().unwrap().push(Arc::clone(caller));
    }

    fn left(&self, _: &Arc<Caller>) {
        self.left.fetch_add(1, Ordering::SeqCst);
    }
}

/// A bay in front of it, met in `revision`.
pub(crate) async fn bay(seen: &Arc<Seen>, revision: Revision, with: impl Fn(Spec) -> Spec) -> Bay {
    let spec = Spec { revision: Some(revision), ..Spec::embedded("s", Arc::clone(seen)) };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![with(spec)]).unwrap();
    bay.settled().await;
    bay
}

/// Remembers lines of log that belong to no call.
#[derive(Default)]
pub(crate) struct Lines(pub(crate) tokio::sync::watch::Sender<Vec<String>>);

impl Listener for Lines {
    fn noted(&self, note: Note) {
        let line = note.params.map(|params| text(&params, "data")).unwrap_or_default();
        self.0.send_modify(|lines| lines.push(line));
    }
}

/// A client of the bay.
pub(crate) async fn client(
    bay: &Bay,
    revision: Revision,
    principal: &str,
    capabilities: Value,
) -> (Connection, Arc<Lines>) {
    let us = Introduction { capabilities: Raw::of(&capabilities), ..Introduction::anonymous(revision) };
    let lines = Arc::<Lines>::default();
    let mut approach = Approach::new(us).heard_by(Arc::clone(&lines) as Arc<dyn Listener>);
    approach.revision = Some(revision);
    let principal = if principal.is_empty() { Principal::Local } else { Principal::Named(principal.into()) };
    let options = duplex::Options { principal, ..duplex::Options::default() };
    (connect::memory(Arc::new(bay.clone()), options, approach).await.unwrap(), lines)
}

pub(crate) async fn ask(client: &Connection, method: Method, params: Value) -> Result<Value, ErrorObject> {
    let outcome = client.request(Call::new(method, Some(Raw::of(&params)))).await.unwrap();
    outcome.map(|raw| raw.read().unwrap())
}

pub(crate) async fn call(client: &Connection, tool: &str) -> Result<Value, ErrorObject> {
    ask(client, Method::ToolsCall, json!({"name": format!("s__{tool}"), "arguments": {}})).await
}

/// Which of the server's sessions a call came by, and what it declared.
pub(crate) async fn who(client: &Connection) -> (Value, Value) {
    let who = call(client, "who").await.unwrap();
    let who: Value = serde_json::from_str(who["content"][0]["text"].as_str().unwrap()).unwrap();
    (who["session"].clone(), who["declared"].clone())
}
