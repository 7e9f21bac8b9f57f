//! The steps of one call on their way from the task that owns the link to whoever waits for them.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use toolbay_protocol::exchange::Step;

use crate::Error;

/// How many notes may wait for a slow reader; then the oldest goes (later progress says more than earlier).
const NOTES: usize = 256;

#[derive(Default)]
struct State {
    /// Most calls have one step, their outcome.
    first: Option<Step>,
    more: VecDeque<Step>,
    failure: Option<Error>,
    deserted: bool,
    waiting: Option<Waker>,
}

#[derive(Default)]
struct Shared(Mutex<State>);

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        let waiting = state.waiting.take();
        drop(state);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }
}

impl State {
    fn push(&mut self, step: Step) {
        if self.first.is_none() && self.more.is_empty() {
            self.first = Some(step);
            return;
        }
        if matches!(step, Step::Note(_)) && self.more.len() >= NOTES {
            let oldest = self.more.iter().position(|step| matches!(step, Step::Note(_)));
            if let Some(oldest) = oldest {
                self.more.remove(oldest);
            }
        }
        self.more.push_back(step);
    }
}

/// Both ends of the way.
pub fn steps() -> (StepsIn, Steps) {
    let shared = Arc::new(Shared::default());
    (StepsIn(Arc::clone(&shared)), Steps(shared))
}

/// Where steps are put.
pub struct StepsIn(Arc<Shared>);

impl StepsIn {
    /// Adds a step.
    pub fn push(&self, step: Step) {
        self.0.change(|state| state.push(step));
    }

    /// Ends it without an outcome.
    pub fn fail(self, error: Error) {
        self.0.state().failure = Some(error);
    }
}

impl Drop for StepsIn {
    fn drop(&mut self) {
        self.0.change(|state| state.deserted = true);
    }
}

impl fmt::Debug for StepsIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StepsIn")
    }
}

/// Where steps are taken.
pub struct Steps(Arc<Shared>);

impl Steps {
    /// The next step, or why there is none.
    pub async fn next(&mut self) -> Result<Step, Error> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Step, Error>> {
        let mut state = self.0.state();
        let next = state.first.take();
        if let Some(step) = next.or_else(|| state.more.pop_front()) {
            return Poll::Ready(Ok(step));
        }
        if let Some(error) = &state.failure {
            return Poll::Ready(Err(error.clone()));
        }
        if state.deserted {
            return Poll::Ready(Err(Error::closed("the link was closed")));
        }
        match &mut state.waiting {
            Some(waiting) => waiting.clone_from(cx.waker()),
            waiting @ None => *waiting = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Steps")
    }
}
