//! The processes of a server that is a child of ours: one for each of its connections.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering},
};

/// All of them, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Processes(Mutex<Vec<u32>>);

/// The one behind a connection; nobody has the number 0.
#[derive(Debug, Default)]
pub(super) struct Process(AtomicU32);

impl Processes {
    fn table(&self) -> MutexGuard<'_, Vec<u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn all(&self) -> Vec<u32> {
        self.table().clone()
    }

    /// A connection's process was started, in the place of another if there was one.
    pub(super) fn started(&self, connection: &Process, id: u32) {
        let before = connection.0.swap(id, Ordering::Relaxed);
        let mut table = self.table();
        table.retain(|one| *one != before);
        table.push(id);
    }

    /// It ended.
    pub(super) fn ended(&self, connection: &Process) {
        let before = connection.0.swap(0, Ordering::Relaxed);
        self.table().retain(|one| *one != before);
    }
}
