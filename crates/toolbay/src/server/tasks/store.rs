//! Where tasks are kept.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use toolbay_transport::Principal;

use super::record::TaskRecord;
use crate::error::Result;

/// Keeps tasks: in memory ([`MemoryStore`]), or wherever they outlive the process.
///
/// A [`TaskRecord`] is written and read with serde. A task that was under way when its process ended is found as it was
/// last put. What is expired may be forgotten, and nothing before.
pub trait TaskStore: Send + Sync + 'static {
    /// Keeps a task, or what became of it. An error keeps the task from beginning.
    fn put(&self, record: TaskRecord) -> impl Future<Output = Result<()>> + Send;

    /// The task of this id.
    fn get(&self, id: &str) -> impl Future<Output = Result<Option<TaskRecord>>> + Send;

    /// At most `most` tasks of `principal`, oldest first, beginning behind the one called `after`.
    fn list(
        &self,
        principal: &Principal,
        after: Option<&str>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<TaskRecord>>> + Send;
}

type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A store whose type is forgotten.
pub(crate) trait ErasedStore: Send + Sync {
    fn put(&self, record: TaskRecord) -> Work<'_, ()>;
    fn get<'a>(&'a self, id: &'a str) -> Work<'a, Option<TaskRecord>>;
    fn list<'a>(&'a self, principal: &'a Principal, after: Option<&'a str>, most: usize) -> Work<'a, Vec<TaskRecord>>;
}

impl<T: TaskStore> ErasedStore for T {
    fn put(&self, record: TaskRecord) -> Work<'_, ()> {
        Box::pin(TaskStore::put(self, record))
    }

    fn get<'a>(&'a self, id: &'a str) -> Work<'a, Option<TaskRecord>> {
        Box::pin(TaskStore::get(self, id))
    }

    fn list<'a>(&'a self, principal: &'a Principal, after: Option<&'a str>, most: usize) -> Work<'a, Vec<TaskRecord>> {
        Box::pin(TaskStore::list(self, principal, after, most))
    }
}

/// A store whose type is forgotten, shared.
pub(crate) type DynStore = Arc<dyn ErasedStore>;

/// Tasks in memory; they end with the process.
pub struct MemoryStore {
    most: usize,
    tasks: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    tasks: HashMap<String, TaskRecord>,
    /// Ids in the order in which they came.
    order: Vec<String>,
}

/// How many tasks are kept, where nothing else is said.
const MOST: usize = 10_000;

impl MemoryStore {
    /// Keeps at most so many tasks.
    pub fn holding(most: usize) -> Self {
        Self { most, tasks: Mutex::default() }
    }

    fn tasks(&self) -> MutexGuard<'_, Kept> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::holding(MOST)
    }
}

impl TaskStore for MemoryStore {
    async fn put(&self, record: TaskRecord) -> Result<()> {
        let mut kept = self.tasks();
        if let Some(old) = kept.tasks.get_mut(&record.id) {
            *old = record;
            return Ok(());
        }
        if kept.tasks.len() >= self.most {
            let now = SystemTime::now();
            kept.tasks.retain(|_, task| !task.is_expired(now));
            let Kept { tasks, order } = &mut *kept;
            order.retain(|id| tasks.contains_key(id));
        }
        if kept.tasks.len() >= self.most {
            let what = format!("this server holds {} tasks already (limit `tasks`): try again later", self.most);
            return Err(toolbay_protocol::ErrorObject::internal(what).into());
        }
        kept.order.push(record.id.clone());
        kept.tasks.insert(record.id.clone(), record);
        Ok(())
    }

    async fn get(&self, id: &str) -> Result<Option<TaskRecord>> {
        let now = SystemTime::now();
        Ok(self.tasks().tasks.get(id).filter(|task| !task.is_expired(now)).cloned())
    }

    async fn list(&self, principal: &Principal, after: Option<&str>, most: usize) -> Result<Vec<TaskRecord>> {
        let (kept, now) = (self.tasks(), SystemTime::now());
        let from = match after {
            None => 0,
            Some(after) => match kept.order.iter().position(|id| id == after) {
                Some(place) => place + 1,
                None => return Err(super::super::page::bad_cursor().into()),
            },
        };
        let tasks = kept.order[from..].iter().filter_map(|id| kept.tasks.get(id));
        Ok(tasks.filter(|task| task.principal == *principal && !task.is_expired(now)).take(most).cloned().collect())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("tasks", &self.tasks().tasks.len()).finish()
    }
}
