//! One session: what is known of it, and which connection it has at the moment.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use serde_json::Value;
use tokio::time::Instant;
use toolbay_protocol::greeting::Device;

use super::{
    api::SessionInfo,
    folder::Folder,
    key::{ClientUid, SessionKey},
};
use crate::{
    config::SessionDir,
    servers::{Leg, Open},
};

/// A session of a device at a server.
pub(crate) struct Session {
    pub(crate) key: SessionKey,
    /// No other has this number.
    pub(crate) number: u64,
    /// What its server is told of the device: which it is among all, and no more.
    device: Option<Device>,
    since: SystemTime,
    begun: Instant,
    /// When it was used last, in milliseconds after it began.
    used: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    over: bool,
    leg: Weak<Leg>,
    upstream: Option<Arc<str>>,
    folder: Option<Folder>,
    data: Option<Value>,
    /// The sessions of clients that used it.
    visitors: Vec<Open>,
    /// Whether requests used it that belong to no session.
    alone: bool,
}

/// Who uses a session.
pub(crate) enum Visitor {
    /// A client in a session of its own with us.
    Session(Open),
    /// A request that stands alone.
    Request,
    /// Nobody: it is looked at, or made ready.
    Nobody,
}

impl Session {
    pub(super) fn new(key: SessionKey) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let mut salt = [0; 16];
        let salted = match &key.client {
            // Replicas agree on a device, and so does this one with what it was before.
            ClientUid::Stated(_) | ClientUid::Alone => Some(&[][..]),
            // Without a name that is new, none is told.
            ClientUid::Session(_) => getrandom::fill(&mut salt).is_ok().then_some(&salt[..]),
        };
        let device = salted.and_then(|salt| Device::parse(&key.opaque(salt)).ok());
        Self {
            key,
            device,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            since: SystemTime::now(),
            begun: Instant::now(),
            used: AtomicU64::new(0),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is used.
    pub(crate) fn touch(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.used.fetch_max(now, Ordering::Relaxed);
    }

    /// When it was used last.
    pub(super) fn used(&self) -> Instant {
        self.begun + Duration::from_millis(self.used.load(Ordering::Relaxed))
    }

    /// It is used by somebody.
    pub(super) fn visited(&self, visitor: Visitor) {
        self.touch();
        let mut state = self.state();
        match visitor {
            Visitor::Session(open) if !state.visitors.contains(&open) => state.visitors.push(open),
            Visitor::Request => state.alone = true,
            Visitor::Session(_) | Visitor::Nobody => {}
        }
    }

    /// A session of a client ended; whether nobody is left who used this one.
    pub(super) fn left(&self, open: &Open) -> bool {
        if matches!(&self.key.client, ClientUid::Session(session) if session.is(open)) {
            return true;
        }
        let mut state = self.state();
        let before = state.visitors.len();
        state.visitors.retain(|visitor| visitor != open);
        state.visitors.len() < before && state.visitors.is_empty() && !state.alone
    }

    /// Takes a connection, unless it is over.
    pub(crate) fn attach(&self, leg: &Arc<Leg>) -> bool {
        let mut state = self.state();
        if !state.over {
            state.leg = Arc::downgrade(leg);
        }
        !state.over
    }

    /// Whether it takes no more connections.
    pub(crate) fn is_over(&self) -> bool {
        self.state().over
    }

    /// Takes no more connections.
    pub(super) fn end(&self) {
        self.state().over = true;
    }

    pub(super) fn leg(&self) -> Option<Arc<Leg>> {
        self.state().leg.upgrade()
    }

    /// Whether nobody needs it now.
    pub(super) fn is_free(&self) -> bool {
        self.leg().is_none_or(|leg| leg.is_free())
    }

    /// How its server knows it, once its connection is open.
    pub(crate) fn is_known_as(&self, upstream: Option<&str>) {
        self.state().upstream = upstream.map(Into::into);
    }

    /// What its server is told of the device.
    pub(crate) fn device(&self) -> Option<Device> {
        self.device.clone()
    }

    /// Its own folder, made when it is first needed.
    pub(crate) fn folder(&self, dir: &SessionDir) -> std::io::Result<PathBuf> {
        let mut state = self.state();
        if let Some(folder) = &state.folder {
            return Ok(folder.path().to_path_buf());
        }
        let folder = Folder::of(dir, &self.key)?;
        Ok(state.folder.insert(folder).path().to_path_buf())
    }

    pub(super) fn take_folder(&self) -> Option<Folder> {
        self.state().folder.take()
    }

    /// Keeps what a host wants to know of it.
    pub(super) fn set(&self, data: Value) {
        self.touch();
        self.state().data = Some(data).filter(|data| !data.is_null());
    }

    pub(super) fn info(&self) -> SessionInfo {
        let idle = self.used().elapsed();
        let state = self.state();
        SessionInfo {
            key: self.key.clone(),
            number: self.number,
            since: self.since,
            last_used: SystemTime::now().checked_sub(idle).unwrap_or(self.since).max(self.since),
            idle,
            connected: state.leg.upgrade().is_some_and(|leg| leg.open().is_some()),
            upstream: state.upstream.clone(),
            folder: state.folder.as_ref().map(Folder::path).map(Path::to_path_buf),
            data: state.data.clone(),
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("key", &self.key).field("number", &self.number).finish_non_exhaustive()
    }
}
