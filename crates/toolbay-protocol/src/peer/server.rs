//! The server's end of a duplex link; it serves both eras, message by message.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
};

use foldhash::fast::RandomState;

use super::{
    admission::{admit_legacy, admit_modern},
    sound::{Sound, sound},
    table::Table,
};
use crate::{
    exchange::{Answers, Asks, Incoming, Level, Note, Outcome, Return, Round},
    fault::{ErrorObject, Fault, code},
    frame::{Frame, Id, Noted, Part, Parts, Rejected},
    greeting::{
        Introduction, Profile,
        envelope::{self, Envelope},
        legacy, modern,
    },
    method::Method,
    raw::Raw,
    revision::Feature,
};

/// What one client may have going at once, and say of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// How many requests it may have in flight (`session_requests`).
    pub requests: usize,
    /// How many resources it may subscribe to (`subscriptions`); whoever watches them for it keeps to it.
    pub subscriptions: usize,
    /// How many bytes it may say of itself, where that is kept for a session (`introduction_bytes`).
    pub introduction_bytes: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { requests: 1024, subscriptions: 1000, introduction_bytes: 64 << 10 }
    }
}

impl Allowance {
    /// An error where a client that has so many requests in flight may have no further one.
    pub fn one_more(&self, in_flight: usize) -> Result<(), Fault> {
        if in_flight < self.requests {
            return Ok(());
        }
        Err(Fault::order(format!("more than {} requests in flight (limit `session_requests`)", self.requests)))
    }

    /// An error where a client that has so many subscriptions may have no further one.
    pub fn one_more_subscription(&self, subscribed: usize) -> Result<(), ErrorObject> {
        if subscribed < self.subscriptions {
            return Ok(());
        }
        let what = format!("more than {} subscriptions in one session (limit `subscriptions`)", self.subscriptions);
        Err(ErrorObject::new(code::INVALID_PARAMS, what))
    }
}

/// A request that is being served; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServeId(u64);

/// A request for the service.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// Under which key it is answered.
    pub key: ServeId,
    /// Its id on the wire.
    pub id: Id,
    /// What is asked for.
    pub method: Method,
    /// With what.
    pub params: Option<Raw>,
    /// What stands where in it.
    pub parts: Parts,
    /// By whom.
    pub caller: Arc<Introduction>,
    /// What the caller brings back after it was asked.
    pub returning: Return,
    /// Whether it wants progress.
    pub wants_progress: bool,
}

/// What happened on a server's link.
#[derive(Debug, PartialEq)]
pub enum ServerEvent {
    /// A session was opened.
    Opened(Arc<Introduction>),
    /// A request came; to be ended with [`Server::done`].
    Called(Called),
    /// A request was taken back; no answer is due.
    Cancelled(ServeId),
    /// The caller answered what it was asked.
    Answered(ServeId, Round, Answers),
    /// A notification.
    Note(Note),
    /// Something that was dropped, for the log.
    Stray(String),
}

/// The server's end.
#[derive(Debug)]
pub struct Server {
    profile: Arc<Profile>,
    allowance: Allowance,
    session: Option<Arc<Introduction>>,
    level: Option<Level>,
    initialized: bool,
    /// What was admitted last in the session: most requests are of one method.
    admitted: Option<Method>,
    begun: u64,
    minted: i64,
    serving: Table<ServeId, Incoming>,
    ids: HashMap<Id, ServeId, RandomState>,
    asked: BTreeMap<i64, ServeId>,
    out: VecDeque<Frame>,
    events: VecDeque<ServerEvent>,
}

impl Server {
    /// A link on which nothing was said yet.
    pub fn new(profile: Arc<Profile>) -> Self {
        let (serving, ids, asked, out, events) = Default::default();
        Self {
            profile,
            allowance: Allowance::default(),
            session: None,
            level: None,
            initialized: false,
            admitted: None,
            begun: 0,
            minted: 0,
            serving,
            ids,
            asked,
            out,
            events,
        }
    }

    /// Allows its client this.
    #[must_use]
    pub fn allowing(mut self, allowance: Allowance) -> Self {
        self.allowance = allowance;
        self
    }

    /// Describes itself anew from here on.
    pub fn present(&mut self, profile: Arc<Profile>) {
        if !Arc::ptr_eq(&self.profile, &profile) {
            (self.profile, self.admitted) = (profile, None);
        }
    }

    /// The client of the session, where one was opened.
    pub fn session(&self) -> Option<&Arc<Introduction>> {
        self.session.as_ref()
    }

    /// Whether the session is open on both sides: before that, a server tells of nothing (spec: basic/lifecycle).
    pub fn is_initialized(&self) -> bool {
        self.initialized
    }

    /// Takes what came.
    pub fn receive(&mut self, came: Result<Frame, Rejected>) {
        match came {
            Ok(Frame::Request { id, method, params, noted }) => {
                if let Err(fault) = self.requested(&id, method, params, noted) {
                    self.out.push_back(Frame::reply(id, Err(fault.into())));
                }
            }
            Ok(Frame::Notification { method, params }) => self.noted(method, params),
            Ok(Frame::Result { id, result }) => self.answered(&id, Ok(result)),
            Ok(Frame::Error { id: Some(id), error }) => self.answered(&id, Err(ErrorObject::read(&error))),
            Ok(Frame::Error { id: None, error }) => self.stray(format!("client complains: {error:?}")),
            Err(rejected) => self.rejected(rejected),
        }
    }

    /// A broken answer fails its question here: an error under its id would look like one to a request of the client's.
    fn rejected(&mut self, rejected: Rejected) {
        match rejected.id {
            Some(Id::Number(id)) if self.asked.contains_key(&id) => {
                let error = ErrorObject::internal(format!("client answers badly: {}", rejected.fault));
                self.answered(&Id::Number(id), Err(error));
            }
            Some(_) | None => self.out.push_back(rejected.answer()),
        }
    }

    /// Several messages in one array, where the session's revision has that.
    pub fn receive_batch(&mut self, batch: Vec<Result<Frame, Rejected>>) {
        let allowed = self.session.as_ref().is_some_and(|session| session.revision.has(Feature::Batch));
        if !allowed || batch.is_empty() {
            let what = if allowed { "a batch may not be empty" } else { "this revision has no batches" };
            return self.out.push_back(Rejected { id: None, fault: Fault::envelope(what) }.answer());
        }
        for came in batch {
            self.receive(came);
        }
    }

    fn requested(&mut self, id: &Id, method: Method, params: Option<Raw>, noted: Noted) -> Result<(), Fault> {
        if self.ids.contains_key(id) {
            return Err(Fault::order(format!("request id {id} is still in flight")));
        }
        self.allowance.one_more(self.serving.len())?;
        let sound = sound(params.as_ref(), noted);
        let modern = match &sound {
            Ok(sound) => sound.envelope.version.is_some(),
            Err(_) => envelope::is_modern(params.as_ref()),
        };
        if modern {
            let Sound { envelope, parts } = sound?;
            let caller = admit_modern(&method, &envelope, &self.profile)?;
            let key = self.serve(id, &method, &envelope, &caller);
            if method == Method::Discover {
                self.done(key, Ok(modern::describe(&self.profile)));
                return Ok(());
            }
            self.called(key, id, method, params, parts, caller);
            return Ok(());
        }
        match (&method, &self.session) {
            (Method::Initialize, None) => {
                let (introduction, result) = legacy::answer(params.as_ref(), &self.profile)?;
                let introduction = Arc::new(introduction.kept(self.allowance.introduction_bytes)?);
                self.session = Some(Arc::clone(&introduction));
                self.out.push_back(Frame::reply(id.clone(), Ok(result)));
                self.events.push_back(ServerEvent::Opened(introduction));
                Ok(())
            }
            (Method::Initialize, Some(_)) => Err(Fault::order("the session is open already")),
            (Method::Ping, _) => {
                self.out.push_back(Frame::reply(id.clone(), Ok(Raw::EMPTY)));
                Ok(())
            }
            (Method::Discover, None) => Err(envelope::read(params.as_ref()).err().unwrap_or(Fault::method(&method))),
            (_, None) => {
                let what = "send `initialize` first, or state protocol version and capabilities in `_meta`";
                Err(Fault::order(what))
            }
            (_, Some(session)) => {
                let session = Arc::clone(session);
                let Sound { envelope, parts } = match self.admitted.as_ref() {
                    Some(admitted) if *admitted == method && method != Method::SetLevel => sound?,
                    Some(_) | None => {
                        let sound = admit_legacy(&method, params.as_ref(), sound, &session, &self.profile)?;
                        self.admitted = Some(method.clone());
                        sound
                    }
                };
                if method == Method::SetLevel {
                    let level = params.as_ref().and_then(|params| params.get("level"));
                    self.level = level.as_ref().and_then(Raw::as_text).and_then(|name| Level::parse(&name));
                }
                let key = self.serve(id, &method, &envelope, &session);
                self.called(key, id, method, params, parts, session);
                Ok(())
            }
        }
    }

    fn serve(&mut self, id: &Id, method: &Method, envelope: &Envelope, caller: &Arc<Introduction>) -> ServeId {
        self.begun += 1;
        let key = ServeId(self.begun);
        let server = Some(self.profile.server.clone());
        let level = self.level.filter(|_| caller.revision.has(Feature::Handshake));
        let exchange = Incoming::within(Arc::clone(caller), server, id.clone(), method.clone(), envelope);
        self.serving.insert(key, exchange.logging_from(level));
        self.ids.insert(id.clone(), key);
        key
    }

    fn called(
        &mut self,
        key: ServeId,
        id: &Id,
        method: Method,
        params: Option<Raw>,
        parts: Parts,
        caller: Arc<Introduction>,
    ) {
        let returning = match &params {
            Some(params) if caller.revision.has(Feature::Stateless) => {
                Return::of(parts.get(Part::Responses, params), parts.get(Part::State, params))
            }
            Some(_) | None => Return::default(),
        };
        let wants_progress = self.serving.get(key).is_some_and(Incoming::wants_progress);
        let called = Called { key, id: id.clone(), method, params, parts, caller, returning, wants_progress };
        self.events.push_back(ServerEvent::Called(called));
    }

    fn noted(&mut self, method: Method, params: Option<Raw>) {
        if method == Method::Cancelled {
            let id = params.as_ref().and_then(|params| params.get("requestId")).and_then(|id| Id::read(&id));
            // Unknown and malformed ones are let by (spec: basic/utilities/cancellation).
            if let Some(key) = id.and_then(|id| self.ids.get(&id).copied()) {
                self.end(key);
                self.events.push_back(ServerEvent::Cancelled(key));
            }
            return;
        }
        self.initialized |= method == Method::Initialized;
        self.events.push_back(ServerEvent::Note(Note { method, params }));
    }

    fn answered(&mut self, id: &Id, answer: Outcome) {
        let key = match id {
            Id::Number(number) => self.asked.remove(number),
            Id::Text(_) => None,
        };
        let Some(exchange) = key.and_then(|key| self.serving.get_mut(key)) else {
            return self.stray(format!("an answer to {id}, which nobody asked or waits for"));
        };
        if let (Some((round, answers)), Some(key)) = (exchange.receive(id, answer), key) {
            self.events.push_back(ServerEvent::Answered(key, round, answers));
        }
    }

    fn stray(&mut self, what: String) {
        self.events.push_back(ServerEvent::Stray(what));
    }

    /// Tells the caller of `key` something, where it may be told.
    pub fn note(&mut self, key: ServeId, note: Note) {
        let frame = self.serving.get_mut(key).and_then(|exchange| exchange.note(note));
        self.out.extend(frame);
    }

    /// Tells the session something that belongs to no request.
    pub fn tell(&mut self, note: Note) {
        if self.session.as_ref().is_some_and(|session| !note.method.is_foreign_to(session.revision)) {
            self.out.push_back(note.into_frame());
        }
    }

    /// Asks the caller of `key`. A modern caller is asked by ending its request: nothing more may be said to it. What a
    /// caller did not declare is not put to it, but answered with an error at once.
    pub fn ask(&mut self, key: ServeId, asks: &Asks, state: Option<&Raw>) -> Option<Round> {
        let exchange = self.serving.get_mut(key)?;
        let minted = &mut self.minted;
        let (round, frames) = exchange.ask(asks, state, || {
            *minted += 1;
            Id::Number(*minted)
        });
        if exchange.will_return() {
            self.end(key);
        } else {
            let ids = frames.iter().filter_map(|frame| match frame.id() {
                Some(Id::Number(id)) => Some((*id, key)),
                Some(Id::Text(_)) | None => None,
            });
            self.asked.extend(ids);
            if let Some(answers) = exchange.settle(round) {
                self.events.push_back(ServerEvent::Answered(key, round, answers));
            }
        }
        self.out.extend(frames);
        Some(round)
    }

    /// Takes back what the caller of `key` was asked together and did not answer.
    pub fn withdraw(&mut self, key: ServeId, round: Round) {
        let Some(exchange) = self.serving.get_mut(key) else { return };
        let open: Vec<_> = exchange.asked().cloned().collect();
        let frames = exchange.withdraw(round);
        for id in open.iter().filter(|id| !exchange.asked().any(|asked| asked == *id)) {
            if let Id::Number(id) = id {
                self.asked.remove(id);
            }
        }
        self.out.extend(frames);
    }

    /// Ends the request of `key`.
    pub fn done(&mut self, key: ServeId, outcome: Outcome) {
        let Some(exchange) = self.end(key) else { return };
        let listened = *exchange.method() == Method::Listen && outcome.is_ok();
        self.out.push_back(exchange.done(outcome));
        if listened {
            // spec: basic/patterns/cancellation; without streams, a client learns the end of a subscription from this
            self.out.push_back(Note::cancelled(exchange.id(), "the subscription is over").into_frame());
        }
    }

    fn end(&mut self, key: ServeId) -> Option<Box<Incoming>> {
        let exchange = self.serving.remove(key)?;
        self.ids.remove(exchange.id());
        for id in exchange.asked() {
            if let Id::Number(id) = id {
                self.asked.remove(id);
            }
            self.out.push_back(Note::cancelled(id, "the request that asked is over").into_frame());
        }
        Some(exchange)
    }

    /// What to send next.
    pub fn transmit(&mut self) -> Option<Frame> {
        self.out.pop_front()
    }

    /// What happened next.
    pub fn event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Whether nothing is kept of any request, id or question.
    pub fn is_idle(&self) -> bool {
        self.serving.is_empty() && self.ids.is_empty() && self.asked.is_empty()
    }

    /// How many requests wait for their end.
    pub fn pending(&self) -> usize {
        self.serving.len()
    }
}
