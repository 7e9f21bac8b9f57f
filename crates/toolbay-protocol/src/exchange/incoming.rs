//! The callee's side of a request.

use std::sync::Arc;

use super::{
    stamp::stamp,
    step::{Answers, Asks, Note, Outcome},
};
use crate::{
    fault::{ErrorObject, code},
    frame::{Frame, Id},
    greeting::{Introduction, envelope::Envelope},
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
    progress: Option<f64>,
    log_level: Option<Level>,
    asked: Vec<Asked>,
    rounds: Vec<(Round, Answers)>,
    round: u32,
}

/// Questions that were put together and are answered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
        Self::of(params.get("inputResponses"), params.get("requestState"))
    }

    /// What a repeated request brings as `inputResponses` and `requestState`.
    pub fn of(answers: Option<Raw>, state: Option<Raw>) -> Self {
        let some = |value: Option<Raw>| value.filter(|value| value.kind() != Kind::Null);
        Self { answers: some(answers).map(|all| Answers::read(&all)), state: some(state) }
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

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        Self::NAMES[self.0]
    }
}

impl Incoming {
    /// A request of `caller`, answered in its revision; `server` is who answers, as results of the modern era say.
    pub fn new(caller: Arc<Introduction>, server: Option<Raw>, id: Id, method: Method, params: Option<&Raw>) -> Self {
        let meta = params.and_then(|params| params.get("_meta"));
        Self::within(caller, server, id, method, &Envelope::of(meta.as_ref()).unwrap_or_default())
    }

    /// The same where the members of `_meta` were found already.
    pub fn within(caller: Arc<Introduction>, server: Option<Raw>, id: Id, method: Method, envelope: &Envelope) -> Self {
        let token = envelope.progress_token.clone().filter(|token| Id::read(token).is_some());
        let level = envelope.log_level.as_ref().filter(|_| caller.revision.has(Feature::Stateless));
        let log_level = level.and_then(|level| level.as_text().and_then(|name| Level::parse(&name)));
        Self { caller, server, id, method, token, progress: None, log_level, asked: vec![], rounds: vec![], round: 0 }
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

    /// What is asked for.
    pub fn method(&self) -> &Method {
        &self.method
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
    pub fn note(&mut self, note: Note) -> Option<Frame> {
        let Note { method, params } = note;
        let params = match method {
            // spec: basic/patterns/subscriptions, only what was subscribed to
            Method::Progress | Method::Message if self.method == Method::Listen => return None,
            Method::Progress => Some(self.progress(params?)?),
            // spec: server/utilities/logging; a modern request says itself what it wants, a session says it once
            Method::Message if self.caller.revision.has(Feature::Stateless) || self.log_level.is_some() => {
                let name = params.as_ref().and_then(|params| params.get("level"));
                let level = name.as_ref().and_then(Raw::as_text).and_then(|name| Level::parse(&name))?;
                if self.log_level.is_none_or(|wanted| level < wanted) {
                    return None;
                }
                params
            }
            _ if method.is_foreign_to(self.caller.revision) => return None,
            _ => params,
        };
        Some(Frame::Notification { method, params })
    }

    /// Progress under the caller's token, where it gave one, and where there is some (spec: basic/utilities/progress).
    fn progress(&mut self, params: Raw) -> Option<Raw> {
        let token = self.token.as_ref()?;
        let progress = params.get("progress").filter(|progress| progress.kind() == Kind::Number)?.read().ok()?;
        if self.progress.is_some_and(|before| progress <= before) {
            return None;
        }
        self.progress = Some(progress);
        let params = params.with(&[("progressToken", Some(token))]);
        let wordy = self.caller.revision.has(Feature::ProgressMessage);
        Some(if wordy { params } else { params.with(&[("message", None)]) })
    }

    /// The frames that put questions to the caller: requests of ours under ids from `mint` (handshake), or a result that
    /// ends this request and has the caller return with `state` (stateless). What the caller did not declare is not put
    /// to it: a session answers with an error ([`Incoming::settle`]), a stateless request ends with one.
    pub fn ask(&mut self, asks: &Asks, state: Option<&Raw>, mint: impl FnMut() -> Id) -> (Round, Vec<Frame>) {
        self.round += 1;
        let round = Round(self.round);
        if self.caller.revision.has(Feature::Handshake) {
            return (round, self.put(round, asks, mint));
        }
        (round, vec![self.part(asks, state)])
    }

    fn put(&mut self, round: Round, asks: &Asks, mut mint: impl FnMut() -> Id) -> Vec<Frame> {
        let (mut frames, mut refused) = (Vec::with_capacity(asks.len()), Answers::default());
        for (key, ask) in asks.iter() {
            match self.caller.admits(ask) {
                Ok(()) => {
                    let id = mint();
                    self.asked.push(Asked { id: id.clone(), key: key.to_owned(), round });
                    frames.push(Frame::request(id, ask.method.clone(), ask.params.clone()));
                }
                Err(fault) => refused.insert(key, Err(fault.into())),
            }
        }
        self.rounds.push((round, refused));
        frames
    }

    fn part(&self, asks: &Asks, state: Option<&Raw>) -> Frame {
        if !self.method.may_ask() {
            return self.done(Err(ErrorObject::internal(format!("{} may ask its caller nothing", self.method))));
        }
        if asks.is_empty() && state.is_none() {
            return self.done(Err(ErrorObject::internal("the service asks for input without saying which")));
        }
        if let Err(fault) = asks.iter().try_for_each(|(_, ask)| self.caller.admits(ask)) {
            return self.done(Err(fault.into()));
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
        Frame::Result { id: self.id.clone(), result }
    }

    /// Whether an ask ends this request: the caller will come back with a new one.
    pub fn will_return(&self) -> bool {
        self.caller.revision.has(Feature::Stateless)
    }

    /// Takes the caller's reply to one of our questions; the answers of its round, once all are in.
    pub fn receive(&mut self, id: &Id, answer: Outcome) -> Option<(Round, Answers)> {
        let place = self.asked.iter().position(|asked| asked.id == *id)?;
        let Asked { key, round, .. } = self.asked.swap_remove(place);
        let (_, answers) = self.rounds.iter_mut().find(|(open, _)| *open == round)?;
        answers.insert(key, answer);
        self.settle(round).map(|answers| (round, answers))
    }

    /// The answers of a round that no question is open in; once.
    pub fn settle(&mut self, round: Round) -> Option<Answers> {
        if self.asked.iter().any(|asked| asked.round == round) {
            return None;
        }
        let place = self.rounds.iter().position(|(open, _)| *open == round)?;
        Some(self.rounds.swap_remove(place).1)
    }

    /// Forgets the questions of a round that nobody waits for any more; the frames that take them back.
    // spec: basic/utilities/cancellation
    pub fn withdraw(&mut self, round: Round) -> Vec<Frame> {
        self.rounds.retain(|(open, _)| *open != round);
        let withdrawn = self.asked.extract_if(.., |asked| asked.round == round);
        withdrawn.map(|asked| Note::cancelled(&asked.id, "it is not asked any more").into_frame()).collect()
    }

    /// The ids of questions that are still open.
    pub fn asked(&self) -> impl Iterator<Item = &Id> {
        self.asked.iter().map(|asked| &asked.id)
    }

    /// The frame that ends it.
    pub fn done(&self, outcome: Outcome) -> Frame {
        match outcome {
            Ok(result) if result.kind() != Kind::Object => {
                self.done(Err(ErrorObject::internal(format!("the result of {} is no object", self.method))))
            }
            Ok(result) => {
                let result = stamp(result, &self.method, self.caller.revision, self.server.as_ref());
                Frame::Result { id: self.id.clone(), result }
            }
            Err(mut error) => {
                error.conform(&self.method, self.caller.revision);
                if self.caller.revision.has(Feature::Stateless) && is_reserved(error.code) {
                    error.code = code::INTERNAL;
                }
                Frame::reply(self.id.clone(), Err::<Raw, ErrorObject>(error))
            }
        }
    }
}

/// Whether a code means nothing yet, or means what a modern peer may no longer say (spec: basic/index).
fn is_reserved(code: i64) -> bool {
    let assigned = matches!(code, code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION);
    (-32099..=-32000).contains(&code) && !assigned
}
