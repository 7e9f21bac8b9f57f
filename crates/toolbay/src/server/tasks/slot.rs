//! A task while its function runs: its record, who waits for it, and what it waits for.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use tokio::{
    sync::{Notify, oneshot},
    task::AbortHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{
    Raw,
    exchange::{Ask, Asks, Outcome},
    types::{Dict, InputRequest, TaskStatus},
};
use toolbay_transport::{Hub, Watch};

use super::{record::TaskRecord, store::DynStore};
use crate::{error::Result, tool_error};

/// A task while its function runs.
pub(crate) struct Slot {
    record: Mutex<TaskRecord>,
    waiting: Mutex<HashMap<Box<str>, oneshot::Sender<Outcome>>>,
    store: DynStore,
    hub: Hub,
    changed: Notify,
    /// How often the record changed.
    changes: AtomicU64,
    pub(crate) cancelled: CancellationToken,
    job: OnceLock<AbortHandle>,
}

impl Slot {
    pub(super) fn new(record: TaskRecord, store: DynStore, hub: Hub) -> Self {
        let (waiting, changed, cancelled) = (Mutex::default(), Notify::new(), CancellationToken::new());
        let (record, changes, job) = (Mutex::new(record), AtomicU64::new(0), OnceLock::new());
        Self { record, waiting, store, hub, changed, changes, cancelled, job }
    }

    fn record(&self) -> MutexGuard<'_, TaskRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<Box<str>, oneshot::Sender<Outcome>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record as it is now.
    pub(super) fn snapshot(&self) -> TaskRecord {
        self.record().clone()
    }

    /// Tells one watcher where the task stands.
    pub(super) fn tell(&self, watch: &Watch) {
        let record = self.record();
        watch.tell(record.change());
    }

    pub(super) fn runs_as(&self, job: AbortHandle) {
        // There is one job to a task.
        let _ = self.job.set(job);
    }

    /// Changes the record, keeps it and tells who waits.
    async fn change(&self, change: impl FnOnce(&mut TaskRecord)) {
        {
            let mut record = self.record();
            change(&mut record);
            record.updated = SystemTime::now();
            self.changes.fetch_add(1, Ordering::AcqRel);
            // Under the lock, so that nobody hears of a later state before an earlier one.
            if self.hub.watches_task(&record.id) {
                self.hub.publish(&record.change());
            }
        }
        self.changed.notify_waiters();
        self.keep().await;
    }

    /// Keeps the record as it is. Of two changes at once the earlier may reach the store last: whoever finds that there
    /// was a later one keeps that again.
    async fn keep(&self) {
        loop {
            let before = self.changes.load(Ordering::Acquire);
            // What cannot be kept now is kept with the next change; the task goes on.
            let _ = self.store.put(self.snapshot()).await;
            if self.changes.load(Ordering::Acquire) == before {
                return;
            }
        }
    }

    /// Asks whoever watches the task, and waits for an answer: as long as the task is kept, for nobody finds it later.
    pub(crate) async fn ask(&self, key: &str, ask: Ask) -> Result<Outcome> {
        let (answer, answered) = oneshot::channel();
        let mut request = InputRequest::new(ask.method);
        request.params = ask.params;
        let key = self.fresh_key(key, answer);
        self.change(|record| {
            record.requests.insert(&*key, request);
            record.status = TaskStatus::InputRequired;
        })
        .await;
        let left = self.record().left(SystemTime::now());
        let late = |_| tool_error!("nobody answered for as long as the task is kept");
        let answered = timeout(left, answered).await.map_err(late)?;
        answered.map_err(|_| tool_error!("the task ended before its question was answered").into())
    }

    /// A key that this task never used (spec: tasks extension, keys).
    fn fresh_key(&self, key: &str, answer: oneshot::Sender<Outcome>) -> Box<str> {
        let mut waiting = self.waiting();
        let fresh = (1..).map(|count| if count == 1 { key.to_owned() } else { format!("{key}#{count}") });
        let mut fresh = fresh.filter(|key| !waiting.contains_key(&**key));
        let key: Box<str> = fresh.next().expect("there is always another number").into();
        waiting.insert(key.clone(), answer);
        key
    }

    /// Hands answers to who waits for them; others are ignored.
    pub(super) async fn answer(&self, answers: impl IntoIterator<Item = (String, Outcome)>) {
        let mut answered = Vec::new();
        for (key, answer) in answers {
            let waiting = match self.waiting().get_mut(&*key) {
                // The key stays, so that it is never used again.
                Some(waiting) if !waiting.is_closed() => std::mem::replace(waiting, oneshot::channel().0),
                Some(_) | None => continue,
            };
            // Whoever waited may have gone.
            let _ = waiting.send(answer);
            answered.push(key);
        }
        if answered.is_empty() {
            return;
        }
        self.change(|record| {
            answered.iter().for_each(|key| drop(record.requests.remove(key)));
            if record.requests.is_empty() && record.status == TaskStatus::InputRequired {
                record.status = TaskStatus::Working;
            }
        })
        .await;
    }

    /// Says in words where the task stands.
    pub(crate) async fn say(&self, message: String) {
        self.change(|record| {
            if !record.status.is_final() {
                record.message = Some(message);
            }
        })
        .await;
    }

    pub(super) async fn end(&self, outcome: Outcome) {
        self.change(|record| record.end(outcome)).await;
    }

    /// Ends it without an outcome; says whether it was still under way.
    pub(super) async fn cancel(&self) -> Cancelled {
        if self.record().status.is_final() {
            return Cancelled::TooLate;
        }
        self.change(|record| {
            if !record.status.is_final() {
                record.status = TaskStatus::Cancelled;
                record.message = Some("cancelled by the client".into());
                record.requests = Dict::new();
            }
        })
        .await;
        self.cancelled.cancel();
        if let Some(job) = self.job.get() {
            job.abort();
        }
        Cancelled::Done
    }

    /// Waits until the task is over or asks something.
    pub(super) async fn settled(&self) -> Settled {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let record = self.record();
                if record.status.is_final() {
                    return Settled::Over(record.clone());
                }
                if !record.requests.is_empty() {
                    let asks = record.requests.iter().map(|(key, request)| (key.to_owned(), asked(request)));
                    return Settled::Asks(asks.collect());
                }
            }
            changed.await;
        }
    }
}

fn asked(request: &InputRequest) -> Ask {
    Ask { method: request.method.clone(), params: request.params.clone() }
}

/// What a task came to, for now.
pub(super) enum Settled {
    /// It is over.
    Over(TaskRecord),
    /// It asks something.
    Asks(Asks),
}

/// What cancelling came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cancelled {
    /// It was under way.
    Done,
    /// It was over.
    TooLate,
}

/// A question with the task that it belongs to (spec: 2025-11-25 basic/utilities/tasks).
pub(super) fn related(mut ask: Ask, id: &str) -> Ask {
    let mut task = toolbay_protocol::raw::Object::with_capacity(64);
    task.put_text("taskId", id);
    let params = ask.params.unwrap_or(Raw::EMPTY);
    let meta = params.get("_meta").unwrap_or(Raw::EMPTY);
    let meta = meta.with(&[(toolbay_protocol::types::meta::key::RELATED_TASK, Some(&task.finish()))]);
    ask.params = Some(params.with(&[("_meta", Some(&meta))]));
    ask
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("task", &self.record().id).finish_non_exhaustive()
    }
}

/// Shared by the function that runs and whoever watches it.
pub(super) type Shared = Arc<Slot>;
