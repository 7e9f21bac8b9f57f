//! What a scripted server does with a call, whichever way it came.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::super::acts::Act;
use super::super::meeting::{Era, Link};

/// How long a client may take to answer a question.
const ANSWER: Duration = Duration::from_secs(10);
/// Longer than the bay waits for a word.
const OVERDUE: Duration = Duration::from_secs(3);
const FLOOD: usize = 1000;
/// Half of a long text.
const HALF: usize = 150_000;

/// Where the messages of one call go.
pub(super) trait Voice {
    /// Sends a message.
    fn say(&mut self, message: &Value);
    /// Sends what is none.
    fn junk(&mut self, bytes: &[u8]);
    /// Sends half of a message and hangs up.
    fn cut(&mut self, message: &Value);
}

/// The server's memory.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) era: Era,
    link: Link,
    ran: Arc<Mutex<File>>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The id of a call that was answered.
    done: Option<Value>,
    asked: u64,
    waiting: HashMap<String, SyncSender<Value>>,
}

impl Desk {
    /// Notes each call that begins in a file.
    pub(super) fn new(era: Era, link: Link, ran: &Path) -> Result<Self> {
        let ran = OpenOptions::new().create(true).append(true).open(ran)?;
        Ok(Self { era, link, ran: Arc::new(Mutex::new(ran)), state: Arc::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands an answer to whoever asked; false where it is none to a question of ours.
    pub(super) fn answered(&self, message: &Value) -> bool {
        let id = message["id"].as_str().unwrap_or_default();
        let Some(waiting) = self.state().waiting.remove(id) else { return false };
        let _ = waiting.try_send(message.clone());
        true
    }

    /// The act that a call wants.
    pub(super) fn act(message: &Value) -> Act {
        let word = message["params"]["arguments"]["act"].as_str().unwrap_or_default();
        Act::parse(word).unwrap_or(Act::Plain)
    }

    /// Does what a call wants.
    pub(super) fn perform(&self, message: &Value, voice: &mut dyn Voice) {
        let call = Call { desk: self, id: &message["id"], params: &message["params"] };
        if call.params.get("inputResponses").is_none() {
            let line = format!("{}\n", call.token());
            let _ = self.ran.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
        }
        let act = Self::act(message);
        match act {
            Act::Ask => call.ask(voice),
            Act::Cut => voice.cut(&call.own()),
            Act::Die => std::process::exit(1),
            Act::Silent => return,
            _ => call.answer(act, voice),
        }
        self.state().done = Some(call.id.clone());
    }
}

struct Call<'c> {
    desk: &'c Desk,
    id: &'c Value,
    params: &'c Value,
}

impl Call<'_> {
    fn token(&self) -> &str {
        self.params["arguments"]["token"].as_str().unwrap_or_default()
    }

    fn result(&self, id: &Value, text: &str) -> Value {
        let mut result = json!({ "content": [{ "type": "text", "text": text }] });
        if self.desk.era == Era::Modern {
            result["resultType"] = json!("complete");
        }
        json!({ "jsonrpc": "2.0", "id": id, "result": result })
    }

    fn own(&self) -> Value {
        self.result(self.id, &format!("own {}", self.token()))
    }

    /// A note on this call, where its caller wants them.
    fn progress(&self, step: usize) -> Option<Value> {
        let token = self.params["_meta"].get("progressToken")?;
        let params = json!({ "progressToken": token, "progress": step, "message": self.token() });
        Some(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
    }

    fn answer(&self, act: Act, voice: &mut dyn Voice) {
        let stray = |id: Value| self.result(&id, &format!("stray {}", self.token()));
        match act {
            Act::Late => thread::sleep(Duration::from_millis(self.params["arguments"]["ms"].as_u64().unwrap_or(300))),
            Act::Overdue => thread::sleep(OVERDUE),
            Act::Progress => (1..=8).for_each(|step| {
                thread::sleep(Duration::from_millis(350));
                self.progress(step).iter().for_each(|note| voice.say(note));
            }),
            Act::Flood => (1..=FLOOD).filter_map(|step| self.progress(step)).for_each(|note| voice.say(&note)),
            Act::Foreign => {
                voice.say(&stray(json!(self.id.to_string())));
                voice.say(&stray(json!(self.id.as_u64().unwrap_or_default() + 1_000_000_000)));
                // Over HTTP another session's may be in flight under the same number.
                let done = self.desk.state().done.clone().filter(|_| self.desk.link == Link::Stdio);
                done.into_iter().for_each(|id| voice.say(&stray(id)));
            }
            Act::Junk => {
                voice.junk(b"this is no message");
                voice.junk(b"{\"jsonrpc\":\"2.0\",\"id\":");
                // In an event stream that ends the stream: it is text, or nothing.
                if self.desk.link == Link::Stdio {
                    voice.junk(b"\xff\xfe{}");
                }
            }
            _ => {}
        }
        match act {
            Act::Error => {
                let error = json!({ "code": -32000, "message": format!("own {}", self.token()) });
                voice.say(&json!({ "jsonrpc": "2.0", "id": self.id, "error": error }));
            }
            Act::Big => {
                let half = "x".repeat(HALF);
                voice.say(&self.result(self.id, &format!("own {} {half} {half} {}", self.token(), self.token())));
            }
            _ => voice.say(&self.own()),
        }
        if act == Act::Twice {
            voice.say(&stray(self.id.clone()));
        }
    }

    fn ask(&self, voice: &mut dyn Voice) {
        let schema = json!({ "type": "object", "properties": { "echo": { "type": "string" } } });
        let question = json!({ "message": format!("ask {}", self.token()), "requestedSchema": schema });
        let echo = match self.desk.era {
            Era::Modern => match self.params.get("inputResponses") {
                Some(answers) => answers["q"]["content"]["echo"].as_str().unwrap_or("refused").to_owned(),
                None => {
                    let asks = json!({ "q": { "method": "elicitation/create", "params": question } });
                    let result =
                        json!({ "resultType": "input_required", "requestState": self.token(), "inputRequests": asks });
                    return voice.say(&json!({ "jsonrpc": "2.0", "id": self.id, "result": result }));
                }
            },
            Era::Legacy => {
                let (send, answer) = mpsc::sync_channel(1);
                let id = {
                    let mut state = self.desk.state();
                    state.asked += 1;
                    let id = format!("ask-{}", state.asked);
                    state.waiting.insert(id.clone(), send);
                    id
                };
                voice.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": question }));
                let answer = answer.recv_timeout(ANSWER).unwrap_or_default();
                self.desk.state().waiting.remove(&id);
                answer["result"]["content"]["echo"].as_str().unwrap_or("refused").to_owned()
            }
        };
        voice.say(&self.result(self.id, &format!("own {} {echo}", self.token())));
    }
}
