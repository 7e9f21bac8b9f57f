//! A call from its first step to its end, and the connection under it, made anew where it was lost.

use std::sync::Arc;

use toolbay_protocol::{
    Raw,
    exchange::{Answers, Asks, Note, Outcome, Standing, Step},
    peer::Call,
    types::CallToolResult,
};
use toolbay_transport::{Connection, Kind};

use super::{connected::Client, error::ClientError};

/// More rounds of questions than any call needs (spec: basic/patterns/mrtr leaves the number open).
const ROUNDS: usize = 32;

impl Client {
    /// Makes a call and answers what is asked, until its end.
    pub(super) async fn conversing(
        &self,
        call: Call,
        mut prepared: Vec<(String, Outcome)>,
        mut hear: impl FnMut(&Note) + Send,
        rounds: &mut usize,
    ) -> Result<Raw, ClientError> {
        let connection = self.live().await?;
        let revision = connection.meeting().revision;
        let mut running = connection.call(call).await?;
        loop {
            match running.step().await? {
                Step::Done(outcome) => return Ok(outcome?),
                Step::Note(note) => {
                    self.0.events.hear(&note);
                    hear(&note);
                }
                Step::Away(_) | Step::Withdrawn(_) => {}
                Step::Ask(mut asks) => {
                    *rounds += 1;
                    if *rounds > ROUNDS {
                        let what = format!("it asked more than {ROUNDS} times in one call");
                        return Err(ClientError::Misfit(what));
                    }
                    let ready = take_prepared(&mut prepared, &mut asks);
                    let mut answers = self.0.handlers.answers(asks, revision).await;
                    ready.into_iter().for_each(|(key, answer)| answers.insert(key, answer));
                    running.answer(answers).await?;
                }
            }
        }
    }

    /// An error where a result does not fit what its tool promised, as far as the client read the list of tools.
    #[cfg(feature = "validate")]
    pub(crate) fn check(&self, tool: &str, result: CallToolResult) -> Result<CallToolResult, ClientError> {
        self.0.events.schemas.check(tool, &result)?;
        Ok(result)
    }

    #[cfg(not(feature = "validate"))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "with the feature it may fail")]
    pub(crate) fn check(&self, _: &str, result: CallToolResult) -> Result<CallToolResult, ClientError> {
        Ok(result)
    }

    pub(crate) async fn answers(&self, asks: Asks) -> Answers {
        self.0.handlers.answers(asks, self.revision()).await
    }

    /// The connection, made anew where the old one ended.
    pub(super) async fn live(&self) -> Result<Arc<Connection>, ClientError> {
        let connection = self.0.connection.load_full();
        if !is_over(&connection).await {
            return Ok(connection);
        }
        let _turn = self.0.dialling.lock().await;
        let connection = self.0.connection.load_full();
        if !is_over(&connection).await {
            return Ok(connection);
        }
        let fresh = Arc::new((self.0.dial)().await?);
        self.0.events.forget_all();
        self.0.events.revision.store(Some(Arc::new(fresh.meeting().revision)));
        self.0.connection.store(Arc::clone(&fresh));
        Ok(fresh)
    }
}

async fn is_over(connection: &Connection) -> bool {
    use futures_util::FutureExt as _;
    connection.ended().now_or_never().is_some_and(|error| error.kind() != Kind::Overdue)
}

/// Takes the answers that stand ready for questions out of the handlers' way.
fn take_prepared(prepared: &mut Vec<(String, Outcome)>, asks: &mut Asks) -> Answers {
    let mut ready = Answers::default();
    let mut left = Asks::default();
    let keyed = matches!(asks.standing(), Standing::Over(_));
    for (key, ask) in std::mem::take(asks) {
        let place = if keyed {
            prepared.iter().position(|(known, _)| *known == key)
        } else {
            (!prepared.is_empty()).then_some(0)
        };
        match place {
            Some(place) => ready.insert(key, prepared.remove(place).1),
            None => left.insert(key, ask),
        }
    }
    *asks = left;
    ready
}
