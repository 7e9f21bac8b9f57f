//! What each caller sees: what everybody does, unless a server offers more, or less, on a connection of the caller's own.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::ArcSwap;
use toolbay_protocol::{Raw, Revision, greeting::Device};
use toolbay_transport::{Caller, Principal};

use crate::{catalog::Catalog, servers::Open};

/// How many different views are remembered.
const REMEMBERED: usize = 256;

/// What callers see who do not see what everybody does.
#[derive(Default)]
pub(super) struct Views {
    /// Whether there is any such caller.
    differ: AtomicBool,
    known: ArcSwap<HashMap<Viewer, Arc<Catalog>>>,
}

/// Those who see the same.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Viewer(Client, Option<Device>);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Client {
    Session(Open),
    Alone(Principal, Revision, Raw),
}

impl Viewer {
    fn of(caller: &Caller) -> Self {
        let introduction = &caller.introduction;
        let client = match caller.session {
            Some(_) => Client::Session(Open::of(caller)),
            None => Client::Alone(caller.principal.clone(), introduction.revision, introduction.capabilities.clone()),
        };
        Self(client, caller.device().cloned())
    }
}

impl Views {
    /// Forgets all views: something changed.
    pub(super) fn renew(&self, differ: bool) {
        self.differ.store(differ, Ordering::Release);
        self.known.store(Arc::default());
    }

    /// Whether everybody sees the same.
    pub(super) fn are_one(&self) -> bool {
        !self.differ.load(Ordering::Acquire)
    }

    /// What `caller` sees; made by `make` where it is not remembered.
    pub(super) fn of(&self, caller: &Caller, make: impl FnOnce() -> Catalog) -> Arc<Catalog> {
        let viewer = Viewer::of(caller);
        let before = self.known.load();
        if let Some(view) = before.get(&viewer) {
            return Arc::clone(view);
        }
        let view = Arc::new(make());
        let mut known = HashMap::clone(&before);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(viewer, Arc::clone(&view));
        // Where all were forgotten meanwhile, so is this one: it may be of before.
        self.known.compare_and_swap(&before, Arc::new(known));
        view
    }
}

impl fmt::Debug for Views {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Views").field("known", &self.known.load().len()).finish_non_exhaustive()
    }
}
