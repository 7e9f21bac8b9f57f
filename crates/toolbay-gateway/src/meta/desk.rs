//! What the gateway's own tools work with.

use std::{fmt, sync::Arc};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::task;
use toolbay_protocol::{ErrorObject, Raw, Revision};
use toolbay_transport::Caller;

use super::{
    exposure::{Expose, Exposed, Exposure, client_of, tokens},
    own::{Acquires, Own},
};
use crate::{
    catalog::{Catalog, Listed, Picks},
    registry::acquire::Acquirer,
};

/// What they work with.
pub(crate) struct Desk {
    exposure: ArcSwap<Exposure>,
    acquirer: ArcSwapOption<Acquirer>,
    picks: Arc<Picks>,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            exposure: ArcSwap::from_pointee(Exposure::all()),
            acquirer: ArcSwapOption::empty(),
            picks: Arc::default(),
        }
    }
}

impl Desk {
    /// Whether `caller` may call this tool. Where the size of the lists decides what is shown, it may at any time: a list
    /// that it read may be older than the last switch.
    pub(crate) fn offers(&self, own: Own, caller: &Caller) -> bool {
        let exposure = self.exposure.load();
        let client = if exposure.clients.is_empty() { None } else { client_of(caller) };
        exposure.of(client.as_deref()) != Expose::All && (own != Own::Acquire || self.acquirer.load().is_some())
    }

    /// The list of tools where `caller` is not shown all of `catalog`.
    pub(crate) fn list(&self, caller: &Caller, catalog: &Catalog) -> Option<Result<Raw, ErrorObject>> {
        let exposure = self.exposure.load();
        if exposure.expose == Expose::All && exposure.clients.is_empty() {
            return None;
        }
        let client = client_of(caller);
        match exposure.shows(client.as_deref(), tokens(catalog.bytes(Listed::Tools))) {
            Expose::All | Expose::Auto => None,
            Expose::Search => Some(self.own(caller.introduction.revision)),
        }
    }

    fn own(&self, revision: Revision) -> Result<Raw, ErrorObject> {
        let acquires = if self.acquirer.load().is_some() { Acquires::Yes } else { Acquires::No };
        Own::list(revision, acquires)
    }

    /// What everybody is shown that sees `catalog`.
    pub(crate) fn exposed(&self, catalog: &Catalog) -> Exposed {
        Exposed {
            exposure: Exposure::clone(&self.exposure.load()),
            tools: catalog.count(Listed::Tools),
            tokens: tokens(catalog.bytes(Listed::Tools)),
            acquires: self.acquirer.load().is_some(),
        }
    }

    /// Shows clients something else from here on; the keys of the configuration that differ.
    pub(crate) fn expose(&self, exposure: Exposure) -> Vec<&'static str> {
        let before = self.exposure.swap(Arc::new(exposure.clone()));
        before.differing(&exposure)
    }

    /// Looks for servers with this one from here on, or not at all; whether that is news to whoever reads the list.
    pub(crate) fn acquire_by(&self, acquirer: Option<Acquirer>) -> bool {
        let there = acquirer.is_some();
        self.acquirer.swap(acquirer.map(Arc::new)).is_some() != there
    }

    /// Who looks for servers.
    pub(crate) fn acquirer(&self) -> Option<Arc<Acquirer>> {
        self.acquirer.load_full()
    }

    /// The tools of `catalog` that answer `query` best. It is worked out aside: the first time takes as long as all of
    /// them do to be read.
    pub(crate) async fn search(
        &self,
        catalog: Arc<Catalog>,
        query: String,
        server: Option<String>,
        limit: usize,
    ) -> Result<toolbay_retrieval::Found, ErrorObject> {
        let picks = Arc::clone(&self.picks);
        let searching = task::spawn_blocking(move || picks.search(&catalog, &query, server.as_deref(), limit));
        searching.await.map_err(|error| ErrorObject::internal(format!("the search failed: {error}")))
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("exposure", &self.exposure.load()).finish_non_exhaustive()
    }
}
