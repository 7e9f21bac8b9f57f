//! Conversations written down, and the player that holds one end of them.
//!
//! A file holds one line for each message: `> …` from client to server, `< …` from server to client. `! …` has the one
//! who is played do something, `= …` says what it heard, `# …` is for readers. Messages are compared as JSON, where `"*"`
//! stands for any value and a member `"*"` for any others. Whatever is not expected is an error, silence included.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use bytes::Bytes;
use serde_json::Value;
use toolbay_protocol::{
    Frame, Method, Raw, Revision,
    exchange::{Answers, Outcome, Step, Wishes},
    frame::Rejected,
    peer::{Call, CallId, Client, ClientEvent, Server},
    scan::Limits,
    watch::Change,
};

use crate::{FakeClock, Service, pair};

/// Where the conversations of this workspace are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

/// One conversation.
#[derive(Clone, Debug)]
pub struct Script {
    /// Its file.
    pub path: PathBuf,
    /// The revision it is in, by its folder.
    pub revision: Revision,
    lines: Vec<(usize, char, String)>,
}

impl Script {
    /// Every conversation beneath `folder`, in the order of their names.
    ///
    /// # Panics
    /// If a file or a folder cannot be read.
    pub fn all(folder: &Path) -> Vec<Self> {
        let mut found = vec![];
        for revision in Revision::ALL {
            let entries = fs::read_dir(folder.join(revision.as_str())).expect("each revision has a folder");
            let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
            paths.sort();
            found.extend(paths.into_iter().map(|path| Self::read(path, revision)));
        }
        found
    }

    fn read(path: PathBuf, revision: Revision) -> Self {
        let text = fs::read_to_string(&path).expect("a conversation can be read");
        Self::of(path, revision, &text)
    }

    /// A conversation in `revision`, as it would stand in the file `path`.
    ///
    /// # Panics
    /// Where a line is none of the kinds.
    pub fn of(path: impl Into<PathBuf>, revision: Revision, text: &str) -> Self {
        let path = path.into();
        let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let lines = lines.map(|(number, line)| {
            let kind = line.chars().next().unwrap_or(' ');
            assert!("><!=".contains(kind), "{}:{}: begins with {kind:?}", path.display(), number + 1);
            (number + 1, kind, line[1..].trim().to_owned())
        });
        let lines = lines.collect();
        Self { path, revision, lines }
    }

    /// The name of the file, without what follows the dot.
    pub fn name(&self) -> &str {
        self.path.file_stem().and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// Plays it against a server with a service of the default plans.
    ///
    /// # Panics
    /// Where the server says anything else than the conversation has it say.
    pub fn play_server(&self) {
        let mut server = Server::new(pair::profile("callee"));
        let mut service = Service::default();
        let mut said = Said::default();
        for (number, kind, line) in &self.lines {
            let place = format!("{}:{number}", self.path.display());
            match kind {
                '>' => {
                    said.nothing_more(&place);
                    match Frame::parse_batch(&line.clone().into(), Limits::DEFAULT) {
                        Some(batch) => server.receive_batch(batch),
                        None => server.receive(parse(line)),
                    }
                }
                '!' => match line.split_once(' ') {
                    Some(("go", name)) => service.go_on(name, &mut server),
                    Some(("change", what)) => service.change(&change(what), &mut server),
                    _ if line == "stop" => service.end_listening(&mut server),
                    _ => panic!("{place}: a server does not {line}"),
                },
                '<' => said.expect(line, &place),
                _ => panic!("{place}: a server hears nothing"),
            }
            service.serve(&mut server);
            said.0.extend(std::iter::from_fn(|| server.transmit()));
        }
        said.nothing_more(&format!("{}: at the end", self.path.display()));
    }

    /// Plays it against a client that was told of this revision.
    ///
    /// # Panics
    /// Where the client says or hears anything else than the conversation has it.
    pub fn play_client(&self) {
        let us = pair::us().in_revision(self.revision);
        let mut desk = Desk { client: Client::new(us.into()), clock: FakeClock::new(), last: CallId(0), heard: vec![] };
        let mut said = Said::default();
        for (number, kind, line) in &self.lines {
            let place = format!("{}:{number}", self.path.display());
            if *kind == '!' || *kind == '<' {
                said.nothing_more(&place);
                assert!(desk.heard.is_empty(), "{place}: before it, this was heard: {:?}", desk.heard);
            }
            match kind {
                '<' => desk.client.receive(parse(line), desk.clock.now()),
                '!' => desk.obey(line, &place),
                '>' => said.expect(line, &place),
                _ => {
                    assert!(!desk.heard.is_empty(), "{place}: nothing was heard");
                    assert_eq!(desk.heard.remove(0), *line, "{place}");
                }
            }
            desk.listen();
            said.0.extend(std::iter::from_fn(|| desk.client.transmit()));
        }
        said.nothing_more(&format!("{}: at the end", self.path.display()));
        assert!(desk.heard.is_empty(), "{}: at the end: {:?}", self.path.display(), desk.heard);
    }
}

fn parse(line: &str) -> Result<Frame, Rejected> {
    Frame::parse(&Bytes::copy_from_slice(line.as_bytes()))
}

fn raw(text: &str, place: &str) -> Raw {
    Raw::parse(text.to_owned().into(), Limits::DEFAULT).unwrap_or_else(|flaw| panic!("{place}: {flaw}"))
}

fn change(what: &str) -> Change {
    match what {
        "tools" => Change::Tools,
        "prompts" => Change::Prompts,
        "resources" => Change::Resources,
        uri => Change::Updated(uri.to_owned()),
    }
}

/// What was said and not yet expected.
#[derive(Default)]
struct Said(VecDeque<Frame>);

impl Said {
    fn nothing_more(&self, place: &str) {
        assert!(self.0.is_empty(), "{place}: before it, this was said: {:?}", self.0);
    }

    fn expect(&mut self, line: &str, place: &str) {
        let found = self.0.pop_front().unwrap_or_else(|| panic!("{place}: nothing was said"));
        let found: Value = serde_json::from_slice(&found.to_bytes()).expect("a frame is JSON");
        let expected: Value = serde_json::from_str(line).unwrap_or_else(|flaw| panic!("{place}: {flaw}"));
        assert!(alike(&expected, &found), "{place}\nexpected {expected}\nfound    {found}");
    }
}

fn alike(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::String(any), _) if any == "*" => true,
        (Value::Object(expected), Value::Object(found)) => {
            let open = expected.contains_key("*");
            let named = expected.iter().filter(|(key, _)| *key != "*");
            let all = named.clone().all(|(key, value)| found.get(key).is_some_and(|found| alike(value, found)));
            all && (open || found.len() == named.count())
        }
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len() && expected.iter().zip(found).all(|(expected, found)| alike(expected, found))
        }
        (expected, found) => expected == found,
    }
}

/// A client that is played, and what it heard.
struct Desk {
    client: Client,
    clock: FakeClock,
    last: CallId,
    heard: Vec<String>,
}

impl Desk {
    fn obey(&mut self, line: &str, place: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (first, body) = rest.split_once(' ').unwrap_or((rest, "{}"));
        let now = self.clock.now();
        match word {
            // `call` wants nothing beside the outcome, `follow` progress too.
            "call" | "follow" => {
                self.last = CallId(self.last.0 + 1);
                let wishes = if word == "follow" { Wishes::progress() } else { Wishes::default() };
                let call = Call { wishes, ..Call::new(Method::parse(first), Some(raw(body, place))) };
                self.client.call(self.last, call, now);
            }
            "answer" => self.client.answer(self.last, Answers::one(first, Ok(raw(body, place))), now),
            "refuse" => {
                let refused = toolbay_protocol::ErrorObject::new(-1, "the user refuses");
                self.client.answer(self.last, Answers::one(first, Err(refused)), now);
            }
            "cancel" => self.client.cancel(self.last, "the caller wants it no more"),
            "wait" => {
                self.clock.advance(Duration::from_secs(first.parse().unwrap_or_else(|_| panic!("{place}: how long?"))));
                self.client.expire(self.clock.now());
            }
            _ => panic!("{place}: a client does not {line}"),
        }
    }

    fn listen(&mut self) {
        while let Some(event) = self.client.event() {
            let what = match event {
                ClientEvent::Step(CallId(call), Step::Note(note)) => format!("{call} note {}", note.method),
                ClientEvent::Step(CallId(call), Step::Away(_)) => format!("{call} away"),
                ClientEvent::Step(CallId(call), Step::Withdrawn(key)) => format!("{call} withdrawn {key}"),
                ClientEvent::Step(CallId(call), Step::Ask(asks)) => {
                    let asks: Vec<_> = asks.iter().map(|(key, ask)| format!("{key} {}", ask.method)).collect();
                    format!("{call} ask {}", asks.join(", "))
                }
                ClientEvent::Step(CallId(call), Step::Done(outcome)) => format!("{call} {}", ended(&outcome)),
                ClientEvent::Overdue(CallId(call)) => format!("{call} overdue"),
                ClientEvent::Note(note) => format!("note {}", note.method),
                ClientEvent::Asked(id, ask) => format!("asked {id} {}", ask.method),
                ClientEvent::Withdrawn(id) => format!("withdrawn {id}"),
                ClientEvent::Stray(_) => "stray".to_owned(),
            };
            self.heard.push(what.trim_end().to_owned());
        }
    }
}

fn ended(outcome: &Outcome) -> String {
    match outcome {
        Ok(_) => "done".to_owned(),
        Err(error) => format!("error {}", error.code),
    }
}
