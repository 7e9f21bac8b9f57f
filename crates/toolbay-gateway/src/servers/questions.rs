//! Questions of a server that belong to no call: many ask for the roots as soon as the session is open. They wait a moment
//! for a call of somebody who can be asked, and travel with that.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::{Notify, oneshot},
    time,
};
use toolbay_protocol::{
    ErrorObject,
    exchange::{Ask, Outcome},
    fault::code,
};

/// How many may wait.
const MOST: usize = 16;
/// How long one waits for a call.
const WAITS: Duration = Duration::from_secs(10);
/// How long whoever was asked may take.
const THINKS: Duration = Duration::from_secs(600);

/// Those that wait.
#[derive(Default)]
pub(crate) struct Questions {
    waiting: Mutex<VecDeque<Question>>,
    come: Notify,
}

/// One of them. Dropped without an answer, it waits for another call.
pub(crate) struct Question {
    /// What is asked.
    pub(crate) ask: Ask,
    answer: Option<oneshot::Sender<Outcome>>,
    all: Weak<Questions>,
}

impl Questions {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Question>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question and waits for its answer.
    pub(super) async fn put(self: &Arc<Self>, ask: Ask) -> Outcome {
        let nobody =
            || Err(ErrorObject::new(code::METHOD_NOT_FOUND, format!("{}: nobody is there to answer", ask.method)));
        let (answer, mut answered) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            waiting.retain(|question| question.answer.as_ref().is_some_and(|answer| !answer.is_closed()));
            if waiting.len() >= MOST {
                return nobody();
            }
            waiting.push_back(Question { ask: ask.clone(), answer: Some(answer), all: Arc::downgrade(self) });
        }
        self.come.notify_one();
        if let Ok(answer) = time::timeout(WAITS, &mut answered).await {
            return answer.unwrap_or_else(|_| nobody());
        }
        // Whoever took it is asked at this moment.
        if !self.waiting().is_empty() {
            return nobody();
        }
        match time::timeout(THINKS, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => nobody(),
        }
    }

    /// The next one, for a call whose caller can be asked.
    pub(crate) async fn next(&self) -> Question {
        loop {
            let come = self.come.notified();
            let next = self.waiting().pop_front();
            match next {
                Some(question) if question.answer.as_ref().is_some_and(|answer| !answer.is_closed()) => {
                    return question;
                }
                Some(mut late) => late.answer = None,
                None => come.await,
            }
        }
    }
}

impl Question {
    /// Waits until the server does not ask it any more, or nobody waits for an answer.
    pub(crate) async fn withdrawn(&mut self) {
        match &mut self.answer {
            Some(answer) => answer.closed().await,
            None => std::future::pending().await,
        }
    }

    /// Answers it.
    pub(crate) fn answered(mut self, outcome: Outcome) {
        if let Some(answer) = self.answer.take() {
            // The server may have ended.
            let _ = answer.send(outcome);
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let Some(answer) = self.answer.take().filter(|answer| !answer.is_closed()) else { return };
        if let Some(all) = self.all.upgrade() {
            let again = Self { ask: self.ask.clone(), answer: Some(answer), all: Weak::clone(&self.all) };
            all.waiting().push_front(again);
            all.come.notify_one();
        }
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").field("ask", &self.ask).finish_non_exhaustive()
    }
}
