//! The connections of one server beside its first: opened when a caller needs one of its own, bounded in number, closed
//! when nobody needed them for a while.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::task::JoinHandle;
use toolbay_protocol::{Raw, greeting::Introduction};

use super::{isolation::Who, leg::Leg, server::Server, tend};

/// All of them.
#[derive(Default)]
pub(super) struct Legs(Mutex<Table>);

#[derive(Default)]
struct Table {
    open: HashMap<(Who, Raw), Place>,
    /// Tasks that come to their end.
    ending: Vec<JoinHandle<()>>,
    closed: bool,
}

struct Place {
    leg: Arc<Leg>,
    task: JoinHandle<()>,
}

/// Why there is none.
#[derive(Debug)]
pub(crate) enum NoLeg {
    /// As many as may be are in use.
    Full(usize),
    /// The server comes to its end.
    Closed,
}

/// Whether a connection was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Before,
    New,
}

impl Legs {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that serves `who`, of whom the server is `told`; opened where there is none.
    pub(super) fn get(
        &self,
        server: &Arc<Server>,
        who: Who,
        told: &Arc<Introduction>,
    ) -> Result<(Arc<Leg>, Found), NoLeg> {
        let mut table = self.table();
        let key = (who, told.capabilities.clone());
        if let Some(place) = table.open.get(&key) {
            return Ok((Arc::clone(&place.leg), Found::Before));
        }
        if table.closed {
            return Err(NoLeg::Closed);
        }
        let most = server.spec.connections;
        if table.open.len() >= most {
            let free = table.open.iter().find(|(_, place)| place.leg.is_free()).map(|(key, _)| key.clone());
            table.end(&free.ok_or(NoLeg::Full(most))?);
        }
        let leg = Arc::new(Leg::new(key.0.clone(), Some(Arc::clone(told))));
        let task = tokio::spawn(tend::tend(Arc::clone(server), Arc::clone(&leg)));
        table.open.insert(key, Place { leg: Arc::clone(&leg), task });
        Ok((leg, Found::New))
    }

    /// Forgets a connection that is lost.
    pub(super) fn forget(&self, leg: &Arc<Leg>) {
        let mut table = self.table();
        let found = table.open.iter().find(|(_, place)| Arc::ptr_eq(&place.leg, leg)).map(|(key, _)| key.clone());
        if let Some(key) = found {
            table.end(&key);
        }
    }

    /// Whether a connection has no place here any more.
    pub(super) fn forgot(&self, leg: &Arc<Leg>) -> bool {
        !self.table().open.values().any(|place| Arc::ptr_eq(&place.leg, leg))
    }

    /// Closes those that nobody needed since this was called last.
    pub(super) fn sweep(&self) {
        self.end_those(|leg| leg.is_idle());
    }

    /// Closes those that `which` names.
    pub(super) fn end_those(&self, which: impl Fn(&Leg) -> bool) {
        let mut table = self.table();
        let ending: Vec<_> =
            table.open.iter().filter(|(_, place)| which(&place.leg)).map(|(key, _)| key.clone()).collect();
        ending.iter().for_each(|key| table.end(key));
        table.ending.retain(|task| !task.is_finished());
    }

    /// All that are there at the moment.
    pub(super) fn all(&self) -> Vec<Arc<Leg>> {
        self.table().open.values().map(|place| Arc::clone(&place.leg)).collect()
    }

    /// Closes all and waits for their end.
    pub(super) async fn close(&self) {
        self.table().closed = true;
        self.end_those(|_| true);
        let ending = std::mem::take(&mut self.table().ending);
        for task in ending {
            // A task that panicked has nothing left to close.
            let _ = task.await;
        }
    }
}

impl Table {
    fn end(&mut self, key: &(Who, Raw)) {
        if let Some(place) = self.open.remove(key) {
            place.leg.stop.cancel();
            self.ending.push(place.task);
        }
    }
}
