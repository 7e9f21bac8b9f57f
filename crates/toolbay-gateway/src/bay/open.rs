//! The bay as its owner sees it: open, look, close.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak, atomic::AtomicBool},
};

use arc_swap::ArcSwap;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolbay_transport::{Caller, Hub};

use super::{hearing::Ear, inner::Inner, roster::Roster, views::Views};
use crate::{
    Identity,
    audit::{Event, Ledger},
    bridge::{Errands, Kept, Parking, Sealer, StateKey},
    callers::{Declared, Sessions},
    catalog::{Catalog, Found, Listed, Report},
    limits::{Children, Limits},
    meta::Desk,
    metrics::{self, Counted, Everything, Readiness},
    servers::{Lines, Server, Spec, Status, Supervision, Yard},
    telemetry::Telemetry,
};

/// Many servers as one service; cheap to clone.
#[derive(Clone)]
pub struct Bay(pub(crate) Arc<Inner>);

impl Bay {
    /// Opens a bay: every server begins to start at once that does not wait to be needed. Two servers of one name are an error of the configuration,
    /// which has caught it before.
    pub fn open(identity: &Identity, specs: Vec<Spec>) -> Result<Self, getrandom::Error> {
        Self::open_sealed(identity, specs, &StateKey::random()?)
    }

    /// The same with a key that other replicas have too: what one of them gives a caller to carry, each opens.
    pub fn open_sealed(identity: &Identity, specs: Vec<Spec>, key: &StateKey) -> Result<Self, getrandom::Error> {
        Self::open_within(identity, specs, key, Limits::default())
    }

    /// The same within these limits; those of the servers are their own.
    pub fn open_within(
        identity: &Identity,
        specs: Vec<Spec>,
        key: &StateKey,
        limits: Limits,
    ) -> Result<Self, getrandom::Error> {
        Self::open_observed(identity, specs, key, limits, None)
    }

    /// The same, and what happens is told to a collector.
    pub fn open_observed(
        identity: &Identity,
        specs: Vec<Spec>,
        key: &StateKey,
        limits: Limits,
        telemetry: Option<&Telemetry>,
    ) -> Result<Self, getrandom::Error> {
        let sealer = Sealer::new(key)?;
        let bay = Arc::new_cyclic(|weak: &Weak<Inner>| {
            let supervision: Arc<dyn Supervision> = Arc::new(Ear(weak.clone()));
            let yard = Yard { us: identity.client(), supervision, children: Children::at_most(limits.children) };
            let (servers, tasks): (_, Vec<_>) = specs.into_iter().map(|spec| Server::start(spec, &yard, None)).unzip();
            let tasks = tasks.into_iter().flatten().collect();
            let roster = Roster::of(servers);
            Inner {
                devices: AtomicBool::new(roster.devices),
                roster: ArcSwap::from_pointee(roster),
                yard,
                limits: ArcSwap::from_pointee(limits),
                closing: CancellationToken::new(),
                tasks: Mutex::new(tasks),
                version: identity.version.clone(),
                profile: ArcSwap::from_pointee(identity.server()),
                plain: identity.server(),
                catalog: ArcSwap::default(),
                clashes: Mutex::default(),
                hub: Hub::new(),
                moved: watch::channel(0).0,
                all_settled: AtomicBool::new(false),
                ledger: Ledger::default(),
                telemetry: telemetry.cloned(),
                sealer,
                views: Views::default(),
                sessions: Sessions::default(),
                declared: Declared::default(),
                parking: Parking::holding(limits.parked_calls),
                kept: Kept::holding(limits.tasks, limits.task_bytes),
                errands: Errands::default(),
                desk: Desk::default(),
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

    /// Waits until it is decided of every server how it does; those that wait to be needed are.
    pub async fn settled(&self) {
        self.0.in_order().for_each(|server| server.wanted());
        for server in self.0.in_order() {
            server.settled().await;
        }
    }

    /// Everything on offer at this moment.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.0.catalog()
    }

    /// Everything that this caller is offered, which may be more, or less, than what everybody is: a server may list other
    /// things on a connection of the caller's own. That is waited for, within bounds. What changes is told to whoever
    /// [listens](Self::moves).
    pub async fn catalog_for(&self, caller: &Caller) -> Arc<Catalog> {
        self.0.settled_for(caller).await;
        self.0.catalog_for(caller)
    }

    /// Where a public name leads; waits for servers that are still starting only for as long as it is not there.
    pub async fn offered(&self, listed: Listed, public: &str) -> Option<Found> {
        self.0.awaited(|| self.0.catalog().find(listed, public).cloned()).await
    }

    /// What was left out, and what else is worth knowing.
    pub fn reports(&self) -> Vec<Report> {
        let mut reports: Vec<_> = self.0.in_order().flat_map(|server| server.reports()).collect();
        reports.extend(self.0.clashes.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
        reports
    }

    /// The last lines that a server wrote to its stderr and log.
    pub fn lines(&self, server: &str) -> Option<Vec<String>> {
        self.0.server(server).map(|server| server.lines())
    }

    /// Those of the lines that are kept which were written after so many.
    pub fn lines_after(&self, server: &str, after: u64) -> Option<Lines> {
        self.0.server(server).map(|server| server.lines_after(after))
    }

    /// Whether it is decided of every server how it does.
    pub fn readiness(&self) -> Readiness {
        Readiness::of(&self.status())
    }

    /// All that is counted, as Prometheus reads it.
    pub fn metrics(&self) -> String {
        metrics::write(&self.everything())
    }

    pub(crate) fn everything(&self) -> Everything {
        Everything {
            servers: self.status(),
            all: self.0.ledger.counted(),
            sessions: self.sessions(),
            parked: self.parked_calls(),
            version: self.0.version.clone(),
            spans: self.0.telemetry.as_ref().map(Telemetry::told),
        }
    }

    /// How many sessions of clients are open.
    pub fn sessions(&self) -> usize {
        self.0.sessions.count()
    }

    /// How many calls wait for callers that left with a question.
    pub fn parked_calls(&self) -> usize {
        self.0.parking.count()
    }

    /// How many requests there were, and how they ended.
    pub fn counted(&self) -> Counted {
        self.0.ledger.counted()
    }

    /// The last calls, oldest first.
    pub fn recent_calls(&self) -> Vec<Event> {
        self.0.ledger.recent()
    }

    /// Ends every server in order and waits until all are gone.
    pub async fn close(&self) {
        self.0.hub.end();
        self.0.kept.clear();
        self.0.errands.end();
        self.0.closing.cancel();
        self.embed_by(None);
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
        f.debug_struct("Bay").field("servers", &self.0.in_order().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}
