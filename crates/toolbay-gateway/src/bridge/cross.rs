//! The bridge itself.

use std::{sync::Arc, time::SystemTime};

use futures_util::{StreamExt, stream::FuturesUnordered};
use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw, Revision,
    exchange::{Answers, Ask, Asks, Note, Outcome, Standing, Step},
    fault::code,
    types::relay::{conform_answer, conform_params, conform_result},
};
use toolbay_transport::{Caller, Cx, Error, Gone, Reply, talk::Manner};

use super::{
    park::{Parked, Parking, Ride},
    seal::{Binding, Carried, Sealer},
    tasks::Tasks,
};
use crate::servers::Seat;

/// What a crossing came to.
#[derive(Debug)]
pub(crate) enum Crossing {
    /// The outcome, in the caller's revision.
    Done(Outcome),
    /// None: the link failed, or was too slow.
    Lost(Lost),
    /// The caller was asked and will return.
    WillReturn,
    /// The caller is gone; the server was told to stop.
    Abandoned,
}

/// A link that failed.
#[derive(Debug)]
pub(crate) struct Lost {
    pub(crate) error: Error,
    pub(crate) seat: Option<Seat>,
    pub(crate) heard: Heard,
}

/// Whether a server said anything of a call before it was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Nothing,
    Something,
}

/// All that a crossing needs beside the call itself.
pub(crate) struct Banks<'b> {
    pub(crate) method: Method,
    pub(crate) caller: &'b Arc<Caller>,
    pub(crate) cx: &'b Cx,
    pub(crate) server: &'b Arc<str>,
    pub(crate) revision: Revision,
    pub(crate) binding: &'b Binding<'b>,
    pub(crate) sealer: &'b Sealer,
    pub(crate) parking: &'b Parking,
}

type Waiting<'w> = FuturesUnordered<std::pin::Pin<Box<dyn Future<Output = (Asks, Result<Reply, Gone>)> + Send + 'w>>>;

/// Carries a call to its end, or to where its caller leaves. A caller that was asked may be told more meanwhile.
pub(crate) async fn cross(mut ride: Ride, banks: Banks<'_>) -> Crossing {
    let (mut waiting, mut heard) = (Waiting::new(), Heard::Nothing);
    loop {
        let running = &mut ride.running;
        let step = tokio::select! {
            biased;
            Some((asks, reply)) = waiting.next() => match reply {
                Ok(Reply::Answers(answers)) => {
                    let answers = banks.answers(&asks, answers);
                    match running.answer(answers).await {
                        Ok(()) => continue,
                        Err(error) => return Crossing::lost(error, ride, heard),
                    }
                }
                // A caller that stays never returns.
                Ok(Reply::WillReturn) => return Crossing::WillReturn,
                Err(Gone) => return Crossing::Abandoned,
            },
            step = running.step() => step,
        };
        if step.is_ok() {
            heard = Heard::Something;
        }
        match step {
            Ok(Step::Note(note)) => {
                if banks.note(note).await.is_err() {
                    return Crossing::Abandoned;
                }
            }
            Ok(Step::Ask(asks)) => match banks.admit(&asks) {
                Err(error) => {
                    if let Err(error) = ride.running.answer(Answers::refuse(&asks, &error)).await {
                        return Crossing::lost(error, ride, heard);
                    }
                }
                Ok(()) if banks.cx.manner() == Manner::Returns => return banks.part(ride, asks).await,
                Ok(()) => {
                    let (cx, shown) = (banks.cx, banks.asks(&asks));
                    waiting.push(Box::pin(async move { (asks, cx.ask(shown, None).await) }));
                }
            },
            Ok(Step::Done(outcome)) => return Crossing::Done(banks.outcome(outcome, &ride.seat)),
            Err(error) => return Crossing::lost(error, ride, heard),
        }
    }
}

impl Crossing {
    fn lost(error: Error, ride: Ride, heard: Heard) -> Self {
        Self::Lost(Lost { error, seat: Some(ride.seat), heard })
    }
}

impl Banks<'_> {
    fn caller_revision(&self) -> Revision {
        self.caller.introduction.revision
    }

    /// Whether this caller declared that it answers all of it.
    fn admit(&self, asks: &Asks) -> Result<(), ErrorObject> {
        asks.iter().try_for_each(|(_, ask)| self.caller.introduction.admits(ask)).map_err(ErrorObject::from)
    }

    fn tasks(&self) -> Tasks<'_> {
        Tasks { sealer: self.sealer, principal: &self.caller.principal, server: self.server }
    }

    async fn note(&self, note: Note) -> Result<(), Gone> {
        let params = match note.params.map(|params| self.tasks().related(&params)) {
            Some(params) => conform_params(&note.method, &params, self.revision, self.caller_revision()).ok(),
            None => None,
        };
        self.cx.note(Note { method: note.method, params }).await
    }

    fn asks(&self, asks: &Asks) -> Asks {
        let conformed = |ask: &Ask| {
            let params = ask.params.as_ref().map(|params| self.tasks().related(params));
            let params = params.map(|params| {
                conform_params(&ask.method, &params, self.revision, self.caller_revision())
                    .unwrap_or(params)
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
            let what = || format!("the answer to {key:?} is none (it has no `{wanted}`); the call was taken back");
            (!answers).then(|| ErrorObject::invalid_params(what()))
        })
    }

    /// Asks a caller that came back without all answers once more.
    pub(crate) async fn ask_again(&self, ride: Ride, asks: Asks) -> Crossing {
        self.part(ride, asks).await
    }

    /// Sends the caller away with what it needs to come back: the server's own state, or a handle on the parked call.
    async fn part(&self, ride: Ride, asks: Asks) -> Crossing {
        let carried = match asks.standing() {
            Standing::Over(state) => Carried::Through { server: self.server.to_string(), state: state.clone() },
            Standing::Open => match self.parking.reserve() {
                Some(handle) => Carried::Parked { bay: self.sealer.bay(), handle },
                None => {
                    let what = "too many calls wait for their callers (limit `parked_calls`); try again later";
                    return Crossing::Done(Err(ErrorObject::internal(what)));
                }
            },
        };
        let shown = self.asks(&asks);
        let handle = if let Carried::Parked { handle, .. } = carried { Some(handle) } else { None };
        let Ok(state) = self.sealer.seal(carried, self.binding, SystemTime::now()) else {
            return Crossing::Done(Err(ErrorObject::internal("the system has no random numbers to seal with")));
        };
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

    /// An outcome as the caller's revision writes it.
    fn outcome(&self, outcome: Outcome, seat: &Seat) -> Outcome {
        let result: Raw = outcome.map_err(|error| self.error(error))?;
        let (result, begun) = self.tasks().result(&self.method, self.revision, &result);
        if let Some(begun) = begun {
            // The task may not outlive the connection over which it began.
            seat.leg.keep_for(begun.life);
        }
        conform_result(&self.method, &result, self.revision, self.caller_revision()).map_err(|fault| {
            let what =
                format!("server {:?} answers what revision {} does not allow: {fault}", self.server, self.revision);
            ErrorObject::internal(what)
        })
    }
    /// An error as the caller's revision means it. What servers and we have to settle among ourselves stays here.
    fn error(&self, mut error: ErrorObject) -> ErrorObject {
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
