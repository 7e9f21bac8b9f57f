//! The steps of one call on their way from the task that owns the link to whoever waits for them.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use toolbay_protocol::exchange::Step;

use crate::Error;

/// How many notes may wait for a slow reader; then the oldest goes (later progress says more than earlier).
const NOTES: usize = 256;

#[derive(Default)]
struct State {
    steps: VecDeque<Step>,
    failure: Option<Error>,
    deserted: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    woken: Notify,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut state = self.0.state();
        if matches!(step, Step::Note(_)) && state.steps.len() >= NOTES {
            let oldest = state.steps.iter().position(|step| matches!(step, Step::Note(_)));
            if let Some(oldest) = oldest {
                state.steps.remove(oldest);
            }
        }
        state.steps.push_back(step);
        drop(state);
        self.0.woken.notify_one();
    }

    /// Ends it without an outcome.
    pub fn fail(self, error: Error) {
        self.0.state().failure = Some(error);
    }
}

impl Drop for StepsIn {
    fn drop(&mut self) {
        self.0.state().deserted = true;
        self.0.woken.notify_one();
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
        loop {
            let woken = self.0.woken.notified();
            {
                let mut state = self.0.state();
                if let Some(step) = state.steps.pop_front() {
                    return Ok(step);
                }
                if let Some(error) = &state.failure {
                    return Err(error.clone());
                }
                if state.deserted {
                    return Err(Error::closed("the link was closed"));
                }
            }
            woken.await;
        }
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Steps")
    }
}
