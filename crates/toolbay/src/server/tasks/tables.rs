//! The tasks of a server: those that run, and the store behind them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use toolbay_protocol::{
    ErrorObject, Raw,
    types::{Dict, Number, TaskStatus},
};
use toolbay_transport::{Caller, Hub};

use super::{
    jobs::Jobs,
    record::TaskRecord,
    slot::{Shared, Slot},
    store::{DynStore, MemoryStore},
};
use crate::error::{Reason, Result};

/// So many tasks run at once, whatever their store holds.
const RUNNING: usize = 10_000;

/// How tasks are kept.
#[derive(Clone)]
pub(crate) struct Keeping {
    pub(crate) store: DynStore,
    /// How long a task is kept, unless its caller wants less.
    pub(crate) life: Duration,
    /// How long callers are told to wait before they ask again.
    pub(crate) poll: Duration,
}

impl Default for Keeping {
    fn default() -> Self {
        let store = Arc::new(MemoryStore::default());
        Self { store, life: Duration::from_secs(60 * 60), poll: Duration::from_millis(500) }
    }
}

/// The tasks of a server.
pub(crate) struct Tasks {
    running: Mutex<HashMap<String, Shared>>,
    /// Whoever holds the server holds them.
    jobs: Mutex<Weak<Jobs>>,
    hub: Hub,
}

impl Tasks {
    /// None yet; what becomes of them is told at this hub.
    pub(crate) fn told_at(hub: Hub) -> Self {
        Self { running: Mutex::default(), jobs: Mutex::new(Weak::new()), hub }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Shared>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn owned_by(&self, jobs: &Arc<Jobs>) {
        *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(jobs);
    }

    pub(super) fn jobs(&self) -> Result<Arc<Jobs>, ErrorObject> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        jobs.ok_or_else(|| ErrorObject::internal("the server is coming to its end"))
    }

    /// Begins a task for `caller`; it is kept before anybody is told (spec: tasks extension, durability).
    pub(crate) async fn begin(
        &self,
        keeping: &Keeping,
        caller: &Caller,
        wanted: Option<&Raw>,
    ) -> Result<Arc<Slot>, ErrorObject> {
        let wanted = wanted.and_then(|task| task.get("ttl")).and_then(Number::read).and_then(|ttl| ttl.as_u64());
        let now = SystemTime::now();
        let record = TaskRecord {
            id: fresh_id()?,
            principal: caller.principal.clone(),
            revision: caller.introduction.revision,
            status: TaskStatus::Working,
            message: None,
            created: now,
            updated: now,
            life: wanted.map_or(keeping.life, |ttl| Duration::from_millis(ttl).min(keeping.life)),
            poll: keeping.poll,
            requests: Dict::new(),
            outcome: None,
        };
        if self.running().len() >= RUNNING {
            let what = format!("{RUNNING} tasks run here already (limit `running_tasks`): try again later");
            return Err(ErrorObject::internal(what));
        }
        // The caller may be gone before the store has it: nothing of a task stays then that never ran.
        keeping.store.put(record.clone()).await.map_err(broken)?;
        let slot = Arc::new(Slot::new(record.clone(), Arc::clone(&keeping.store), self.hub.clone()));
        self.running().insert(record.id, Arc::clone(&slot));
        Ok(slot)
    }

    /// The task runs no more; the store has it.
    pub(super) fn over(&self, id: &str) {
        self.running().remove(id);
    }

    /// The task while it runs, for its own principal.
    pub(super) fn slot(&self, id: &str, caller: &Caller) -> Option<Shared> {
        self.running().get(id).filter(|slot| belongs(&slot.snapshot(), caller)).cloned()
    }

    /// The task, running or not; an error for anybody whose it is not.
    pub(super) async fn find(&self, keeping: &Keeping, id: &str, caller: &Caller) -> Result<TaskRecord, ErrorObject> {
        if let Some(slot) = self.slot(id, caller) {
            return Ok(slot.snapshot());
        }
        let found = keeping.store.get(id).await.map_err(broken)?;
        found.filter(|record| belongs(record, caller)).ok_or_else(unknown)
    }
}

/// Whose a task is: the same principal, in words that it knows.
fn belongs(record: &TaskRecord, caller: &Caller) -> bool {
    record.principal == caller.principal && record.revision.reads_verbatim(caller.introduction.revision)
}

pub(super) fn unknown() -> ErrorObject {
    ErrorObject::invalid_params("there is no such task, or no more")
}

/// What a store failed with.
pub(super) fn broken(fail: crate::Fail) -> ErrorObject {
    match fail.reason() {
        Reason::Protocol(error) => error,
        Reason::Tool(_) | Reason::Foreign(_) | Reason::Suspended => {
            ErrorObject::internal("the tasks of this server cannot be reached now")
        }
    }
}

/// 192 bits that nobody guesses.
fn fresh_id() -> Result<String, ErrorObject> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|_| ErrorObject::internal("the system has no random numbers for task ids"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
