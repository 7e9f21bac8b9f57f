//! Both banks of a crossing: who is on which, and what each says in the words of the other.

use std::{sync::Arc, time::SystemTime};

use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw, Revision,
    exchange::{Answers, Ask, Asks, Note, Outcome, Standing},
    fault::code,
    types::relay::{conform_answer, conform_params, conform_result},
};
use toolbay_transport::{Caller, Cx, Gone};

use super::{
    cross::Crossing,
    errands::Errands,
    park::{Parked, Parking, Ride},
    seal::{Binding, Carried, Sealer},
    tasks::Tasks,
};
use crate::servers::{Hearer, Seat};

/// All that a crossing needs beside the call itself.
pub(crate) struct Banks<'b> {
    pub(crate) method: Method,
    pub(crate) params: &'b Raw,
    pub(crate) caller: &'b Arc<Caller>,
    pub(crate) cx: &'b Cx,
    pub(crate) server: &'b Arc<str>,
    pub(crate) revision: Revision,
    pub(crate) binding: &'b Binding<'b>,
    pub(crate) sealer: &'b Sealer,
    pub(crate) parking: &'b Parking,
    pub(crate) errands: &'b Errands,
}

fn unsealed() -> Crossing {
    Crossing::Done(Err(ErrorObject::internal("the system has no random numbers to seal with")))
}

impl Banks<'_> {
    fn caller_revision(&self) -> Revision {
        self.caller.introduction.revision
    }

    /// Whether this caller declared that it answers all of it.
    pub(crate) fn admit(&self, asks: &Asks) -> Result<(), ErrorObject> {
        asks.iter().try_for_each(|(_, ask)| self.caller.introduction.admits(ask)).map_err(ErrorObject::from)
    }

    pub(crate) fn tasks(&self) -> Tasks<'_> {
        Tasks { sealer: self.sealer, principal: &self.caller.principal, server: self.server }
    }

    pub(crate) async fn note(&self, note: Note) -> Result<(), Gone> {
        let params = match note.params.map(|params| self.tasks().related(&params)) {
            Some(params) => conform_params(&note.method, &params, self.revision, self.caller_revision()).ok(),
            None => None,
        };
        self.cx.note(Note { method: note.method, params }).await
    }

    pub(crate) fn asks(&self, asks: &Asks) -> Asks {
        let conformed = |ask: &Ask| {
            let params = ask.params.as_ref().map(|params| self.tasks().related(params));
            let params = params.map(|params| {
                conform_params(&ask.method, &params, self.revision, self.caller_revision()).unwrap_or(params)
            });
            Ask { method: ask.method.clone(), params }
        };
        asks.iter().map(|(key, ask)| (key.to_owned(), conformed(ask))).collect()
    }

    /// A caller's answers as the server's revision writes them.
    pub(crate) fn answers(&self, asks: &Asks, answers: Answers) -> Answers {
        let conformed = |key: &str, answer: Outcome| {
            let method = asks.get(key).map(|ask| &ask.method);
            match (answer, method) {
                (Ok(answer), Some(method)) => {
                    let answer = self.tasks().related_there(&answer);
                    Ok(conform_answer(method, &answer, self.caller_revision(), self.revision).unwrap_or(answer))
                }
                (answer, _) => answer,
            }
        };
        let conformed = |(key, answer): (String, Outcome)| {
            let answer = conformed(&key, answer);
            (key, answer)
        };
        answers.into_iter().map(conformed).collect()
    }

    /// What to tell a caller that answers a question for its model or its roots with something else: it refuses, and has
    /// no other way to say so.
    pub(crate) fn refused(&self, asks: &Asks, answers: &Answers) -> Option<ErrorObject> {
        answers.iter().find_map(|(key, answer)| {
            let wanted = match asks.get(key).map(|ask| &ask.method) {
                Some(Method::CreateMessage) => "model",
                Some(Method::RootsList) => "roots",
                Some(Method::Elicit) => "action",
                _ => return None,
            };
            let answers = answer.as_ref().is_ok_and(|answer| answer.get(wanted).is_some());
            let then = match self.method {
                Method::TasksUpdate => "the task waits for one",
                _ => "the call was taken back",
            };
            let what = || format!("the answer to {key:?} is none (it has no `{wanted}`); {then}");
            (!answers).then(|| ErrorObject::invalid_params(what()))
        })
    }

    /// Asks a caller that came back without all answers once more.
    pub(crate) async fn ask_again(&self, ride: Ride, asks: Asks) -> Crossing {
        self.part(ride, asks).await
    }

    /// Sends the caller away with what it needs to come back: the server's own state, or a handle on the parked call.
    pub(super) async fn part(&self, ride: Ride, asks: Asks) -> Crossing {
        let carried = match asks.standing() {
            Standing::Over(state) => Carried::Through { server: self.server.to_string(), state: state.clone() },
            Standing::Open => match self.parking.reserve() {
                Some(handle) => Carried::Parked { bay: self.sealer.bay(), handle },
                None => {
                    let what = "too many calls wait for their callers (limit `parkedCalls`); try again later";
                    return Crossing::Done(Err(ErrorObject::internal(what)));
                }
            },
        };
        let shown = self.asks(&asks);
        let handle = if let Carried::Parked { handle, .. } = carried { Some(handle) } else { None };
        let Ok(state) = self.sealer.seal(carried, self.binding, SystemTime::now()) else { return unsealed() };
        if let Some(handle) = handle {
            self.parking.park(handle, Parked { ride, asks });
        }
        match self.cx.ask(shown, Some(state)).await {
            Ok(_) => Crossing::WillReturn,
            Err(Gone) => {
                if let Some(handle) = handle {
                    drop(self.parking.take(handle));
                }
                Crossing::Abandoned
            }
        }
    }

    /// The end of a call; or, where the server sends its user to a page first, not yet.
    pub(crate) async fn done(&self, outcome: Outcome, seat: &Seat) -> Crossing {
        match self.done_at_once(outcome, seat) {
            Ok(crossing) => crossing,
            Err(asks) => self.send_off(asks).await,
        }
    }

    /// The end of a call; or the pages that its user is sent to first.
    pub(crate) fn done_at_once(&self, outcome: Outcome, seat: &Seat) -> Result<Crossing, Asks> {
        match outcome.as_ref().err().and_then(|error| self.pages(error)) {
            Some(asks) => Err(asks),
            None => Ok(Crossing::Done(self.outcome(outcome, seat))),
        }
    }

    /// The pages that an error sends the user to first, for a caller that is asked to go there.
    // spec: 2025-11-25 client/elicitation, URL elicitation required
    fn pages(&self, error: &ErrorObject) -> Option<Asks> {
        let caller = &self.caller.introduction;
        if error.code != code::URL_ELICITATION_REQUIRED || !caller.revision.has(Feature::Stateless) {
            return None;
        }
        let pages = error.data.as_ref()?.get("elicitations")?;
        let page = |(place, page): (usize, Raw)| {
            let id = page.get("elicitationId");
            let key = id.as_ref().and_then(Raw::as_text).map_or_else(|| format!("page {place}"), Into::into);
            (key, Ask { method: Method::Elicit, params: Some(page.with(&[("elicitationId", None)])) })
        };
        let asks: Asks = pages.elements().enumerate().map(page).collect();
        (!asks.is_empty() && self.admit(&asks).is_ok()).then_some(asks)
    }

    /// Sends the caller away to visit pages, and back to call anew.
    pub(crate) async fn send_off(&self, asks: Asks) -> Crossing {
        let carried = Carried::Anew { server: self.server.to_string() };
        let Ok(state) = self.sealer.seal(carried, self.binding, SystemTime::now()) else { return unsealed() };
        match self.cx.ask(asks, Some(state)).await {
            Ok(_) => Crossing::WillReturn,
            Err(Gone) => Crossing::Abandoned,
        }
    }

    /// An outcome as the caller's revision writes it.
    fn outcome(&self, outcome: Outcome, seat: &Seat) -> Outcome {
        let result: Raw = outcome.map_err(|error| self.error(error))?;
        let (result, begun) = self.tasks().result(&self.method, self.revision, &result);
        if let Some(begun) = begun {
            // The task may not outlive the connection over which it began.
            seat.leg.keep_for(begun.life);
            self.follow(begun.id, seat);
        }
        conform_result(&self.method, &result, self.revision, self.caller_revision()).map_err(|fault| {
            let what =
                format!("server {:?} answers what revision {} does not allow: {fault}", self.server, self.revision);
            ErrorObject::internal(what)
        })
    }
    /// The caller goes on to hear of the progress of what it began, where it said that it wants to.
    // spec: 2025-11-25 basic/utilities/progress, the token lives until the task is over
    fn follow(&self, id: String, seat: &Seat) {
        let core = self.revision.has(Feature::CoreTasks) && self.caller_revision().has(Feature::CoreTasks);
        if core && self.cx.wants_progress() {
            let token = self.params.get("_meta").and_then(|meta| meta.get("progressToken"));
            if let Some(token) = token.and_then(|token| token.read::<serde_json::Value>().ok()) {
                seat.leg.hearers.add(id, Hearer::Session(Arc::clone(self.caller), Raw::of(&token)));
            }
        }
    }

    /// An error as the caller's revision means it. What servers and we have to settle among ourselves stays here.
    pub(crate) fn error(&self, mut error: ErrorObject) -> ErrorObject {
        let renamed = self.revision.has(Feature::NotFoundIsInvalidParams);
        match error.code {
            code::HEADER_MISMATCH | code::UNSUPPORTED_VERSION => {
                ErrorObject::internal(format!("server {:?} failed: {error}", self.server))
            }
            // spec: server/resources, the same under another number; the rest is bent where it is written
            code::INVALID_PARAMS if self.method == Method::ResourcesRead && renamed => {
                if !self.caller_revision().has(Feature::NotFoundIsInvalidParams) {
                    error.code = code::RESOURCE_NOT_FOUND;
                }
                error
            }
            _ => error,
        }
    }
}
