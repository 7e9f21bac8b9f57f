//! How a question gets its answer: the same for every kind, and for callers that stay or return.

use std::{
    future::poll_fn,
    task::Poll,
    time::{Duration, SystemTime},
};

use tokio::time;
use toolbay_protocol::{
    ErrorObject, Method,
    exchange::{Answers, Ask, Asks, Outcome},
};
use toolbay_transport::talk::{Manner, Reply};

use super::{elicit::Question, verdict, verdict::Verdict};
use crate::{
    error::{Fail, Result},
    server::Ctx,
    tool_error,
};

/// How long the user of a caller that stays may take.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// How often in one call a question may be put again, and a caller sent back.
const ROUNDS: u32 = 10;

impl Ctx {
    /// Puts a question until an answer does.
    pub(super) async fn put<Q: Question, T>(
        &self,
        key: &str,
        method: Method,
        question: Q,
        judge: impl Fn(&Outcome) -> Verdict<T>,
    ) -> Result<T> {
        let ask = question.into_ask(method, self.revision())?;
        for _ in 0..ROUNDS {
            let answer = self.answer(key, &ask).await?;
            match judge(&answer) {
                Verdict::Good(answer) => return Ok(answer),
                Verdict::Again => self.memory().forget(key),
                Verdict::Never(error) => return verdict::refused(&error),
            }
        }
        Err(tool_error!("the client answered {ROUNDS} times in a way that does not fit the question").into())
    }

    async fn answer(&self, key: &str, ask: &Ask) -> Result<Outcome> {
        let before = self.memory().answer(key);
        if let Some(answer) = before {
            return Ok(answer);
        }
        if let Some(task) = self.task() {
            self.caller().introduction.admits(ask).map_err(ErrorObject::from)?;
            let answer = task.ask(key, ask.clone()).await?;
            self.memory().take(Answers::one(key, answer.clone()));
            return Ok(answer);
        }
        match self.line().manner() {
            Manner::Stays => self.wait(key, ask.clone()).await,
            Manner::Returns => self.send_back(key, ask.clone()).await,
        }
    }

    async fn wait(&self, key: &str, ask: Ask) -> Result<Outcome> {
        if self.caller().introduction.admits(&ask).is_err() {
            return Err(tool_error!("the client cannot be asked: it does not support {}", ask.method).into());
        }
        let _waiting = self.waits().begin();
        let asking = self.line().ask(Asks::one(key, ask), None);
        let late = |_| tool_error!("nobody answered within {} minutes", PATIENCE.as_secs() / 60);
        let answers = match time::timeout(PATIENCE, asking).await.map_err(late)? {
            Ok(Reply::Answers(answers)) => answers,
            Ok(Reply::WillReturn) => return Err(Fail::suspended()),
            Err(_) => return Err(tool_error!("the client is gone").into()),
        };
        self.memory().take(answers);
        let answer = self.memory().answer(key);
        answer.ok_or_else(|| tool_error!("the client answered something else than it was asked").into())
    }

    /// Notes the question, and ends the call as soon as whatever is awaited beside it had its turn.
    async fn send_back(&self, key: &str, ask: Ask) -> Result<Outcome> {
        if !self.method().may_ask() {
            return Err(ErrorObject::internal(format!("nothing can be asked during {}", self.method())).into());
        }
        self.caller().introduction.admits(&ask).map_err(ErrorObject::from)?;
        if self.memory().wait_for(key, ask) > ROUNDS {
            // What was noted is not put any more.
            self.memory().open();
            return Err(tool_error!("more than {ROUNDS} rounds of questions in one call").into());
        }
        let mut polled = false;
        poll_fn(|context| {
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        Err(Fail::suspended())
    }

    /// At the end of a call: where a question is open, the caller is sent back with it, whatever the handler returned.
    pub(crate) async fn part(&self) -> Result<Parted, ErrorObject> {
        let (asks, carried) = {
            let mut memory = self.memory();
            let Some(asks) = memory.open() else { return Ok(Parted::No) };
            let carried = memory.carry(&asks);
            (asks, carried)
        };
        let sealer = self.sealer().ok_or_else(no_random)?;
        let state = sealer.seal(carried, &self.binding(), SystemTime::now()).ok_or_else(no_random)?;
        // A caller that is gone needs no answer.
        let _ = self.line().ask(asks, Some(state)).await;
        Ok(Parted::Yes)
    }
}

fn no_random() -> ErrorObject {
    ErrorObject::internal("the system has no random numbers to seal with")
}

/// Whether a caller was sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parted {
    /// With questions.
    Yes,
    /// There were none.
    No,
}
