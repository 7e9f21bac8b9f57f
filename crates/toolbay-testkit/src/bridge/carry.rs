//! What a bridge does about requests: each is carried to the callee, and what it comes to is carried back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use toolbay_protocol::{
    ErrorObject, Feature, Id, Method, Raw, Revision,
    exchange::{Answers, Ask, Asks, Note, Outcome, Return, Round, Standing, Step, Wishes},
    greeting::{Introduction, envelope},
    peer::{Call, CallId, Called, ClientEvent, Patience, ServeId, ServerEvent},
    types::relay::{conform_answer, conform_params, conform_result},
    watch::{Filter, modern},
};

use crate::Pair;

/// How often a callee may ask for nothing but another try.
const ROUNDS: usize = 10;

/// One request on its way through.
#[derive(Debug)]
struct Leg {
    /// Whom it is answered to; nobody, while the caller was sent to fetch answers.
    caller: Option<ServeId>,
    who: std::sync::Arc<Introduction>,
    method: Method,
    /// Questions of a callee that waits, for a caller that comes back.
    open: Asks,
    /// Questions that a caller who waits was put, by round.
    put: Vec<(Round, Asks)>,
    /// What came while the caller was away.
    outcome: Option<Outcome>,
    rounds: usize,
}

/// The bridge between two pairs.
#[derive(Debug)]
pub struct Bridge {
    pub(super) callee: Revision,
    patience: Patience,
    legs: BTreeMap<CallId, Leg>,
    served: BTreeMap<ServeId, CallId>,
    parked: BTreeMap<String, CallId>,
    handles: u64,
    pub(super) errands: BTreeSet<CallId>,
    pub(super) uris: BTreeSet<String>,
    pub(super) watched: BTreeMap<String, Option<CallId>>,
    pub(super) listeners: BTreeMap<ServeId, (Id, Filter)>,
    level: Option<Box<str>>,
}

impl Bridge {
    /// A bridge to a callee that was met.
    pub fn to(back: &mut Pair) -> Self {
        let (legs, served, parked, errands, uris, watched, listeners) = Default::default();
        let (callee, patience) = (back.revision(), Patience::default());
        let mut bridge =
            Self { callee, patience, legs, served, parked, handles: 0, errands, uris, watched, listeners, level: None };
        if callee.has(Feature::Stateless) {
            bridge.listen(back, &Filter::lists());
        }
        bridge
    }

    /// How long the callee may take from here on.
    pub fn be_patient(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// How many requests are on their way.
    pub fn under_way(&self) -> usize {
        self.legs.len()
    }

    /// Ends what is held for its own sake: the callers' subscriptions, and the bridge's own.
    pub fn close(&mut self, front: &mut Pair, back: &mut Pair) {
        for (key, (id, _)) in std::mem::take(&mut self.listeners) {
            front.server.done(key, Ok(modern::end(&id)));
        }
        for errand in std::mem::take(&mut self.errands) {
            back.client.cancel(errand, "the bridge closes");
        }
    }

    /// Takes all that happened at both banks and carries it over; whether anything happened.
    pub fn carry(&mut self, front: &mut Pair, back: &mut Pair) -> bool {
        let mut any = false;
        while let Some(event) = front.server.event() {
            any = true;
            match event {
                ServerEvent::Called(called) => self.called(called, front, back),
                ServerEvent::Cancelled(key) => self.cancelled(key, back),
                ServerEvent::Answered(key, round, answers) => self.answered(key, round, answers, back),
                ServerEvent::Note(note) if note.method == Method::RootsChanged => {
                    if self.callee.has(Feature::Handshake) {
                        back.client.tell(note);
                    }
                }
                ServerEvent::Note(_) | ServerEvent::Opened(_) | ServerEvent::Stray(_) => {}
            }
        }
        while let Some(event) = back.client.event() {
            any = true;
            match event {
                ClientEvent::Step(call, Step::Note(note)) if self.errands.contains(&call) => self.told(note, front),
                ClientEvent::Step(call, Step::Note(note)) => self.noted(call, note, front),
                ClientEvent::Step(call, Step::Ask(asks)) => self.asked(call, asks, front, back),
                ClientEvent::Step(call, Step::Done(outcome)) => self.done(call, outcome, front),
                ClientEvent::Overdue(call) => {
                    self.done(call, Err(ErrorObject::internal("the server did not answer in time")), front);
                }
                ClientEvent::Note(note) => self.told(note, front),
                ClientEvent::Asked(id, ask) => {
                    let what = format!("nobody is here to answer {}", ask.method);
                    back.client.reply(id, Err(ErrorObject::internal(what)));
                }
                ClientEvent::Step(_, Step::Away(_) | Step::Withdrawn(_))
                | ClientEvent::Withdrawn(_)
                | ClientEvent::Stray(_) => {}
            }
        }
        self.send_away(front);
        any
    }

    fn called(&mut self, called: Called, front: &mut Pair, back: &mut Pair) {
        let key = called.key;
        let uri = || called.params.as_ref()?.get("uri")?.as_text().map(std::borrow::Cow::into_owned);
        let outcome = match called.method {
            Method::Listen => match Filter::read(called.params.as_ref()) {
                Ok(filter) => {
                    let filter = filter.honoured_by(&back.meeting().profile);
                    filter.uris.iter().for_each(|uri| self.watch(uri, back));
                    front.server.note(key, modern::acknowledge(&called.id, &filter));
                    self.listeners.insert(key, (called.id, filter));
                    return;
                }
                Err(fault) => Err(fault.into()),
            },
            Method::Subscribe => {
                if let Some(uri) = uri() {
                    self.watch(&uri, back);
                    self.uris.insert(uri);
                }
                Ok(Raw::EMPTY)
            }
            Method::Unsubscribe => {
                if let Some(uri) = uri() {
                    self.uris.remove(&uri);
                    self.unwatch(&uri, back);
                }
                Ok(Raw::EMPTY)
            }
            Method::SetLevel => {
                let level = called.params.as_ref().and_then(|params| params.get("level"));
                self.level = level.as_ref().and_then(Raw::as_text).map(|level| level.as_ref().into());
                if self.callee.has(Feature::Handshake) {
                    self.errand(Call::new(Method::SetLevel, called.params), back);
                }
                Ok(Raw::EMPTY)
            }
            _ => match self.begin(called, back) {
                Ok(()) => return,
                Err(error) => Err(error),
            },
        };
        front.server.done(key, outcome);
    }

    fn begin(&mut self, called: Called, back: &mut Pair) -> Result<(), ErrorObject> {
        let Called { key, method, params, caller, returning, wants_progress, .. } = called;
        let given = params.unwrap_or(Raw::EMPTY);
        let state = returning.state.as_ref().and_then(Raw::as_text);
        if let Some(call) = state.and_then(|state| self.parked.remove(state.as_ref())) {
            self.came_back(call, key, returning.answers.unwrap_or_default(), back);
            return Ok(());
        }
        if self.callee.has(Feature::Handshake) && returning != Return::default() {
            return Err(ErrorObject::invalid_params("nobody waits for these answers"));
        }
        let bare = given.with(&[("inputResponses", None), ("requestState", None)]);
        let params = conform_params(&method, &bare, caller.revision, self.callee)?;
        let level = given.get("_meta").and_then(|meta| meta.get(envelope::LOG_LEVEL));
        let level = level.as_ref().and_then(Raw::as_text).map(|level| level.as_ref().into());
        let progress = if wants_progress { Wishes::progress() } else { Wishes::default() };
        let wishes = Wishes { log_level: level.or_else(|| self.level.clone()), ..progress };
        let patience = self.patience;
        let call = Call { wishes, returning, patience, ..Call::new(method.clone(), Some(params)) };
        let call = back.call(call);
        let (open, put) = Default::default();
        let leg = Leg { caller: Some(key), who: caller, method, open, put, outcome: None, rounds: 0 };
        self.legs.insert(call, leg);
        self.served.insert(key, call);
        Ok(())
    }

    fn came_back(&mut self, call: CallId, key: ServeId, brought: Answers, back: &mut Pair) {
        let Some(leg) = self.legs.get_mut(&call) else { return };
        leg.caller = Some(key);
        self.served.insert(key, call);
        if leg.open.iter().any(|(key, _)| brought.get(key).is_none()) {
            return; // spec: basic/patterns/mrtr, what is missing is asked for again
        }
        let asks = std::mem::take(&mut leg.open);
        let answers = answers_in(&asks, brought, leg.who.revision, self.callee);
        back.client.answer(call, answers, back.clock.now());
    }

    fn cancelled(&mut self, key: ServeId, back: &mut Pair) {
        if let Some((_, filter)) = self.listeners.remove(&key) {
            filter.uris.iter().for_each(|uri| self.unwatch(uri, back));
        }
        if let Some(call) = self.served.remove(&key) {
            self.legs.remove(&call);
            back.client.cancel(call, "the caller took it back");
        }
    }

    fn answered(&mut self, key: ServeId, round: Round, answers: Answers, back: &mut Pair) {
        let Some((call, leg)) = self.served.get(&key).and_then(|call| Some((*call, self.legs.get_mut(call)?))) else {
            return;
        };
        let Some(place) = leg.put.iter().position(|(of, _)| *of == round) else { return };
        let (_, asks) = leg.put.swap_remove(place);
        let answers = answers_in(&asks, answers, leg.who.revision, self.callee);
        back.client.answer(call, answers, back.clock.now());
    }

    fn noted(&mut self, call: CallId, note: Note, front: &mut Pair) {
        let Some(leg) = self.legs.get(&call) else { return };
        let Some(key) = leg.caller else { return };
        let params = note.params.map(|params| conform_params(&note.method, &params, self.callee, leg.who.revision));
        if let Ok(params) = params.transpose() {
            front.server.note(key, Note { method: note.method, params });
        }
    }

    fn asked(&mut self, call: CallId, asks: Asks, front: &mut Pair, back: &mut Pair) {
        let (callee, now) = (self.callee, back.clock.now());
        let Some(leg) = self.legs.get_mut(&call) else { return back.client.cancel(call, "nobody waits for it") };
        let Some(key) = leg.caller else {
            return asks.into_iter().for_each(|(key, ask)| leg.open.insert(key, ask));
        };
        let shown: Asks =
            asks.iter().map(|(key, ask)| (key.to_owned(), ask_in(ask, callee, leg.who.revision))).collect();
        leg.rounds += 1;
        if leg.who.revision.has(Feature::Handshake) {
            if asks.is_empty() && leg.rounds <= ROUNDS {
                return back.client.answer(call, Answers::default(), now);
            }
            if asks.is_empty() {
                back.client.cancel(call, "it asks for nothing, again and again");
                return self.done(call, Err(ErrorObject::internal("the server never comes to an end")), front);
            }
            if let Some(round) = front.server.ask(key, &shown, None) {
                leg.put.push((round, asks));
            }
            return;
        }
        if let Standing::Over(state) = asks.standing() {
            front.server.ask(key, &shown, state.as_ref());
            self.served.remove(&key);
            self.legs.remove(&call);
            return back.client.cancel(call, "the caller carries it on");
        }
        for (name, ask) in asks {
            match leg.who.admits(&ask) {
                Ok(()) => leg.open.insert(name, ask),
                Err(fault) => back.client.answer(call, Answers::one(name, Err(fault.into())), now),
            }
        }
    }

    /// Callers that come back are sent for all the answers that are wanted by now, at once.
    fn send_away(&mut self, front: &mut Pair) {
        for (call, leg) in &mut self.legs {
            let Some(key) = leg.caller.filter(|_| !leg.open.is_empty()) else { continue };
            self.handles += 1;
            let handle = format!("parked {}", self.handles);
            let shown = leg.open.iter().map(|(key, ask)| (key.to_owned(), ask_in(ask, self.callee, leg.who.revision)));
            front.server.ask(key, &shown.collect(), Some(&Raw::of(&handle)));
            leg.caller = None;
            self.served.remove(&key);
            self.parked.insert(handle, *call);
        }
        let ready: Vec<_> = self.legs.iter().filter(|(_, leg)| leg.caller.is_some() && leg.outcome.is_some()).collect();
        let ready: Vec<_> = ready.into_iter().map(|(call, _)| *call).collect();
        for call in ready {
            if let Some(outcome) = self.legs.get_mut(&call).and_then(|leg| leg.outcome.take()) {
                self.done(call, outcome, front);
            }
        }
    }

    fn done(&mut self, call: CallId, outcome: Outcome, front: &mut Pair) {
        self.errands.remove(&call);
        let Some(leg) = self.legs.get_mut(&call) else { return };
        let Some(key) = leg.caller else {
            leg.outcome = Some(outcome);
            leg.open = Asks::default();
            return;
        };
        let (method, to) = (leg.method.clone(), leg.who.revision);
        let outcome = outcome.and_then(|result| Ok(conform_result(&method, &result, self.callee, to)?));
        front.server.done(key, outcome);
        self.legs.remove(&call);
        self.served.remove(&key);
    }

    /// Forgets callers that never came back for what their calls came to.
    pub fn sweep(&mut self) {
        let legs = &mut self.legs;
        self.parked.retain(|_, call| legs.get(call).is_some_and(|leg| leg.outcome.is_none()));
        legs.retain(|_, leg| leg.caller.is_some() || leg.outcome.is_none());
    }
}

fn ask_in(ask: &Ask, from: Revision, to: Revision) -> Ask {
    let params = ask.params.as_ref().map(|params| {
        conform_params(&ask.method, params, from, to)
            .unwrap_or_else(|fault| Raw::of(&json!({"message": fault.to_string()})))
    });
    Ask { method: ask.method.clone(), params }
}

fn answers_in(asks: &Asks, answers: Answers, from: Revision, to: Revision) -> Answers {
    let known = answers.into_iter().filter_map(|(key, answer)| {
        let method = &asks.get(&key)?.method;
        Some((key, answer.and_then(|answer| Ok(conform_answer(method, &answer, from, to)?))))
    });
    known.collect()
}
