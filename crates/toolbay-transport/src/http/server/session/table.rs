//! All sessions of an endpoint, and the one task that looks after them while there are any.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{HeaderMap, StatusCode};
use tokio::task::AbortHandle;

use super::{
    super::{endpoint::Shared, fields::SESSION, options::Options, respond::Refusal},
    record::{Attached, Session},
};
use crate::{Principal, Service};

/// The sessions of an endpoint.
#[derive(Debug)]
pub(in super::super) struct Sessions {
    open: Mutex<HashMap<Arc<str>, Arc<Session>>>,
    limit: usize,
    idle: Duration,
    sweeper: Mutex<Option<AbortHandle>>,
}

impl Sessions {
    pub(in super::super) fn new(options: &Options) -> Self {
        let (limit, idle) = (options.sessions, options.session_idle);
        Self { open: Mutex::default(), limit, idle, sweeper: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session called `id`. Another principal's looks like one that does not exist.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Result<Attached, Refusal> {
        let open = self.open();
        let found = open.get(id).filter(|session| session.caller.principal == *principal);
        found.map(Attached::new).ok_or_else(|| {
            let what = "there is no such session (any more); open a new one with `initialize`";
            Refusal::new(StatusCode::NOT_FOUND, what)
        })
    }

    /// Takes a new session in.
    pub(super) fn insert(&self, id: Arc<str>, session: &Arc<Session>) -> Result<Attached, Refusal> {
        let mut open = self.open();
        if open.len() >= self.limit {
            let what = format!("{} sessions are open, and that is the limit (`sessions`); try later", self.limit);
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, what));
        }
        open.insert(id, Arc::clone(session));
        Ok(Attached::new(session))
    }

    /// Ends a session.
    pub(super) fn end<S: Service>(&self, id: &str, service: &S) {
        let gone = self.open().remove(id);
        if let Some(session) = gone {
            session.end();
            service.left(&session.caller);
        }
    }

    /// Ends all of them.
    pub(in super::super) fn end_all<S: Service>(&self, service: &S) {
        let all = std::mem::take(&mut *self.open());
        for session in all.into_values() {
            session.end();
            service.left(&session.caller);
        }
    }

    /// Ends those that were not heard of for too long, and forgets what nobody came back for.
    fn sweep<S: Service>(&self, service: &S) {
        let idle: Vec<_> = self.open().extract_if(|_, session| session.is_idle(self.idle)).collect();
        for (_, session) in idle {
            session.end();
            service.left(&session.caller);
        }
        let open: Vec<_> = self.open().values().cloned().collect();
        for session in open {
            session.state().log.sweep();
        }
    }

    fn sweeper(&self) -> MutexGuard<'_, Option<AbortHandle>> {
        self.sweeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the sweeper may go, if there is nothing to look after.
    fn is_unneeded(&self) -> bool {
        let mut sweeper = self.sweeper();
        let empty = self.open().is_empty();
        if empty {
            *sweeper = None;
        }
        empty
    }
}

/// Sees to it that somebody looks after the sessions. To be called after one was added.
pub(super) fn look_after<S: Service>(shared: &Arc<Shared<S>>) {
    let mut sweeper = shared.sessions.sweeper();
    if sweeper.is_some() {
        return;
    }
    let weak = Arc::downgrade(shared);
    let pause = (shared.sessions.idle / 4).clamp(Duration::from_millis(10), Duration::from_secs(60));
    let task = tokio::spawn(async move {
        loop {
            tokio::time::sleep(pause).await;
            let Some(shared) = weak.upgrade() else { return };
            shared.sessions.sweep(&*shared.service);
            if shared.sessions.is_unneeded() {
                return;
            }
        }
    });
    *sweeper = Some(task.abort_handle());
}

impl Drop for Sessions {
    fn drop(&mut self) {
        if let Some(task) = self.sweeper().take() {
            task.abort();
        }
    }
}

/// The session that a request names.
pub(in super::super) fn named(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut named = headers.get_all(&SESSION).iter();
    match (named.next(), named.next()) {
        (None, _) => Ok(None),
        (Some(id), None) => match id.to_str() {
            Ok(id) => Ok(Some(id)),
            Err(_) => Err(Refusal::new(StatusCode::BAD_REQUEST, "`Mcp-Session-Id` must be visible ASCII")),
        },
        (Some(_), Some(_)) => Err(Refusal::new(StatusCode::BAD_REQUEST, "`Mcp-Session-Id` was sent more than once")),
    }
}

/// What is said to a request that needs a session and names none.
pub(in super::super) fn nameless() -> Refusal {
    let what = "open a session with `initialize` and name it in `Mcp-Session-Id`, or state protocol version and \
                capabilities in `_meta`";
    Refusal::new(StatusCode::BAD_REQUEST, what)
}

/// A name for a session that nobody can guess.
pub(in super::super) fn mint() -> Result<Arc<str>, Refusal> {
    let mut secret = [0; 16];
    if getrandom::fill(&mut secret).is_err() {
        let what = "the system gives no randomness to name a session with";
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, what));
    }
    Ok(format!("{:032x}", u128::from_ne_bytes(secret)).into())
}
