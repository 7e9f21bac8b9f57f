//! The callee's side of a request.

use std::sync::Arc;

use super::{
    stamp::stamp,
    step::{Answers, Asks, Note, Outcome},
};
use crate::{
    fault::ErrorObject,
    frame::{Frame, Id},
    greeting::Introduction,
    method::Method,
    raw::{Kind, Object, Raw},
    revision::Feature,
};

/// A request to us, from its arrival to its outcome.
#[derive(Debug)]
pub struct Incoming {
    caller: Arc<Introduction>,
    server: Option<Raw>,
    id: Id,
    method: Method,
    token: Option<Raw>,
    log_level: Option<Level>,
    asked: Vec<Asked>,
    rounds: Vec<(Round, Answers)>,
    round: u32,
}

/// Questions that were put together and are answered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Round(u32);

/// One question of ours that is still open.
#[derive(Debug)]
struct Asked {
    id: Id,
    key: String,
    round: Round,
}

/// What a caller brings back after it was asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Return {
    /// Its answers.
    pub answers: Option<Answers>,
    /// The state it was given, exactly.
    pub state: Option<Raw>,
}

impl Return {
    /// Reads what a repeated request brings; nothing in the legacy era, where answers come as replies.
    pub fn read(caller: &Introduction, params: Option<&Raw>) -> Self {
        let Some(params) = params.filter(|_| caller.revision.has(Feature::Stateless)) else { return Self::default() };
        let some = |key| params.get(key).filter(|value| value.kind() != Kind::Null);
        Self { answers: some("inputResponses").map(|all| Answers::read(&all)), state: some("requestState") }
    }
}

/// How bad a log line is, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(usize);

impl Level {
    const NAMES: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

    /// The level called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|known| *known == name).map(Self)
    }
}

impl Incoming {
    /// A request of `caller`, answered in its revision; `server` is who answers, as results of the modern era say.
    pub fn new(caller: Arc<Introduction>, server: Option<Raw>, id: Id, method: Method, params: Option<&Raw>) -> Self {
        let meta = params.and_then(|params| params.get("_meta"));
        let token = meta.as_ref().and_then(|meta| meta.get("progressToken")).filter(|token| Id::read(token).is_some());
        let level = meta.as_ref().and_then(|meta| meta.get(crate::greeting::envelope::LOG_LEVEL));
        let log_level = level.and_then(|level| level.as_text().and_then(|name| Level::parse(&name)));
        Self { caller, server, id, method, token, log_level, asked: vec![], rounds: vec![], round: 0 }
    }

    /// The same request in a session that set its level of logging.
    #[must_use]
    pub fn logging_from(mut self, level: Option<Level>) -> Self {
        self.log_level = self.log_level.or(level);
        self
    }

    /// The id under which the caller waits.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Who calls.
    pub fn caller(&self) -> &Arc<Introduction> {
        &self.caller
    }

    /// Whether the caller wants progress.
    pub fn wants_progress(&self) -> bool {
        self.token.is_some()
    }

    /// The frame for a note, where this caller may be sent it.
    pub fn note(&self, note: Note) -> Option<Frame> {
        let Note { method, params } = note;
        let params = match method {
            // spec: basic/utilities/progress, only for a token that was given
            Method::Progress => {
                let token = self.token.as_ref()?;
                let mut params = params.unwrap_or(Raw::EMPTY).with(&[("progressToken", Some(token))]);
                if !self.caller.revision.has(Feature::ProgressMessage) {
                    params = params.with(&[("message", None)]);
                }
                Some(params)
            }
            // spec: server/utilities/logging; a modern request says itself what it wants, a session says it once
            Method::Message if self.caller.revision.has(Feature::Stateless) || self.log_level.is_some() => {
                let name = params.as_ref().and_then(|params| params.get("level"));
                let level = name.as_ref().and_then(Raw::as_text).and_then(|name| Level::parse(&name))?;
                if self.log_level.is_none_or(|wanted| level < wanted) {
                    return None;
                }
                params
            }
            _ if !method.lives_in(self.caller.revision) && method.sort().is_some() => return None,
            _ => params,
        };
        Some(Frame::Notification { method, params })
    }

    /// The frames that put questions to the caller: requests of ours under ids from `mint` (handshake), or a result that
    /// ends this request and has the caller return with `state` (stateless).
    pub fn ask(&mut self, asks: &Asks, state: Option<&Raw>, mut mint: impl FnMut() -> Id) -> (Round, Vec<Frame>) {
        self.round += 1;
        let round = Round(self.round);
        if self.caller.revision.has(Feature::Handshake) {
            let mut frames = Vec::with_capacity(asks.len());
            self.rounds.push((round, Answers::default()));
            for (key, ask) in asks.iter() {
                let id = mint();
                self.asked.push(Asked { id: id.clone(), key: key.to_owned(), round });
                frames.push(Frame::Request { id, method: ask.method.clone(), params: ask.params.clone() });
            }
            return (round, frames);
        }
        let mut result = Object::with_capacity(256);
        result.put_text("resultType", "input_required");
        if !asks.is_empty() {
            result.put("inputRequests", &asks.write());
        }
        if let Some(state) = state {
            result.put("requestState", state);
        }
        let result = stamp(result.finish(), &self.method, self.caller.revision, self.server.as_ref());
        (round, vec![Frame::Result { id: self.id.clone(), result }])
    }

    /// Whether an ask ends this request: the caller will come back with a new one.
    pub fn will_return(&self) -> bool {
        self.caller.revision.has(Feature::Stateless)
    }

    /// Takes the caller's reply to one of our questions; the answers of its round, once all are in.
    pub fn receive(&mut self, id: &Id, answer: Outcome) -> Option<(Round, Answers)> {
        let place = self.asked.iter().position(|asked| asked.id == *id)?;
        let Asked { key, round, .. } = self.asked.swap_remove(place);
        let place = self.rounds.iter().position(|(open, _)| *open == round)?;
        self.rounds[place].1.insert(key, answer);
        let open = self.asked.iter().any(|asked| asked.round == round);
        (!open).then(|| self.rounds.swap_remove(place))
    }

    /// The ids of questions that are still open.
    pub fn asked(&self) -> impl Iterator<Item = &Id> {
        self.asked.iter().map(|asked| &asked.id)
    }

    /// The frame that ends it.
    pub fn done(&self, outcome: Outcome) -> Frame {
        match outcome {
            Ok(result) => {
                let result = stamp(result, &self.method, self.caller.revision, self.server.as_ref());
                Frame::Result { id: self.id.clone(), result }
            }
            Err(mut error) => {
                error.conform(&self.method, self.caller.revision);
                Frame::reply(self.id.clone(), Err::<Raw, ErrorObject>(error))
            }
        }
    }
}
