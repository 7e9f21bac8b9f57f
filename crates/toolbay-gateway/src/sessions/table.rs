//! The sessions of one server: found, opened within the user's share, and ended.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::Notify, time::Instant};

use super::{
    key::Holder,
    session::{Session, Visitor},
};
use crate::{limits::Devices, servers::Open};

/// The sessions of one server.
pub(crate) struct Table {
    tool: Arc<str>,
    inner: Mutex<Inner>,
    /// Told when there is something to do for whoever keeps it.
    pub(super) changed: Notify,
}

struct Inner {
    limits: Devices,
    open: HashMap<Holder, Arc<Session>>,
    /// Those that take no new calls and have not come to their end.
    leaving: Vec<Arc<Session>>,
    closed: bool,
}

/// Why there is no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// All of the user's devices are in use, as many as may be (limit `devicesPerUser`).
    Devices(usize),
    /// The server comes to its end.
    Closed,
}

impl Table {
    pub(crate) fn new(tool: Arc<str>, limits: Devices) -> Self {
        let inner = Inner { limits, open: HashMap::new(), leaving: vec![], closed: false };
        Self { tool, inner: Mutex::new(inner), changed: Notify::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps to other limits from here on.
    pub(crate) fn allow(&self, limits: Devices) {
        self.inner().limits = limits;
        self.changed.notify_one();
    }

    /// The session of `holder`, opened where there is none. Where its user has as many as may be, the one that was idle
    /// for longest makes room.
    pub(crate) fn enter(&self, holder: &Holder, visitor: Visitor) -> Result<Arc<Session>, Full> {
        let mut inner = self.inner();
        if let Some(session) = inner.open.get(holder) {
            session.visited(visitor);
            return Ok(Arc::clone(session));
        }
        if inner.closed {
            return Err(Full::Closed);
        }
        let most = inner.limits.per_user;
        let of_user: Vec<_> = inner.open.iter().filter(|(other, _)| other.user == holder.user).collect();
        if of_user.len() >= most {
            let free = of_user.iter().filter(|(_, session)| session.is_free());
            let oldest = free.min_by_key(|(_, session)| session.used()).map(|(oldest, _)| (*oldest).clone());
            inner.end(&oldest.ok_or(Full::Devices(most))?);
        }
        let session = Arc::new(Session::new(holder.clone().at(Arc::clone(&self.tool))));
        session.visited(visitor);
        inner.open.insert(holder.clone(), Arc::clone(&session));
        // It is to be ended some time.
        self.changed.notify_one();
        Ok(session)
    }

    /// The session of `holder`, where there is one.
    pub(crate) fn find(&self, holder: &Holder) -> Option<Arc<Session>> {
        self.inner().open.get(holder).map(Arc::clone)
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.inner().open.values().map(Arc::clone).collect()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.inner().open.len()
    }

    /// Ends the session of `holder` when its calls have ended; what comes after this gets another. The session, where
    /// there was one.
    pub(super) fn clear(&self, holder: &Holder) -> Option<Arc<Session>> {
        let cleared = self.inner().end(holder);
        self.changed.notify_one();
        cleared
    }

    /// A session of a client with us ended: so do those that nobody else used.
    pub(crate) fn left(&self, open: &Open) {
        let mut inner = self.inner();
        let ended = inner.those(|session| session.left(open));
        ended.iter().for_each(|holder| drop(inner.end(holder)));
        self.changed.notify_one();
    }

    /// Ends those that nobody needed for as long as they may be idle; when to look again.
    pub(super) fn expire(&self, now: Instant) -> Option<Instant> {
        let mut inner = self.inner();
        let idle = inner.limits.idle;
        let due = inner.those(|session| session.used() + idle <= now);
        for holder in due {
            match inner.open.get(&holder) {
                // Its time begins when it is needed no more.
                Some(session) if !session.is_free() => session.touch(),
                Some(_) | None => drop(inner.end(&holder)),
            }
        }
        inner.open.values().map(|session| session.used() + idle).min()
    }

    /// Those that come to their end, to be seen to it by whoever asks.
    pub(super) fn take_leaving(&self) -> Vec<Arc<Session>> {
        std::mem::take(&mut self.inner().leaving)
    }

    /// Opens no more; all that there were.
    pub(super) fn close(&self) -> Vec<Arc<Session>> {
        let mut inner = self.inner();
        inner.closed = true;
        let all = inner.those(|_| true);
        all.iter().for_each(|holder| drop(inner.end(holder)));
        std::mem::take(&mut inner.leaving)
    }
}

impl Inner {
    fn those(&self, which: impl Fn(&Session) -> bool) -> Vec<Holder> {
        self.open.iter().filter(|(_, session)| which(session)).map(|(holder, _)| holder.clone()).collect()
    }

    fn end(&mut self, holder: &Holder) -> Option<Arc<Session>> {
        let session = self.open.remove(holder)?;
        session.end();
        self.leaving.push(Arc::clone(&session));
        Some(session)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("tool", &self.tool).field("open", &self.count()).finish_non_exhaustive()
    }
}
