//! Whoever stands behind a client: hears what becomes of calls, and answers what is asked.

use std::{collections::BTreeMap, time::Instant};

use serde_json::{Value, json};
use toolbay_protocol::{
    ErrorObject, Id, Method, Raw,
    exchange::{Answers, Ask, Asks, Note, Outcome, Step},
    fault::code,
    peer::{CallId, Client, ClientEvent},
};

/// How questions are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// They are answered at once.
    #[default]
    Answers,
    /// They are refused at once.
    Refuses,
    /// They wait until the test says [`Host::answer`].
    Waits,
}

/// The host.
#[derive(Debug, Default)]
pub struct Host {
    mood: Mood,
    stories: BTreeMap<CallId, Vec<String>>,
    outcomes: BTreeMap<CallId, Vec<Outcome>>,
    waiting: Vec<(CallId, Asks)>,
    notes: Vec<Note>,
    asked: Vec<(Id, Ask)>,
    strays: Vec<String>,
}

impl Host {
    /// A host of this mood.
    pub fn new(mood: Mood) -> Self {
        Self { mood, ..Self::default() }
    }

    /// What became of a call, in a few words a step.
    pub fn story(&self, call: CallId) -> &[String] {
        self.stories.get(&call).map_or(&[], Vec::as_slice)
    }

    /// How a call ended; more than one end would be wrong.
    pub fn outcomes(&self, call: CallId) -> &[Outcome] {
        self.outcomes.get(&call).map_or(&[], Vec::as_slice)
    }

    /// The notifications that belonged to no call.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The questions that belonged to no call.
    pub fn asked(&self) -> &[(Id, Ask)] {
        &self.asked
    }

    /// What was dropped.
    pub fn strays(&self) -> &[String] {
        &self.strays
    }

    /// The questions that wait.
    pub fn waiting(&self) -> &[(CallId, Asks)] {
        &self.waiting
    }

    /// Takes all that happened at `client` and answers what is asked; whether anything happened.
    pub fn hear(&mut self, client: &mut Client, now: Instant) -> bool {
        let mut any = false;
        while let Some(event) = client.event() {
            any = true;
            match event {
                ClientEvent::Step(call, step) => self.step(call, step, client, now),
                ClientEvent::Overdue(call) => {
                    self.tell(call, "overdue".into());
                    self.outcomes.entry(call).or_default().push(Err(ErrorObject::internal("overdue")));
                }
                ClientEvent::Note(note) => self.notes.push(note),
                ClientEvent::Asked(id, ask) => {
                    client.reply(id.clone(), answer(&ask));
                    self.asked.push((id, ask));
                }
                ClientEvent::Withdrawn(id) => self.strays.push(format!("server takes its question {id} back")),
                ClientEvent::Stray(what) => self.strays.push(what),
            }
        }
        any
    }

    fn tell(&mut self, call: CallId, what: String) {
        self.stories.entry(call).or_default().push(what);
    }

    fn step(&mut self, call: CallId, step: Step, client: &mut Client, now: Instant) {
        match step {
            Step::Note(note) => self.tell(call, short(&note)),
            Step::Away(_) | Step::Withdrawn(_) => {}
            Step::Ask(asks) => {
                for (_, ask) in asks.iter() {
                    let message = ask.params.as_ref().and_then(|params| params.get("message"));
                    let message = message.as_ref().and_then(Raw::as_text).unwrap_or_default().into_owned();
                    self.tell(call, format!("ask {} {message}", ask.method).trim_end().to_owned());
                }
                match self.mood {
                    Mood::Answers => client.answer(call, answers(&asks), now),
                    Mood::Refuses => {
                        let refused = ErrorObject::new(code::REFUSED, "the user refuses");
                        client.answer(call, Answers::refuse(&asks, &refused), now);
                    }
                    Mood::Waits => self.waiting.push((call, asks)),
                }
            }
            Step::Done(outcome) => {
                let what = match &outcome {
                    Ok(result) => format!("done {}", text(result)),
                    Err(error) => format!("error {}", error.code),
                };
                self.tell(call, what.trim_end().to_owned());
                self.outcomes.entry(call).or_default().push(outcome);
            }
        }
    }

    /// Answers what waits.
    pub fn answer(&mut self, client: &mut Client, now: Instant) {
        for (call, asks) in std::mem::take(&mut self.waiting) {
            client.answer(call, answers(&asks), now);
        }
    }
}

fn answers(asks: &Asks) -> Answers {
    asks.iter().map(|(key, ask)| (key.to_owned(), answer(ask))).collect()
}

fn answer(ask: &Ask) -> Outcome {
    Ok(Raw::of(&match ask.method {
        Method::Elicit => json!({"action": "accept", "content": {"n": "x"}}),
        Method::CreateMessage => {
            json!({"role": "assistant", "content": {"type": "text", "text": "hm."}, "model": "m"})
        }
        Method::RootsList => json!({"roots": [{"uri": "file:///r"}]}),
        _ => return Err(ErrorObject::new(code::METHOD_NOT_FOUND, "what?")),
    }))
}

/// A note in a few words.
fn short(note: &Note) -> String {
    let params: Value = note.params.as_ref().and_then(|params| params.read().ok()).unwrap_or_default();
    let said = match note.method {
        Method::Progress => format!("progress {} {}", params["progress"], params["message"].as_str().unwrap_or("")),
        Method::Message => format!("log {}", params["level"].as_str().unwrap_or("?")),
        _ => note.method.to_string(),
    };
    said.trim_end().to_owned()
}

/// What a result says, its envelope aside.
fn text(result: &Raw) -> String {
    let value: Value = result.read().unwrap_or_default();
    let blocks = ["content", "contents", "messages"].iter().find_map(|key| value[*key].as_array());
    let Some(blocks) = blocks else { return format!("{result:?}") };
    let said = blocks.iter().map(|block| match block["content"].is_object() {
        true => block["content"]["text"].as_str(),
        false => block["text"].as_str(),
    });
    let said: Vec<_> = said.map(|text| text.unwrap_or("?")).collect();
    if value["isError"] == true { format!("failing {}", said.join(" ")) } else { said.join(" ") }
}
