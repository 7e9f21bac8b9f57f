//! The steps of one call on their way from the task that owns the link to whoever waits for them.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use toolbay_protocol::exchange::{Note, Step};

use crate::Error;

/// How many notes may wait for a slow reader; then the oldest goes (later progress says more than earlier).
const NOTES: usize = 256;
/// How many bytes these may be; one larger than that waits alone.
const NOTE_BYTES: usize = 4 << 20;

/// Bounded whatever the callee does: of notes the oldest go, of pauses the last counts, a question that was taken back is
/// gone with its withdrawal, and of those that were delivered no more can be open than the link lets be.
#[derive(Default)]
struct State {
    /// Most calls have one step, their outcome.
    first: Option<Step>,
    more: VecDeque<Step>,
    /// How many notes are among those, and of how many bytes.
    notes: usize,
    note_bytes: usize,
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
        match &step {
            Step::Withdrawn(key) if self.withdraw(key) => return,
            Step::Done(_) | Step::Ask(_) | Step::Withdrawn(_) | Step::Note(_) | Step::Away(_) => {}
        }
        if self.first.is_none() && self.more.is_empty() {
            self.first = Some(step);
            return;
        }
        match &step {
            Step::Note(note) => self.make_room(weight(note)),
            Step::Away(_) => self.more.retain(|step| !matches!(step, Step::Away(_))),
            Step::Done(_) | Step::Ask(_) | Step::Withdrawn(_) => {}
        }
        self.more.push_back(step);
    }

    /// Forgets a question that nobody heard yet.
    fn withdraw(&mut self, key: &str) -> bool {
        let mine = |step: &Step| matches!(step, Step::Ask(asks) if asks.len() == 1 && asks.get(key).is_some());
        if self.first.take_if(|first| mine(first)).is_some() {
            return true;
        }
        // The last is the one that is meant: an id is used again when its question is over.
        let place = self.more.iter().rposition(mine);
        place.and_then(|place| self.more.remove(place)).is_some()
    }

    /// Has the oldest notes go, where this one finds no room beside them.
    fn make_room(&mut self, bytes: usize) {
        while self.notes > 0 && (self.notes >= NOTES || self.note_bytes + bytes > NOTE_BYTES) {
            let oldest = self.more.iter().position(|step| matches!(step, Step::Note(_)));
            let Some(oldest) = oldest.and_then(|oldest| self.more.remove(oldest)) else { break };
            self.taken(&oldest);
        }
        self.notes += 1;
        self.note_bytes += bytes;
    }

    fn taken(&mut self, step: &Step) {
        if let Step::Note(note) = step {
            self.notes -= 1;
            self.note_bytes -= weight(note);
        }
    }

    fn pop(&mut self) -> Option<Step> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let step = self.more.pop_front()?;
        self.taken(&step);
        Some(step)
    }
}

/// About how many bytes a note holds.
fn weight(note: &Note) -> usize {
    64 + note.params.as_ref().map_or(0, |params| params.as_bytes().len())
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
        if let Some(step) = state.pop() {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolbay_protocol::{
        Method, Raw,
        exchange::{Ask, Asks},
    };

    use super::*;

    fn ask(key: &str) -> Step {
        Step::Ask(Asks::one(key, Ask { method: Method::RootsList, params: None }))
    }

    fn note(bytes: usize) -> Step {
        Step::Note(Note::new(Method::Progress, Raw::of(&serde_json::json!({ "message": "x".repeat(bytes) }))))
    }

    fn waiting(steps: &Steps) -> usize {
        let state = steps.0.state();
        state.more.len() + usize::from(state.first.is_some())
    }

    #[tokio::test]
    async fn a_question_that_nobody_heard_is_gone_with_its_withdrawal() {
        let (push, mut steps) = steps();
        push.push(ask("heard"));
        assert_eq!(steps.next().await.ok(), Some(ask("heard")));
        for key in 0..10_000 {
            push.push(ask(&key.to_string()));
            push.push(ask("again"));
            push.push(Step::Withdrawn(key.to_string()));
            push.push(Step::Withdrawn("again".into()));
        }
        push.push(Step::Withdrawn("heard".into()));
        assert_eq!((waiting(&steps), steps.next().await.ok()), (1, Some(Step::Withdrawn("heard".into()))));
        drop(push);
        assert!(steps.next().await.is_err());
    }

    #[tokio::test]
    async fn what_a_slow_reader_is_told_is_bounded() {
        let (push, mut steps) = steps();
        (0..10_000).for_each(|_| push.push(note(1)));
        (0..10_000).for_each(|wait| push.push(Step::Away(Duration::from_secs(wait))));
        push.push(ask("kept"));
        assert_eq!(waiting(&steps), 1 + NOTES + 2);
        (0..10).for_each(|_| push.push(note(NOTE_BYTES / 2)));
        assert_eq!(waiting(&steps), 1 + 1 + 2, "what is long takes the room of much");
        push.push(note(NOTE_BYTES * 2));
        push.push(Step::Done(Ok(Raw::EMPTY)));
        let mut seen = vec![];
        while let Ok(step) = steps.next().await {
            seen.push(step.clone());
            if matches!(step, Step::Done(_)) {
                break;
            }
        }
        let expected = [note(1), Step::Away(Duration::from_secs(9_999)), ask("kept"), note(NOTE_BYTES * 2)];
        assert_eq!(seen[..4], expected);
        assert_eq!((seen.len(), steps.0.state().note_bytes), (5, 0));
    }
}
