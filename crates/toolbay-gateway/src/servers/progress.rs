//! Who hears of the progress of a task that goes on after the call which began it: its token belongs to that call.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolbay_protocol::{Raw, exchange::Note, types::meta::key::RELATED_TASK};
use toolbay_transport::{Caller, Cx};

/// How many tasks of one connection are remembered; the oldest are forgotten first.
const MOST: usize = 256;

/// Who wants to hear.
#[derive(Clone)]
pub(crate) enum Hearer {
    /// A session that knows of the task, under a token of its own.
    Session(Arc<Caller>, Raw),
    /// A call that waits for the task, and knows of none.
    Call(Cx),
}

/// The tasks of one connection that somebody wants to hear of.
#[derive(Default)]
pub(crate) struct Hearers(Mutex<VecDeque<(String, Hearer)>>);

impl Hearers {
    fn all(&self) -> MutexGuard<'_, VecDeque<(String, Hearer)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `hearer` hear of the task that the server calls `id`.
    pub(crate) fn add(&self, id: String, hearer: Hearer) {
        let mut all = self.all();
        all.retain(|(known, hearer)| *known != id && !matches!(hearer, Hearer::Call(cx) if cx.is_gone()));
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back((id, hearer));
    }

    /// Who hears of the task that a note of progress belongs to.
    pub(crate) fn of(&self, note: &Note) -> Option<Hearer> {
        let task = note.params.as_ref()?.get("_meta")?.get(RELATED_TASK)?.get("taskId")?;
        let id = task.as_text()?;
        self.all().iter().find(|(known, _)| *known == *id).map(|(_, hearer)| hearer.clone())
    }
}

impl fmt::Debug for Hearers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hearers").field("tasks", &self.all().len()).finish()
    }
}
