//! What the gateway's own tools work with.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::{
    sync::watch,
    task::{self, JoinHandle},
};
use toolbay_protocol::{ErrorObject, Raw, Revision};
use toolbay_transport::Caller;

use super::{
    exposure::{Expose, Exposed, Exposure, client_of, tokens},
    own::{Acquires, Own},
};
use crate::{
    catalog::{Catalog, Listed, Picks, Wanted},
    embeddings::{Embedder, Meaning},
    registry::acquire::Acquirer,
};

/// What they work with.
pub(crate) struct Desk {
    exposure: ArcSwap<Exposure>,
    acquirer: ArcSwapOption<Acquirer>,
    embedder: ArcSwapOption<Embedder>,
    /// Has the tools encoded, while there is an embedder.
    dressing: Mutex<Option<Dressing>>,
    pub(crate) picks: Arc<Picks>,
    /// The last catalog of which all tools were encoded that can be.
    pub(crate) dressed: watch::Sender<Weak<Catalog>>,
}

/// A task that ends with its owner.
struct Dressing(JoinHandle<()>);

impl Drop for Dressing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            exposure: ArcSwap::from_pointee(Exposure::all()),
            acquirer: ArcSwapOption::empty(),
            embedder: ArcSwapOption::empty(),
            dressing: Mutex::default(),
            picks: Arc::default(),
            dressed: watch::Sender::default(),
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
        acquirer.iter().for_each(|acquirer| acquirer.embed_by(self.embedder()));
        self.acquirer.swap(acquirer.map(Arc::new)).is_some() != there
    }

    /// Who looks for servers.
    pub(crate) fn acquirer(&self) -> Option<Arc<Acquirer>> {
        self.acquirer.load_full()
    }

    /// Asks this one what texts mean from here on, or nobody; `dressing` has the tools encoded.
    pub(crate) fn embed_by(&self, embedder: Option<Embedder>, dressing: Option<JoinHandle<()>>) {
        self.acquirer.load().iter().for_each(|acquirer| acquirer.embed_by(embedder.clone()));
        self.embedder.store(embedder.map(Arc::new));
        *self.dressing.lock().unwrap_or_else(PoisonError::into_inner) = dressing.map(Dressing);
        self.dressed.send_replace(Weak::new());
    }

    /// Who is asked what texts mean.
    pub(crate) fn embedder(&self) -> Option<Embedder> {
        self.embedder.load().as_deref().cloned()
    }

    /// The tools of `catalog` that answer `query` best, and what is to be said of the search. It is worked out aside: the
    /// first time takes as long as all of them do to be read.
    pub(crate) async fn search(
        &self,
        catalog: Arc<Catalog>,
        query: String,
        server: Option<String>,
        limit: usize,
    ) -> Result<(toolbay_retrieval::Found, Option<String>), ErrorObject> {
        let meaning = match self.embedder() {
            Some(embedder) => embedder.request(&query).await,
            None => Meaning::default(),
        };
        let picks = Arc::clone(&self.picks);
        let searching = task::spawn_blocking(move || {
            let wanted = Wanted { query: &query, meaning: &meaning, server: server.as_deref(), limit };
            (picks.search(&catalog, wanted), meaning.note)
        });
        searching.await.map_err(|error| ErrorObject::internal(format!("the search failed: {error}")))
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("exposure", &self.exposure.load()).finish_non_exhaustive()
    }
}
