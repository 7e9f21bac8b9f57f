//! A model, tools and a person that do what a test tells them.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "for tests alone, each of which uses some of it")]

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolbay_agent::{
    model::{Ask, Choice, Heard, Model, ModelError, Reply, Stop, Usage, Wire},
    person::{Answered, Approval, Elicitation, Person, Sampling, Verdict},
    planner::Failure,
    toolbox::{Hints, Item, Shelf, Tool, ToolId, Toolbox},
    transcript::{Content, Intent, Message, Piece, Said, Transcript, Written},
};
use toolbay_gateway::catalog::Listed;

/// What a model was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    pub transcript: Transcript,
    pub tools: Vec<String>,
    pub choice: Choice,
}

type Replies = dyn Fn(usize, &Ask<'_>) -> Reply + Send + Sync;

/// A model that follows a script.
pub struct Scripted {
    pub wire: Wire,
    replies: Box<Replies>,
    pub asked: Mutex<Vec<Asked>>,
}

impl Scripted {
    pub fn new(replies: impl Fn(usize, &Ask<'_>) -> Reply + Send + Sync + 'static) -> Arc<Self> {
        Self::on(Wire::Anthropic, replies)
    }

    pub fn on(wire: Wire, replies: impl Fn(usize, &Ask<'_>) -> Reply + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { wire, replies: Box::new(replies), asked: Mutex::default() })
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Model for Scripted {
    fn wire(&self) -> Wire {
        self.wire
    }

    fn ask<'a>(
        &'a self,
        ask: Ask<'a>,
        heard: &'a mut (dyn FnMut(Heard<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let mut asked = self.asked.lock().unwrap();
            let reply = (self.replies)(asked.len(), &ask);
            let tools = ask.tools.iter().map(|tool| tool.name.clone()).collect();
            asked.push(Asked { transcript: ask.transcript.clone(), tools, choice: ask.choice });
            heard(Heard::Text(&reply.said.text()));
            Ok(reply)
        })
    }
}

pub fn says(text: &str) -> Reply {
    reply(vec![Piece::Text(text.into())], Stop::End)
}

pub fn reply(pieces: Vec<Piece>, stop: Stop) -> Reply {
    Reply { said: Said { pieces }, stop, usage: Usage { input: 1000, cached: 500, output: 50 } }
}

/// Names and arguments of calls; their ids are their names and places.
pub fn wants(calls: &[(&str, Value)]) -> Reply {
    let intents = calls.iter().enumerate().map(|(place, (name, arguments))| {
        let arguments = match arguments {
            Value::Object(object) => Written::Object(object.clone()),
            other => Written::Unreadable(other.to_string()),
        };
        Piece::Intent(Intent { id: format!("{name}#{place}"), name: (*name).into(), arguments, kept: None })
    });
    reply(intents.collect(), Stop::Tools)
}

pub fn tool(server: &str, name: &str, description: &str, schema: Value) -> Arc<Tool> {
    let id = ToolId { server: server.into(), name: name.into() };
    let public = format!("{server}__{name}");
    Arc::new(Tool { id, public, description: description.into(), schema, hints: Hints::default() })
}

pub fn reading(tool: &Arc<Tool>) -> Arc<Tool> {
    Arc::new(Tool { hints: Hints { read_only: Some(true), ..Hints::default() }, ..Tool::clone(tool) })
}

pub type Called<'a> = BoxFuture<'a, Result<Value, Failure>>;
type Carry = dyn for<'a> Fn(&'a Tool, Map<String, Value>, &'a dyn Person) -> Called<'a> + Send + Sync;

/// Tools that do what a test says.
pub struct Shelved {
    shelf: Mutex<Arc<Shelf>>,
    carry: Box<Carry>,
    pub calls: Mutex<Vec<(ToolId, Map<String, Value>)>>,
    pub flying: AtomicUsize,
    pub most: AtomicUsize,
}

impl Shelved {
    pub fn new(
        tools: Vec<Arc<Tool>>,
        carry: impl for<'a> Fn(&'a Tool, Map<String, Value>, &'a dyn Person) -> Called<'a> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let shelved = Self {
            shelf: Mutex::default(),
            carry: Box::new(carry),
            calls: Mutex::default(),
            flying: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        };
        shelved.put(tools, vec![]);
        Arc::new(shelved)
    }

    /// Something else stands on the shelf from here on.
    pub fn put(&self, mut tools: Vec<Arc<Tool>>, down: Vec<(String, String)>) {
        tools.sort_by(|one, other| one.id.cmp(&other.id));
        let mut shelf = self.shelf.lock().unwrap();
        *shelf = Arc::new(Shelf { generation: shelf.generation + 1, tools, down });
    }

    pub fn tools(&self) -> Vec<Arc<Tool>> {
        self.shelf.lock().unwrap().tools.clone()
    }

    pub fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|(tool, _)| tool.to_string()).collect()
    }
}

/// Counts one call in flight.
struct Flying<'a>(&'a AtomicUsize);

impl Drop for Flying<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Toolbox for Shelved {
    fn shelf(&self) -> BoxFuture<'_, Arc<Shelf>> {
        let shelf = Arc::clone(&self.shelf.lock().unwrap());
        Box::pin(async move { shelf })
    }

    fn call<'a>(&'a self, tool: &'a Tool, arguments: Map<String, Value>, person: &'a dyn Person) -> Called<'a> {
        self.calls.lock().unwrap().push((tool.id.clone(), arguments.clone()));
        let flying = self.flying.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(flying, Ordering::SeqCst);
        let guard = Flying(&self.flying);
        let carried = (self.carry)(tool, arguments, person);
        Box::pin(async move {
            let _guard = guard;
            carried.await
        })
    }

    fn items(&self, _: Listed) -> BoxFuture<'_, Vec<Item>> {
        Box::pin(async { vec![] })
    }

    fn read<'a>(&'a self, _: &'a str, _: &'a str) -> Called<'a> {
        Box::pin(async { Ok(json!({"contents": []})) })
    }

    fn prompt<'a>(&'a self, _: &'a str, _: Map<String, Value>, _: &'a dyn Person) -> Called<'a> {
        Box::pin(async { Ok(json!({"messages": []})) })
    }
}

/// A result that is a text.
pub fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}

/// A call that gives a result.
pub fn gives(result: Value) -> Called<'static> {
    Box::pin(async move { Ok(result) })
}

type Verdicts = dyn Fn(&Approval<'_>) -> Verdict + Send + Sync;

/// A person who does what a test says.
pub struct Somebody {
    verdicts: Box<Verdicts>,
    pub approvals: Mutex<Vec<(String, String)>>,
    pub questions: Mutex<Vec<Elicitation>>,
}

impl Somebody {
    pub fn new(verdicts: impl Fn(&Approval<'_>) -> Verdict + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { verdicts: Box::new(verdicts), approvals: Mutex::default(), questions: Mutex::default() })
    }
}

impl Person for Somebody {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> BoxFuture<'a, Verdict> {
        let asked = (approval.tool.id.to_string(), approval.effect.clone());
        self.approvals.lock().unwrap().push(asked);
        let verdict = (self.verdicts)(&approval);
        Box::pin(async move { verdict })
    }

    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, Answered> {
        self.questions.lock().unwrap().push(question);
        let filled = Map::from_iter([("region".to_owned(), json!("eu-west, password hunter2"))]);
        Box::pin(async move { Answered::Accept(Some(filled)) })
    }

    fn sample<'a>(&'a self, _: Sampling<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async { Err("no".into()) })
    }

    fn roots(&self) -> BoxFuture<'_, Vec<Value>> {
        Box::pin(async { vec![] })
    }

    fn told(&self, _: &ToolId, _: &str) {}
}

/// Every intent of a transcript is answered once, in order, before anybody else speaks.
pub fn check(transcript: &Transcript) {
    for (place, message) in transcript.messages.iter().enumerate() {
        let Message::Model(said) = message else { continue };
        let wanted: Vec<_> = said.intents().map(|intent| (&intent.id, &intent.name)).collect();
        let answered: Vec<_> = match transcript.messages.get(place + 1) {
            Some(Message::Tools(answers)) => answers.iter().map(|answer| (&answer.id, &answer.name)).collect(),
            _ => vec![],
        };
        assert_eq!(wanted, answered);
    }
}

/// The texts of all answers of tools, in order.
pub fn answers(transcript: &Transcript) -> Vec<String> {
    let answers = transcript.messages.iter().filter_map(|message| match message {
        Message::Tools(answers) => Some(answers),
        Message::User(_) | Message::Model(_) => None,
    });
    let texts = answers.flatten().map(|answer| {
        let texts = answer.parts.iter().map(|part| match &part.what {
            Content::Text(text) => text.as_str(),
            Content::Image { .. } => "<picture>",
        });
        texts.collect::<Vec<_>>().join("|")
    });
    texts.collect()
}
