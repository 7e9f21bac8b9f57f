//! A call from its first step to its end: what it says is told, what it asks is answered.

use std::time::Duration;

use futures_util::{
    future::{AbortHandle, Abortable, Aborted, BoxFuture, join_all},
    stream::{FuturesUnordered, StreamExt as _},
};
use serde_json::Value;
use toolbay_protocol::{
    ErrorObject, Method,
    exchange::{Answers, Asks, Note, Outcome, Standing, Step},
    fault::code,
    peer::Call,
};
use toolbay_transport::{Connection, Error, Kind, Running};

use super::{answer::answer, stock::text};
use crate::{
    person::Person,
    planner::{Blame, Failure},
    toolbox::ToolId,
};

/// More rounds of questions than any call needs (spec: basic/patterns/mrtr leaves the number open).
const ROUNDS: u32 = 32;
/// How long a server that only says "come back later" is left alone, longer each time.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

type Pending<'c> = FuturesUnordered<BoxFuture<'c, (String, Result<Outcome, Aborted>)>>;

/// A call under way, and whom it concerns.
struct Talk<'c> {
    running: Running,
    connection: &'c Connection,
    of: &'c ToolId,
    person: &'c dyn Person,
    /// Questions of a request that waits for them, each answered on its own.
    pending: Pending<'c>,
    open: Vec<(String, AbortHandle)>,
    rounds: u32,
}

/// Makes a call and stays with it until its end.
pub(super) async fn converse(
    connection: &Connection,
    call: Call,
    of: &ToolId,
    person: &dyn Person,
) -> Result<Value, Failure> {
    let running = connection.call(call).await.map_err(lost)?;
    let (pending, open) = (FuturesUnordered::new(), vec![]);
    let outcome = Talk { running, connection, of, person, pending, open, rounds: 0 }.end().await?;
    let result = outcome.map_err(refused)?;
    result.read().map_err(|flaw| failure(Blame::Server, format!("its result cannot be read: {flaw}")))
}

impl Talk<'_> {
    async fn end(mut self) -> Result<Outcome, Failure> {
        loop {
            tokio::select! {
                biased;
                Some((key, answered)) = self.pending.next() => {
                    self.open.retain(|(open, _)| *open != key);
                    if let Ok(outcome) = answered {
                        self.running.answer(Answers::one(key, outcome)).await.map_err(lost)?;
                    }
                }
                step = self.running.step() => match step.map_err(lost)? {
                    Step::Done(outcome) => return Ok(outcome),
                    Step::Note(note) => said(&note).iter().for_each(|what| self.person.told(self.of, what)),
                    Step::Away(_) => {}
                    Step::Withdrawn(key) => {
                        self.open.iter().filter(|(open, _)| *open == key).for_each(|(_, question)| question.abort());
                    }
                    Step::Ask(asks) => self.asked(asks).await?,
                }
            }
        }
    }

    async fn asked(&mut self, asks: Asks) -> Result<(), Failure> {
        let revision = self.connection.meeting().revision;
        let (server, person) = (self.of.server.as_str(), self.person);
        if *asks.standing() == Standing::Open {
            for (key, ask) in asks {
                let (handle, registration) = AbortHandle::new_pair();
                self.open.push((key.clone(), handle));
                let work = async move { answer(server, &ask, revision, person).await };
                self.pending.push(Box::pin(async move { (key, Abortable::new(work, registration).await) }));
            }
            return Ok(());
        }
        self.rounds += 1;
        if self.rounds > ROUNDS {
            return Err(failure(Blame::Server, format!("it asked more than {ROUNDS} times in one call")));
        }
        if asks.is_empty() {
            tokio::time::sleep(PAUSE.saturating_mul(self.rounds).min(LONGEST_PAUSE)).await;
        }
        let each =
            asks.into_iter().map(|(key, ask)| async move { (key, answer(server, &ask, revision, person).await) });
        let answers: Answers = join_all(each).await.into_iter().collect();
        self.running.answer(answers).await.map_err(lost)
    }
}

/// What a notification tells a person who waits.
fn said(note: &Note) -> Option<String> {
    let params = note.params.as_ref()?;
    let get = |key: &str| params.get(key).as_ref().map(text);
    match &note.method {
        Method::Progress => {
            let total = get("total").map(|total| format!("/{total}")).unwrap_or_default();
            let message = get("message").map(|message| format!(" {message}")).unwrap_or_default();
            Some(format!("{}{total}{message}", get("progress").unwrap_or_default()))
        }
        Method::Message => Some(format!("{}: {}", get("level").unwrap_or_else(|| "log".into()), get("data")?)),
        _ => None,
    }
}

fn failure(blame: Blame, what: String) -> Failure {
    Failure { blame, what }
}

pub(super) fn lost(error: Error) -> Failure {
    let blame = if error.kind() == Kind::Overdue { Blame::Deadline } else { Blame::Server };
    failure(blame, error.to_string())
}

fn refused(error: ErrorObject) -> Failure {
    let blame = if error.code == code::INVALID_PARAMS { Blame::Request } else { Blame::Server };
    failure(blame, error.to_string())
}
