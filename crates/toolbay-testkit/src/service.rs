//! A service that does what a test wrote down, in either era: while a request is open, or over several.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use toolbay_protocol::{
    ErrorObject, Feature, Id, Method, Raw,
    exchange::{Answers, Asks, Note, Outcome},
    fault::code,
    peer::{Called, ServeId, Server, ServerEvent},
    watch::{Change, Filter, legacy, modern},
};

use crate::plan::{Act, standard};

/// A request in the middle of its plan.
#[derive(Debug)]
struct Run {
    called: Called,
    name: String,
    at: usize,
    answers: Vec<(String, String)>,
}

/// The service.
#[derive(Debug)]
pub struct Service {
    plans: BTreeMap<String, Vec<Act>>,
    running: BTreeMap<ServeId, Run>,
    listeners: BTreeMap<ServeId, (Id, Filter)>,
    uris: BTreeSet<String>,
    cancelled: Vec<String>,
    served: Vec<String>,
    notes: Vec<Note>,
    strays: Vec<String>,
}

impl Default for Service {
    /// One that knows some tools by name: `echo`, `slow`, `progress`, `log`, `ask`, `ask_both`, `ask_twice`,
    /// `come_back`, `fail`, `lost`.
    fn default() -> Self {
        let plans = standard();
        let (running, listeners, uris, cancelled, served, notes, strays) = Default::default();
        Self { plans, running, listeners, uris, cancelled, served, notes, strays }
    }
}

impl Service {
    /// The same service with a plan for what is called `name` (a tool, a prompt or a resource).
    #[must_use]
    pub fn with(mut self, name: &str, plan: Vec<Act>) -> Self {
        self.plans.insert(name.to_owned(), plan);
        self
    }

    /// What was cancelled, by name.
    pub fn cancelled(&self) -> &[String] {
        &self.cancelled
    }

    /// What was served, as `method name`.
    pub fn served(&self) -> &[String] {
        &self.served
    }

    /// The notifications that came.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What came and meant nothing.
    pub fn strays(&self) -> &[String] {
        &self.strays
    }

    /// How many requests are in the middle of their plan.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Takes all that happened at `server` and acts on it; whether anything happened.
    pub fn serve(&mut self, server: &mut Server) -> bool {
        let mut any = false;
        while let Some(event) = server.event() {
            any = true;
            match event {
                ServerEvent::Called(called) => self.called(called, server),
                ServerEvent::Cancelled(key) => {
                    self.listeners.remove(&key);
                    self.cancelled.extend(self.running.remove(&key).map(|run| run.name));
                }
                ServerEvent::Answered(key, _, answers) => {
                    if let Some(run) = self.running.get_mut(&key) {
                        run.answers.extend(heard(answers));
                        self.go(key, server);
                    }
                }
                ServerEvent::Note(note) => self.notes.push(note),
                ServerEvent::Stray(what) => self.strays.push(what),
                ServerEvent::Opened(_) => {}
            }
        }
        any
    }

    fn called(&mut self, called: Called, server: &mut Server) {
        let named = called.method.named_by().and_then(|key| called.params.as_ref()?.get(key));
        let name = named.as_ref().and_then(Raw::as_text).unwrap_or_default().into_owned();
        self.served.push(format!("{} {name}", called.method).trim_end().to_owned());
        let uri = || called.params.as_ref()?.get("uri")?.as_text().map(std::borrow::Cow::into_owned);
        let key = called.key;
        let outcome = match called.method {
            Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead => return self.start(called, name, server),
            Method::Listen => match Filter::read(called.params.as_ref()) {
                Ok(filter) => {
                    server.note(key, modern::acknowledge(&called.id, &filter));
                    self.listeners.insert(key, (called.id, filter));
                    return;
                }
                Err(fault) => Err(fault.into()),
            },
            Method::Subscribe => {
                self.uris.extend(uri());
                Ok(Raw::EMPTY)
            }
            Method::Unsubscribe => {
                uri().map(|uri| self.uris.remove(&uri));
                Ok(Raw::EMPTY)
            }
            other => self.list(&other),
        };
        server.done(key, outcome);
    }

    fn list(&self, method: &Method) -> Outcome {
        let tool = |name: &String| json!({"name": name, "inputSchema": {"type": "object"}});
        Ok(Raw::of(&match method {
            Method::ToolsList => json!({"tools": self.plans.keys().map(tool).collect::<Vec<_>>()}),
            Method::PromptsList => json!({"prompts": [{"name": "echo"}]}),
            Method::ResourcesList => json!({"resources": [{"uri": "mem:echo", "name": "echo"}]}),
            Method::TemplatesList => json!({"resourceTemplates": [{"uriTemplate": "mem:{x}", "name": "all"}]}),
            Method::Complete => json!({"completion": {"values": ["one"]}}),
            Method::SetLevel => json!({}),
            other => return Err(ErrorObject::new(code::METHOD_NOT_FOUND, format!("no {other} here"))),
        }))
    }

    fn start(&mut self, called: Called, name: String, server: &mut Server) {
        let plan = name.strip_prefix("mem:").unwrap_or(&name);
        if !self.plans.contains_key(plan) {
            let unknown = match called.method {
                Method::ResourcesRead => ErrorObject::new(code::RESOURCE_NOT_FOUND, "no such resource"),
                _ => ErrorObject::invalid_params("no such name"),
            };
            return server.done(called.key, Err(unknown));
        }
        let name = plan.to_owned();
        let (key, state) = (called.key, called.returning.state.clone());
        let brought = called.returning.answers.clone().unwrap_or_default();
        let mut run = Run { called, name, at: 0, answers: vec![] };
        if let Some(state) = state {
            match state.as_text().and_then(|text| serde_json::from_str::<(usize, Vec<(String, String)>)>(&text).ok()) {
                Some((at, answers)) => (run.at, run.answers) = (at, answers),
                None => return server.done(key, Err(ErrorObject::invalid_params("`requestState` is not mine"))),
            }
            run.answers.extend(heard(brought));
        }
        self.running.insert(key, run);
        self.go(key, server);
    }

    /// Goes on with what waits under `name`.
    pub fn go_on(&mut self, name: &str, server: &mut Server) {
        let waiting: Vec<_> = self.running.iter().filter(|(_, run)| run.name == name).map(|(key, _)| *key).collect();
        for key in waiting {
            self.go(key, server);
        }
    }

    fn go(&mut self, key: ServeId, server: &mut Server) {
        loop {
            let Some(run) = self.running.get_mut(&key) else { return };
            let act = self.plans.get(&run.name).and_then(|plan| plan.get(run.at)).cloned();
            run.at += 1;
            let outcome = match act {
                Some(Act::Progress(far, message)) => {
                    server.note(key, Note::progress(far, Some(9.0), Some(message)));
                    continue;
                }
                Some(Act::Log(level)) => {
                    let line = json!({"level": level, "data": run.name});
                    server.note(key, Note::new(Method::Message, Raw::of(&line)));
                    continue;
                }
                Some(Act::Ask(asks)) => {
                    let asks = asks.into_iter().map(|(key, ask)| (key.to_owned(), ask)).collect();
                    return self.ask(key, &asks, server);
                }
                Some(Act::ComeBack) => return self.ask(key, &Asks::default(), server),
                Some(Act::Wait) => return,
                Some(Act::Fail(error)) => Err(error),
                Some(Act::Answer(result)) => Ok(Raw::of(&result)),
                None => Ok(run.result()),
            };
            self.running.remove(&key);
            return server.done(key, outcome);
        }
    }

    fn ask(&mut self, key: ServeId, asks: &Asks, server: &mut Server) {
        let Some(run) = self.running.get(&key) else { return };
        if run.called.caller.revision.has(Feature::Stateless) {
            let state = serde_json::to_string(&(run.at, &run.answers)).unwrap_or_default();
            server.ask(key, asks, Some(&Raw::of(&state)));
            self.running.remove(&key);
        } else {
            server.ask(key, asks, None);
        }
    }

    /// Tells everyone who wants to know that something changed.
    pub fn change(&self, change: &Change, server: &mut Server) {
        if (Filter { uris: self.uris.clone(), ..Filter::lists() }).wants(change) {
            server.tell(legacy::note(change));
        }
        for (key, (id, filter)) in &self.listeners {
            if filter.wants(change) {
                server.note(*key, modern::note(id, change));
            }
        }
    }

    /// Ends every subscription of the modern era.
    pub fn end_listening(&mut self, server: &mut Server) {
        for (key, (id, _)) in std::mem::take(&mut self.listeners) {
            server.done(key, Ok(modern::end(&id)));
        }
    }

    /// Ends everything that still runs, one way or another.
    pub fn finish(&mut self, server: &mut Server) {
        for (key, run) in std::mem::take(&mut self.running) {
            server.done(key, Ok(run.result()));
        }
        self.end_listening(server);
    }
}

impl Run {
    /// What was given and what was heard, so that a test sees whose answer it is.
    fn result(&self) -> Raw {
        let arguments = self.called.params.as_ref().and_then(|params| params.get("arguments"));
        let mut text = arguments.map_or_else(String::new, |arguments| format!("{arguments:?}"));
        for (key, answer) in &self.answers {
            text += &format!(" {key}={answer}");
        }
        let text = text.trim_start();
        let block = json!({"type": "text", "text": text});
        Raw::of(&match self.called.method {
            Method::PromptsGet => json!({"messages": [{"role": "user", "content": block}]}),
            Method::ResourcesRead => json!({"contents": [{"uri": format!("mem:{}", self.name), "text": text}]}),
            _ => json!({"content": [block]}),
        })
    }
}

/// Answers in a few words each.
fn heard(answers: Answers) -> impl Iterator<Item = (String, String)> {
    answers.into_iter().map(|(key, answer)| {
        let said = match answer {
            Err(error) => format!("error {}", error.code),
            Ok(answer) => match ["action", "model", "roots"].iter().find_map(|known| answer.get(known)) {
                Some(told) => format!("{told:?}"),
                None => format!("{answer:?}"),
            },
        };
        (key, said)
    })
}
