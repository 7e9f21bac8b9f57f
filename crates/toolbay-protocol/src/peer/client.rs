//! The client's end of a duplex link.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    exchange::{Answers, Ask, Note, Outcome, Outgoing, Return, Step, Wishes},
    frame::{Frame, Id, Rejected},
    greeting::Introduction,
    method::Method,
    raw::Raw,
};

/// A call of ours, whatever ids it travels under; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// How long a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Without a sign of life; progress begins it anew.
    pub silence: Duration,
    /// In all, come what may.
    pub total: Option<Duration>,
}

impl Default for Patience {
    fn default() -> Self {
        Self { silence: Duration::from_secs(60), total: None }
    }
}

/// A request to be made.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is asked for.
    pub method: Method,
    /// With what.
    pub params: Option<Raw>,
    /// What is wanted beside the outcome.
    pub wishes: Wishes,
    /// What somebody else, who was asked before, brings back.
    pub returning: Return,
    /// How long it may take.
    pub patience: Patience,
}

impl Call {
    /// A request that wants its outcome and nothing else.
    pub fn new(method: Method, params: Option<Raw>) -> Self {
        let (wishes, returning, patience) = (Wishes::default(), Return::default(), Patience::default());
        Self { method, params, wishes, returning, patience }
    }

    /// Its exchange, as `us`, under `id`.
    pub fn exchange(self, us: Arc<Introduction>, id: Id) -> Outgoing {
        let Return { answers, state } = self.returning;
        let exchange = Outgoing::new(us, id, self.method, self.params, self.wishes);
        if answers.is_none() && state.is_none() { exchange } else { exchange.resuming(answers, state) }
    }
}

/// What happened on a client's link.
#[derive(Debug, PartialEq)]
pub enum ClientEvent {
    /// A call went on, or ended.
    Step(CallId, Step),
    /// A call took too long; it was cancelled.
    Overdue(CallId),
    /// A notification that belongs to no call.
    Note(Note),
    /// A question that belongs to no call; to be answered with [`Client::reply`].
    Asked(Id, Ask),
    /// Something that was dropped, for the log.
    Stray(String),
}

#[derive(Debug)]
struct Pending {
    exchange: Outgoing,
    patience: Patience,
    due: Instant,
    end: Option<Instant>,
}

impl Pending {
    fn next_due(&self) -> Instant {
        self.end.map_or(self.due, |end| end.min(self.due))
    }
}

/// The client's end.
#[derive(Debug)]
pub struct Client {
    us: Arc<Introduction>,
    minted: i64,
    calls: BTreeMap<CallId, Pending>,
    ids: HashMap<i64, CallId>,
    out: VecDeque<Frame>,
    events: VecDeque<ClientEvent>,
}

impl Client {
    /// A link on which nothing was said yet.
    pub fn new(us: Arc<Introduction>) -> Self {
        let (calls, ids, out, events) = Default::default();
        Self { us, minted: 0, calls, ids, out, events }
    }

    /// Speaks as `us` from here on.
    pub fn introduce(&mut self, us: Arc<Introduction>) {
        self.us = us;
    }

    /// Begins a call under a key that was never used before on this link.
    pub fn call(&mut self, key: CallId, call: Call, now: Instant) {
        let patience = call.patience;
        let id = self.mint(key);
        let exchange = call.exchange(Arc::clone(&self.us), id);
        self.out.push_back(exchange.open());
        let pending = Pending { exchange, patience, due: now + patience.silence, end: patience.total.map(|all| now + all) };
        self.calls.insert(key, pending);
    }

    fn mint(&mut self, key: CallId) -> Id {
        self.minted += 1;
        self.ids.insert(self.minted, key);
        Id::Number(self.minted)
    }

    /// Answers what a call was asked.
    pub fn answer(&mut self, key: CallId, answers: Answers, now: Instant) {
        self.minted += 1;
        let fresh = self.minted;
        let Some(pending) = self.calls.get_mut(&key) else { return };
        let old = pending.exchange.id().clone();
        pending.due = now + pending.patience.silence;
        match pending.exchange.answer(answers, || Id::Number(fresh)) {
            Ok(frames) => {
                if *pending.exchange.id() != old {
                    self.ids.insert(fresh, key);
                    self.forget(&old);
                }
                self.out.extend(frames);
            }
            Err(error) => {
                self.end(key);
                self.events.push_back(ClientEvent::Step(key, Step::Done(Err(error))));
            }
        }
    }

    /// Answers a question that belonged to no call.
    pub fn reply(&mut self, id: Id, outcome: Outcome) {
        self.out.push_back(Frame::reply(id, outcome));
    }

    /// Sends a notification.
    pub fn tell(&mut self, note: Note) {
        self.out.push_back(Frame::Notification { method: note.method, params: note.params });
    }

    /// Takes a call back; nothing more is heard of it.
    pub fn cancel(&mut self, key: CallId, reason: &str) {
        if let Some(mut pending) = self.end(key) {
            // spec: basic/utilities/cancellation, never `initialize`
            if *pending.exchange.method() != Method::Initialize {
                self.out.extend(pending.exchange.cancel(reason));
            }
        }
    }

    fn end(&mut self, key: CallId) -> Option<Pending> {
        let pending = self.calls.remove(&key)?;
        self.forget(&pending.exchange.id().clone());
        Some(pending)
    }

    fn forget(&mut self, id: &Id) {
        if let Id::Number(id) = id {
            self.ids.remove(id);
        }
    }

    /// Takes what came.
    pub fn receive(&mut self, came: Result<Frame, Rejected>, now: Instant) {
        match came {
            Ok(frame @ (Frame::Result { .. } | Frame::Error { id: Some(_), .. })) => {
                match frame.id().and_then(|id| self.owner(id)) {
                    Some(key) => self.step(key, frame, now),
                    None => self.stray(format!("an answer to {}, which nobody asked or waits for", Shown(&frame))),
                }
            }
            Ok(Frame::Error { id: None, error }) => self.stray(format!("server complains: {error:?}")),
            Ok(Frame::Request { id, method: Method::Ping, .. }) => self.reply(id, Ok(Raw::EMPTY)),
            Ok(Frame::Request { id, method, params }) => self.asked(id, method, params, now),
            Ok(Frame::Notification { method, params }) => self.noted(method, params, now),
            Err(rejected) => match rejected.id.as_ref().and_then(|id| self.owner(id)) {
                Some(key) => {
                    self.end(key);
                    let error = crate::ErrorObject::internal(format!("server answers badly: {}", rejected.fault));
                    self.events.push_back(ClientEvent::Step(key, Step::Done(Err(error))));
                }
                None => self.stray(format!("server wrote {}", rejected.fault)),
            },
        }
    }

    fn stray(&mut self, what: String) {
        self.events.push_back(ClientEvent::Stray(what));
    }

    fn owner(&self, id: &Id) -> Option<CallId> {
        match id {
            Id::Number(id) => self.ids.get(id).copied(),
            Id::Text(_) => None,
        }
    }

    /// A question names no call: it is put to the oldest that may be asked anything.
    fn asked(&mut self, id: Id, method: Method, params: Option<Raw>, now: Instant) {
        let oldest = self.calls.iter().find(|(_, pending)| pending.exchange.method().may_ask()).map(|(key, _)| *key);
        match oldest {
            Some(key) if self.us.revision.has(crate::Feature::Handshake) => {
                self.step(key, Frame::Request { id, method, params }, now);
            }
            None if self.us.revision.has(crate::Feature::Handshake) => {
                self.events.push_back(ClientEvent::Asked(id, Ask { method, params }));
            }
            // spec: basic/patterns, a modern server sends no requests; never answered
            Some(_) | None => self.stray(format!("server asks {method}, which its revision does not allow")),
        }
    }

    fn noted(&mut self, method: Method, params: Option<Raw>, now: Instant) {
        let key = match method {
            Method::Progress => {
                let token = params.as_ref().and_then(|params| params.get("progressToken"));
                match token.and_then(|token| Id::read(&token)).and_then(|id| self.owner(&id)) {
                    Some(key) => Some(key),
                    None => return self.stray("progress of a call that nobody waits for".into()),
                }
            }
            // A log line names no call either.
            Method::Message => self.calls.keys().next().copied(),
            Method::Cancelled => {
                let id = params.as_ref().and_then(|params| params.get("requestId")).and_then(|id| Id::read(&id));
                id.and_then(|id| self.owner(&id)).filter(|key| self.calls[key].exchange.method() == &Method::Listen)
            }
            _ => crate::watch::modern::subscription(params.as_ref()).and_then(|id| self.owner(&id)),
        };
        let frame = Frame::Notification { method: method.clone(), params: params.clone() };
        match key {
            Some(key) => self.step(key, frame, now),
            None => self.events.push_back(ClientEvent::Note(Note { method, params })),
        }
    }

    fn step(&mut self, key: CallId, frame: Frame, now: Instant) {
        let Some(pending) = self.calls.get_mut(&key) else { return };
        pending.due = now + pending.patience.silence;
        let Some(step) = pending.exchange.receive(frame) else { return };
        match &step {
            Step::Done(_) => drop(self.end(key)),
            // The clock stands still while a person thinks.
            Step::Ask(_) => pending.due = now + pending.patience.silence.max(Duration::from_secs(600)),
            Step::Note(_) => {}
        }
        self.events.push_back(ClientEvent::Step(key, step));
    }

    /// What to send next.
    pub fn transmit(&mut self) -> Option<Frame> {
        self.out.pop_front()
    }

    /// What happened next.
    pub fn event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// When to call [`Client::expire`].
    pub fn timeout(&self) -> Option<Instant> {
        self.calls.values().map(Pending::next_due).min()
    }

    /// Cancels what took too long.
    pub fn expire(&mut self, now: Instant) {
        let late: Vec<_> =
            self.calls.iter().filter(|(_, pending)| pending.next_due() <= now).map(|(key, _)| *key).collect();
        for key in late {
            self.cancel(key, "it took too long");
            self.events.push_back(ClientEvent::Overdue(key));
        }
    }

    /// How many calls wait for their end.
    pub fn pending(&self) -> usize {
        self.calls.len()
    }
}

struct Shown<'a>(&'a Frame);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.id() {
            Some(id) => write!(f, "request {id}"),
            None => f.write_str("no request"),
        }
    }
}
