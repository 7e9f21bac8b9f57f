//! The connections of one server beside its first: opened when a caller needs one of its own, bounded in number, closed
//! when nobody needed them for a while.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::task::JoinHandle;
use toolbay_protocol::{Raw, greeting::Introduction};

use super::{isolation::Who, leg::Leg, server::Server, tend};
use crate::{catalog::Part, sessions::Session};

/// Of how many that were closed it is remembered what was offered on them.
const REMEMBERED: usize = 256;

/// All of them.
#[derive(Default)]
pub(super) struct Legs(Mutex<Table>);

#[derive(Default)]
struct Table {
    open: HashMap<Slot, Place>,
    /// What was offered on those that were closed because nobody used them: it is there again with the next call.
    remembered: HashMap<Slot, Arc<Part>>,
    /// What was declared by whom nothing else was offered than on the first, as far as could be found out.
    alike: HashSet<Raw>,
    /// Whose were waited for in vain, because opening them or the first takes long: they are not waited for again.
    waited: HashSet<Slot>,
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
    /// The session that it was to carry was ended this moment.
    Over,
}

/// Where a connection stands among all: whom it serves, and what was declared; of a session of a device, which one.
pub(super) type Slot = (Who, Raw);

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
        session: Option<&Arc<Session>>,
    ) -> Result<(Arc<Leg>, Found), NoLeg> {
        let mut table = self.table();
        let key = slot(who, told, session);
        if let Some(place) = table.open.get(&key) {
            place.leg.touch();
            return Ok((Arc::clone(&place.leg), Found::Before));
        }
        if table.closed {
            return Err(NoLeg::Closed);
        }
        let most = server.spec.connections;
        if table.open.len() >= most {
            // A device that is idle is remembered by its server; nobody else's makes room for another.
            let may_go = |place: &Place| place.leg.session.is_none() && place.leg.is_free();
            let free = table.open.iter().find(|(_, place)| may_go(place)).map(|(key, _)| key.clone());
            table.end(&free.ok_or(NoLeg::Full(most))?);
        }
        let leg = Leg::new(key.0.clone(), Some(Arc::clone(told)), &server.spec.bounds);
        let leg = Arc::new(match session {
            Some(session) => leg.carrying(Arc::clone(session)),
            None => leg,
        });
        if session.is_some_and(|session| !session.attach(&leg)) {
            return Err(NoLeg::Over);
        }
        leg.part.store(table.remembered.remove(&key));
        let (tended, ended) = (tend::tend(Arc::clone(server), Arc::clone(&leg)), leg.ended.clone().drop_guard());
        let task = tokio::spawn(async move {
            let _ended = ended;
            tended.await;
        });
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
        let mut table = self.table();
        let idle = table.those(|leg| leg.session.is_none() && leg.is_idle());
        idle.iter().for_each(|key| table.put_aside(key));
        table.ending.retain(|task| !task.is_finished());
    }

    /// Closes all, because nobody needs the server; what was offered on them is offered on.
    pub(super) fn rest(&self) {
        let mut table = self.table();
        let all = table.those(|_| true);
        all.iter().for_each(|key| table.put_aside(key));
        table.ending.retain(|task| !task.is_finished());
    }

    /// What is offered to those in a place, where it is not what is offered on the first.
    pub(super) fn part(&self, key: &Slot) -> Option<Arc<Part>> {
        let table = self.table();
        match table.open.get(key) {
            Some(place) => place.leg.part.load_full(),
            None => table.remembered.get(key).cloned(),
        }
    }

    /// Whether it is known what is offered to those in a place, of whom the server is told this.
    pub(super) fn know(&self, key: &Slot, told: &Introduction) -> bool {
        let table = self.table();
        table.alike.contains(&told.capabilities)
            || table.waited.contains(key)
            || table.open.get(key).is_some_and(|place| place.leg.was_listed())
            || table.remembered.contains_key(key)
    }

    /// It was not found out in time what is offered in a place: nobody waits for that again until it may be otherwise.
    pub(super) fn waited(&self, key: Slot) {
        let mut table = self.table();
        if table.waited.len() >= REMEMBERED {
            table.waited.clear();
        }
        table.waited.insert(key);
    }

    /// The first was opened: it may be otherwise now.
    pub(super) fn may_be_waited_for(&self) {
        self.table().waited.clear();
    }

    /// Nothing else is offered to those who declare this, or it cannot be found out.
    pub(super) fn are_alike(&self, told: &Introduction) {
        let mut table = self.table();
        if table.alike.len() >= REMEMBERED {
            table.alike.clear();
        }
        table.alike.insert(told.capabilities.clone());
    }

    /// Something else is offered to those who declare this.
    pub(super) fn are_not_alike(&self, told: &Introduction) {
        self.table().alike.remove(&told.capabilities);
    }

    /// What is offered on the first is no longer what it was: what else there is must be found out anew.
    pub(super) fn find_out_anew(&self) {
        self.table().alike.clear();
    }

    /// Whether anything else is offered on any of them than on the first; those on which it is not follow that one again.
    pub(super) fn differ(&self, base: &Part) -> bool {
        let mut table = self.table();
        for place in table.open.values() {
            if place.leg.part.load().as_ref().is_some_and(|part| part.is_alike(base)) {
                place.leg.part.store(None);
            }
        }
        table.remembered.retain(|_, part| !part.is_alike(base));
        !table.remembered.is_empty() || table.open.values().any(|place| place.leg.part.load().is_some())
    }

    /// Closes those that `which` names.
    pub(super) fn end_those(&self, which: impl Fn(&Leg) -> bool) {
        let mut table = self.table();
        let ending = table.those(which);
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

/// The place of those whom a connection serves. All that a device declares goes over one: the server has one session of it.
pub(super) fn slot(who: Who, told: &Introduction, session: Option<&Arc<Session>>) -> Slot {
    match session {
        Some(session) => (who, Raw::of(&session.number)),
        None => (who, told.capabilities.clone()),
    }
}

impl Table {
    fn those(&self, which: impl Fn(&Leg) -> bool) -> Vec<Slot> {
        self.open.iter().filter(|(_, place)| which(&place.leg)).map(|(key, _)| key.clone()).collect()
    }

    /// Ends one whose offers are still to be known.
    fn put_aside(&mut self, key: &Slot) {
        let part = self.open.get(key).and_then(|place| place.leg.part.load_full());
        if let Some(part) = part.filter(|_| self.remembered.len() < REMEMBERED) {
            self.remembered.insert(key.clone(), part);
        }
        self.end(key);
    }

    fn end(&mut self, key: &Slot) {
        if let Some(place) = self.open.remove(key) {
            self.waited.remove(key);
            place.leg.stop.cancel();
            self.ending.push(place.task);
        }
    }
}
