//! The client's end of a duplex link.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Instant,
};

use super::{
    call::{Call, CallId, Pending},
    outbox::{Outbox, Waiting},
    table::Table,
    tokens::Tokens,
};
use crate::{
    exchange::{Answers, Ask, Note, Outcome, Step},
    fault::{ErrorObject, Fault},
    frame::{Frame, Id, Rejected},
    greeting::Introduction,
    method::Method,
    raw::Raw,
    revision::Feature,
    watch::modern,
};

/// How many questions of a server may be open where nobody says otherwise.
const QUESTIONS: usize = 64;

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
    /// The server takes a question back that belongs to no call; it is not to be answered any more.
    Withdrawn(Id),
    /// Something that was dropped, for the log.
    Stray(String),
}

/// The client's end.
#[derive(Debug)]
pub struct Client {
    us: Arc<Introduction>,
    minted: i64,
    calls: Table<CallId, Pending>,
    ids: Table<i64, CallId>,
    /// Requests of the server that wait for an answer, and whom they were put to.
    questions: BTreeMap<Id, Option<CallId>>,
    /// Of requests that began tasks.
    tokens: Tokens,
    /// How many those may be (limit `questions_in_flight`).
    most_questions: usize,
    out: Outbox,
    events: VecDeque<ClientEvent>,
}

impl Client {
    /// A link on which nothing was said yet.
    pub fn new(us: Arc<Introduction>) -> Self {
        let (calls, ids, questions, tokens, out, events) = Default::default();
        Self { us, minted: 0, calls, ids, questions, tokens, most_questions: QUESTIONS, out, events }
    }

    /// Lets so many questions of the server be open.
    #[must_use]
    pub fn with_questions(mut self, most: usize) -> Self {
        self.most_questions = most;
        self
    }

    /// Speaks as `us` from here on.
    pub fn introduce(&mut self, us: Arc<Introduction>) {
        self.us = us;
    }

    /// Begins a call under a key that was never used before on this link; says when it is overdue if nothing is heard of it.
    pub fn call(&mut self, key: CallId, call: Call, now: Instant) -> Instant {
        let (patience, behind) = (call.patience, (call.behalf.clone(), call.presence.clone()));
        let id = self.mint(key);
        let exchange = call.exchange(Arc::clone(&self.us), id);
        self.out.push(exchange.open());
        let pending = Pending::new(exchange, behind, patience, now);
        let due = pending.due();
        self.calls.insert(key, pending);
        due
    }

    fn mint(&mut self, key: CallId) -> Id {
        self.minted += 1;
        self.ids.insert(self.minted, key);
        Id::Number(self.minted)
    }

    /// Answers what a call was asked.
    pub fn answer(&mut self, key: CallId, answers: Answers, now: Instant) {
        let fresh = self.minted + 1;
        let Some(pending) = self.calls.get_mut(key) else { return };
        let frames = match pending.exchange.answer(answers, || Id::Number(fresh)) {
            Ok(frames) => frames,
            Err(error) => {
                self.end(key);
                return self.events.push_back(ClientEvent::Step(key, Step::Done(Err(error))));
            }
        };
        pending.renew(now);
        if *pending.exchange.id() == Id::Number(fresh) {
            self.minted = fresh;
            self.ids.insert(fresh, key);
        }
        self.send(frames);
    }

    /// Answers a question that belonged to no call.
    pub fn reply(&mut self, id: Id, outcome: Outcome) {
        // One that was taken back meanwhile may have come again, for a call that answers it.
        if let Some(None) = self.questions.get(&id) {
            self.send(vec![Frame::reply(id, outcome)]);
        }
    }

    /// Sends a notification.
    pub fn tell(&mut self, note: Note) {
        self.out.push(note.into_frame());
    }

    /// Takes a call back; nothing more is heard of it. Of one that nobody has taken yet to send it, nobody hears at all.
    pub fn cancel(&mut self, key: CallId, reason: &str) {
        let Some(pending) = self.calls.get_mut(key) else { return };
        if self.out.take_back(pending.exchange.id()).is_some() {
            return self.end(key);
        }
        // spec: basic/utilities/cancellation, never `initialize`; nor what only asks whether there is anything else
        let frames = match pending.exchange.method() {
            Method::Initialize | Method::Discover => vec![],
            _ => pending.exchange.cancel(reason),
        };
        self.send(frames);
        self.end(key);
    }

    fn send(&mut self, frames: Vec<Frame>) {
        for frame in frames {
            if let Frame::Result { id, .. } | Frame::Error { id: Some(id), .. } = &frame {
                self.questions.remove(id);
            }
            self.out.push(frame);
        }
    }

    fn end(&mut self, key: CallId) {
        if let Some(mut pending) = self.calls.remove(key) {
            self.forget(&pending.exchange.id().clone());
            let frames = pending.exchange.refuse("the call is over");
            self.send(frames);
        }
    }

    fn forget(&mut self, id: &Id) {
        if let Id::Number(id) = id {
            self.ids.remove(*id);
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
            Ok(Frame::Request { id, method, params, .. }) => self.asked(id, method, params, now),
            Ok(Frame::Notification { method, params }) => self.noted(method, params, now),
            Err(rejected) => match rejected.id.as_ref().and_then(|id| self.owner(id)) {
                Some(key) => {
                    self.end(key);
                    let error = ErrorObject::internal(format!("server answers badly: {}", rejected.fault));
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
            Id::Number(id) => self.ids.get(*id).copied(),
            Id::Text(_) => None,
        }
    }

    fn asked(&mut self, id: Id, method: Method, params: Option<Raw>, now: Instant) {
        let revision = self.us.revision;
        if !revision.has(Feature::Handshake) {
            // spec: basic/patterns, a modern server sends no requests; never answered
            return self.stray(format!("server asks {method}, which its revision does not allow"));
        }
        if method == Method::Ping {
            return self.out.push(Frame::reply(id, Ok(Raw::EMPTY)));
        }
        let question = matches!(method, Method::Elicit | Method::CreateMessage | Method::RootsList);
        let fault = if !question || method.is_foreign_to(revision) {
            Fault::method(&method)
        } else if self.questions.contains_key(&id) {
            Fault::order(format!("request id {id} is still in flight"))
        } else if self.questions.len() >= self.most_questions {
            let most = self.most_questions;
            Fault::order(format!("more than {most} questions at once (limit `questions_in_flight`)"))
        } else {
            return self.put(id, method, params, now);
        };
        self.stray(format!("server asks {method} in vain: {fault}"));
        self.out.push(Frame::reply(id, Err(fault.into())));
    }

    /// A question names no call, at most a task: it is put to whoever waits for that, or to the oldest whose caller declared that it answers such a question. A call that
    /// waits for an answer already, for who knows how long, is passed over while there is another; and so is one whose
    /// caller hung up: it may be there for nobody any more, while the question is another's.
    fn put(&mut self, id: Id, method: Method, params: Option<Raw>, now: Instant) {
        let ask = Ask { method, params };
        let suits = |call: &Pending| ask.suits(call.exchange.method(), call.behalf.as_deref());
        let fitting = self.calls.iter().filter(|(_, pending)| suits(pending));
        let strays = |call: &Pending| ask.strays(call.exchange.awaited().as_ref());
        let rank = |call: &Pending| (strays(call), !call.presence.is_there(), call.exchange.is_asked());
        let oldest = fitting.min_by_key(|(key, pending)| (rank(pending), *key)).map(|(key, _)| key);
        self.questions.insert(id.clone(), oldest);
        match oldest {
            Some(key) => self.step(key, Frame::request(id, ask.method, ask.params), now),
            None => self.events.push_back(ClientEvent::Asked(id, ask)),
        }
    }

    fn noted(&mut self, method: Method, params: Option<Raw>, now: Instant) {
        let key = match method {
            Method::Progress => {
                let token = params.as_ref().and_then(|params| params.get("progressToken"));
                match token.and_then(|token| Id::read(&token)).and_then(|id| self.owner(&id)) {
                    Some(key) => Some(key),
                    None => {
                        return match self.tokens.progress(params.as_ref()) {
                            Some(note) => self.events.push_back(ClientEvent::Note(note)),
                            None => self.stray("progress of a call that nobody waits for".into()),
                        };
                    }
                }
            }
            Method::Cancelled => return self.taken_back(params.as_ref(), now),
            // A line of log names no call either.
            Method::Message => self.calls.iter().find(|(_, pending)| hears_logs(pending)).map(|(key, _)| key),
            _ => match modern::subscription(params.as_ref()).filter(|_| self.us.revision.has(Feature::Stateless)) {
                Some(id) => match self.subscription(&id) {
                    Some(key) => Some(key),
                    None => return self.stray(format!("{method} for subscription {id}, which nobody holds")),
                },
                None => None,
            },
        };
        match key {
            Some(key) => self.step(key, Frame::Notification { method, params }, now),
            None => self.events.push_back(ClientEvent::Note(Note { method, params })),
        }
    }

    /// A server takes back what it asked (handshake), or ends a subscription of ours (stateless); nothing else is its.
    fn taken_back(&mut self, params: Option<&Raw>, now: Instant) {
        let id = params.and_then(|params| params.get("requestId")).and_then(|id| Id::read(&id));
        let Some(id) = id else { return self.stray("a cancellation of nothing".into()) };
        if let Some(asked) = self.questions.remove(&id) {
            let Some(key) = asked else { return self.events.push_back(ClientEvent::Withdrawn(id)) };
            if let Some(pending) = self.calls.get_mut(key)
                && let Some(question) = pending.exchange.withdraw(&id)
            {
                pending.renew(now);
                self.events.push_back(ClientEvent::Step(key, Step::Withdrawn(question)));
            }
            return;
        }
        match self.subscription(&id) {
            Some(key) => {
                self.end(key);
                let error = ErrorObject::internal("the server ended the subscription");
                self.events.push_back(ClientEvent::Step(key, Step::Done(Err(error))));
            }
            None => self.stray(format!("a cancellation of {id}, which the server did not ask")),
        }
    }

    fn subscription(&self, id: &Id) -> Option<CallId> {
        self.owner(id).filter(|key| self.is_subscription(*key))
    }

    fn is_subscription(&self, key: CallId) -> bool {
        self.calls.get(key).is_some_and(|pending| *pending.exchange.method() == Method::Listen)
    }

    fn step(&mut self, key: CallId, frame: Frame, now: Instant) {
        let Some(pending) = self.calls.get_mut(key) else { return };
        let sign_of_life = !matches!(frame, Frame::Notification { method: Method::Message, .. });
        let Some(step) = pending.exchange.receive(frame) else { return };
        if sign_of_life {
            pending.renew(now);
        }
        if matches!(step, Step::Done(_)) {
            self.tokens.learn(&pending.exchange, &step);
            self.end(key);
        } else if !pending.exchange.is_in_flight() {
            let over = pending.exchange.id().clone();
            self.forget(&over);
        }
        self.events.push_back(ClientEvent::Step(key, step));
    }

    /// How much there is to send.
    pub fn waiting(&self) -> Waiting {
        self.out.waiting()
    }

    /// What to send next.
    pub fn transmit(&mut self) -> Option<Frame> {
        self.out.pop()
    }

    /// What happened next.
    pub fn event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// When to call [`Client::expire`].
    pub fn timeout(&self) -> Option<Instant> {
        self.calls.iter().map(|(_, pending)| pending.due()).min()
    }

    /// Cancels what took too long.
    pub fn expire(&mut self, now: Instant) {
        let late: Vec<_> = self.calls.iter().filter(|(_, pending)| pending.due() <= now).map(|(key, _)| key).collect();
        for key in late {
            self.cancel(key, "it took too long");
            self.events.push_back(ClientEvent::Overdue(key));
        }
    }

    /// Whether nothing is kept of any call, id or question.
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty() && self.ids.is_empty() && self.questions.is_empty()
    }

    /// How many calls wait for their end.
    pub fn pending(&self) -> usize {
        self.calls.len()
    }
}

/// A line of log is never for a subscription (spec: basic/patterns/subscriptions).
fn hears_logs(pending: &Pending) -> bool {
    *pending.exchange.method() != Method::Listen && pending.exchange.is_in_flight()
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
