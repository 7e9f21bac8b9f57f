//! The bay as its owner sees it: open, look, close.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak, atomic::AtomicBool},
};

use arc_swap::ArcSwap;
use tokio::sync::watch;
use toolbay_transport::Hub;

use super::{hearing::Ear, inner::Inner, views::Views};
use crate::{
    Identity,
    audit::{Event, Ledger},
    bridge::{Parking, Sealer, StateKey},
    callers::{Declared, Sessions},
    catalog::{Catalog, Found, Listed, Report},
    servers::{Server, Spec, Status, Supervision},
};

/// Many servers as one service; cheap to clone.
#[derive(Clone)]
pub struct Bay(pub(super) Arc<Inner>);

impl Bay {
    /// Opens a bay: every server begins to start at once. Two servers of one name are an error of the configuration,
    /// which has caught it before.
    pub fn open(identity: &Identity, specs: Vec<Spec>) -> Result<Self, getrandom::Error> {
        Self::open_sealed(identity, specs, &StateKey::random()?)
    }

    /// The same with a key that other replicas have too: what one of them gives a caller to carry, each opens.
    pub fn open_sealed(identity: &Identity, specs: Vec<Spec>, key: &StateKey) -> Result<Self, getrandom::Error> {
        let us = identity.client();
        let sealer = Sealer::new(key)?;
        let bay = Arc::new_cyclic(|weak: &Weak<Inner>| {
            let ear: Arc<dyn Supervision> = Arc::new(Ear(weak.clone()));
            let order: Vec<_> = specs.iter().map(|spec| Arc::clone(&spec.name)).collect();
            let (mut servers, mut tasks) = (HashMap::new(), vec![]);
            for spec in specs {
                let (server, task) = Server::start(spec, us.clone(), Arc::clone(&ear));
                servers.insert(Arc::clone(&server.spec.name), server);
                tasks.extend(task);
            }
            Inner {
                servers,
                order,
                tasks: Mutex::new(tasks),
                profile: ArcSwap::from_pointee(identity.server()),
                plain: identity.server(),
                catalog: ArcSwap::default(),
                clashes: Mutex::default(),
                hub: Hub::new(),
                moved: watch::channel(0).0,
                all_settled: AtomicBool::new(false),
                ledger: Ledger::default(),
                sealer,
                views: Views::default(),
                sessions: Sessions::default(),
                declared: Declared::default(),
                parking: Parking::default(),
            }
        });
        bay.remerge();
        Ok(Self(bay))
    }

    /// Every server and where it stands, in the order of the configuration.
    pub fn status(&self) -> Vec<Status> {
        self.0.in_order().map(|server| server.status()).collect()
    }

    /// Waits for the next move of any server.
    pub fn moves(&self) -> watch::Receiver<u64> {
        self.0.moved.subscribe()
    }

    /// Waits until it is decided of every server how it does.
    pub async fn settled(&self) {
        for server in self.0.in_order() {
            server.settled().await;
        }
    }

    /// Everything on offer at this moment.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.0.catalog()
    }

    /// Where a public name leads; waits for servers that are still starting only for as long as it is not there.
    pub async fn offered(&self, listed: Listed, public: &str) -> Option<Found> {
        self.0.awaited(|catalog| catalog.find(listed, public).cloned()).await
    }

    /// What was left out, and what else is worth knowing.
    pub fn reports(&self) -> Vec<Report> {
        let mut reports: Vec<_> = self.0.in_order().flat_map(|server| server.reports()).collect();
        reports.extend(self.0.clashes.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
        reports
    }

    /// The last lines that a server wrote to its stderr and log.
    pub fn lines(&self, server: &str) -> Option<Vec<String>> {
        self.0.servers.get(server).map(|server| server.lines())
    }

    /// The last calls, oldest first.
    pub fn recent_calls(&self) -> Vec<Event> {
        self.0.ledger.recent()
    }

    /// Ends every server in order and waits until all are gone.
    pub async fn close(&self) {
        self.0.hub.end();
        for server in self.0.in_order() {
            server.stop();
        }
        let tasks: Vec<_> = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        for task in tasks {
            // A task that panicked has nothing left to close.
            let _ = task.await;
        }
    }
}

impl fmt::Debug for Bay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bay").field("servers", &self.0.order).finish_non_exhaustive()
    }
}
