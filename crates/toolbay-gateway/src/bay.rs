//! The bay: many servers, one service.

use std::{
    collections::HashMap,
    fmt,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use tokio::{sync::watch, task::JoinHandle, time};
use toolbay_protocol::{
    ErrorObject,
    exchange::Outcome,
    greeting::Profile,
    headers::HeaderPlan,
    watch::{Change, Filter},
};
use toolbay_transport::{Caller, Connection, Cx, Error, Hub, Kind, Request, Service, Watch};

use crate::{
    Identity,
    audit::{Event, Ledger},
    bridge::{Parking, Sealer},
    catalog::{Catalog, Found, Listed, Part, Report},
    policy::Permit,
    relay,
    servers::{Interest, Phase, Server, Spec, Status, Supervision},
};

/// How long a list waits for servers that are still starting (limit `settle`).
const SETTLE: Duration = Duration::from_secs(20);

/// Many servers as one service; cheap to clone.
#[derive(Clone)]
pub struct Bay(Arc<Inner>);

pub(crate) struct Inner {
    servers: HashMap<Arc<str>, Arc<Server>>,
    order: Vec<Arc<str>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    profile: Arc<Profile>,
    catalog: ArcSwap<Catalog>,
    clashes: Mutex<Vec<Report>>,
    hub: Hub,
    moved: watch::Sender<u64>,
    /// Whether it was decided of every server, once, how it does.
    all_settled: AtomicBool,
    pub(crate) ledger: Ledger,
    pub(crate) sealer: Sealer,
    pub(crate) parking: Parking,
}

impl Bay {
    /// Opens a bay: every server begins to start at once. Two servers of one name are an error of the configuration,
    /// which has caught it before.
    pub fn open(identity: &Identity, specs: Vec<Spec>) -> Result<Self, getrandom::Error> {
        let us = identity.client();
        let sealer = Sealer::random()?;
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
                profile: Arc::new(identity.server()),
                catalog: ArcSwap::default(),
                clashes: Mutex::default(),
                hub: Hub::new(),
                moved: watch::channel(0).0,
                all_settled: AtomicBool::new(false),
                ledger: Ledger::default(),
                sealer,
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
        self.0.once_there(|catalog| catalog.find(listed, public).cloned()).await
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

impl Inner {
    fn in_order(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.order.iter().filter_map(|name| self.servers.get(name))
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalog.load_full()
    }

    /// Waits, within bounds, until it is decided of every server how it does. Once that was so, it stays so.
    pub(crate) async fn settled(&self) {
        if self.all_settled.load(Ordering::Acquire) {
            return;
        }
        let all = async {
            for server in self.in_order() {
                server.settled().await;
            }
        };
        // Whoever is not ready by then is announced when it is.
        if time::timeout(SETTLE, all).await.is_ok() {
            self.all_settled.store(true, Ordering::Release);
        }
    }

    /// What `find` finds in the catalog; waits, within bounds, for servers that are still starting.
    pub(crate) async fn once_there<T>(&self, find: impl Fn(&Catalog) -> Option<T>) -> Option<T> {
        if let Some(found) = find(&self.catalog.load()) {
            return Some(found);
        }
        self.awaited(find).await
    }

    async fn awaited<T>(&self, find: impl Fn(&Catalog) -> Option<T>) -> Option<T> {
        if self.all_settled.load(Ordering::Acquire) {
            return find(&self.catalog());
        }
        let mut moves = self.moved.subscribe();
        let mut all = pin!(self.settled());
        loop {
            if let Some(found) = find(&self.catalog()) {
                return Some(found);
            }
            tokio::select! {
                () = &mut all => return find(&self.catalog()),
                // The sender lives in `self`.
                _ = moves.changed() => {}
            }
        }
    }

    /// The one way to a server, for whoever holds a permit.
    pub(crate) fn connection(&self, permit: &Permit) -> Option<Connection> {
        self.servers.get(permit.server()).and_then(|server| server.connection())
    }

    pub(crate) fn why_not(&self, server: &Arc<str>) -> String {
        match self.servers.get(server).map(|server| server.status().phase) {
            Some(Phase::Failed(why)) => why,
            Some(Phase::Connecting) => "it is still starting".into(),
            Some(Phase::Disabled) => "it is turned off".into(),
            Some(Phase::Ready { .. }) | None => "it was lost this moment".into(),
        }
    }

    /// Hears that a call failed: a server without a lasting link is lost when it can no longer be reached.
    pub(crate) fn suspect(&self, server: &Arc<str>, error: Error) {
        if error.kind() == Kind::Unreachable
            && let Some(server) = self.servers.get(server)
        {
            server.give_up(error);
        }
    }

    pub(crate) fn silence(&self, server: &Arc<str>) -> Duration {
        self.servers.get(server).map_or(Duration::from_secs(60), |server| server.spec.silence)
    }

    /// Makes the catalog anew and tells of the lists that changed.
    fn remerge(&self) {
        // Held to the end, so that a catalog never takes the place of one that was made after it.
        let mut left_out = self.clashes.lock().unwrap_or_else(PoisonError::into_inner);
        let parts: Vec<Arc<Part>> = self.in_order().filter_map(|server| server.part()).collect();
        let (catalog, clashes) = Catalog::of(parts.iter().map(|part| &**part));
        let old = self.catalog.swap(Arc::new(catalog));
        let new = self.catalog();
        *left_out = clashes;
        let mut changes = std::collections::BTreeSet::new();
        for (listed, change) in [
            (Listed::Tools, Change::Tools),
            (Listed::Prompts, Change::Prompts),
            (Listed::Resources, Change::Resources),
            (Listed::Templates, Change::Resources),
        ] {
            if !new.lists_alike(&old, listed) {
                changes.insert(change);
            }
        }
        for change in changes {
            self.hub.publish(&change);
        }
        self.moved.send_modify(|count| *count += 1);
    }

    /// What the servers offered that are lost and not back yet.
    pub(crate) fn lost(&self) -> Catalog {
        let parts: Vec<Arc<Part>> = self.in_order().filter_map(|server| server.lost()).collect();
        Catalog::of(parts.iter().map(|part| &**part)).0
    }

    /// Watches a resource at its server.
    async fn watch_resource(&self, uri: String) -> Result<(String, Arc<Interest>), ErrorObject> {
        let catalog = self.catalog();
        let server = catalog.server_of(&uri).and_then(|server| self.servers.get(server));
        let server = server.ok_or_else(|| ErrorObject::invalid_params(format!("no server offers {uri:?}")))?;
        let interest = server.want(&uri);
        match interest.answered(server.spec.silence).await {
            Ok(()) => Ok((uri, interest)),
            Err(error) => {
                let what = format!("server {:?} does not let {uri:?} be watched: {error}", server.spec.name);
                Err(ErrorObject::internal(what))
            }
        }
    }
}

/// Hears the servers for a bay that may be gone.
struct Ear(Weak<Inner>);

impl Supervision for Ear {
    fn moved(&self, _: &Arc<str>) {
        if let Some(bay) = self.0.upgrade() {
            bay.remerge();
        }
    }

    fn updated(&self, uri: String) {
        if let Some(bay) = self.0.upgrade() {
            bay.hub.publish(&Change::Updated(uri));
        }
    }
}

impl Service for Bay {
    fn profile(&self) -> Arc<Profile> {
        Arc::clone(&self.0.profile)
    }

    fn call(&self, request: Request, cx: Cx) -> impl Future<Output = Outcome> + Send {
        let bay = Arc::clone(&self.0);
        async move { relay::call(&bay, request, cx).await }
    }

    fn header_plan(&self, _: &Arc<Caller>, tool: &str) -> Option<Arc<HeaderPlan>> {
        self.0.catalog().header_plan(tool).cloned()
    }

    async fn watch(&self, _: &Arc<Caller>, mut filter: Filter) -> Result<Watch, ErrorObject> {
        let uris = std::mem::take(&mut filter.uris);
        let (mut kept, mut refused) = (vec![], None);
        for watched in join_all(uris.into_iter().map(|uri| self.0.watch_resource(uri))).await {
            match watched {
                Ok((uri, interest)) => {
                    filter.uris.insert(uri);
                    kept.push(interest);
                }
                Err(error) => refused = Some(error),
            }
        }
        // spec: basic/patterns/subscriptions, what is honoured may be less than what was asked for
        match refused {
            Some(error) if filter.is_empty() => Err(error),
            Some(_) | None => Ok(self.0.hub.watch(filter).keeping(kept)),
        }
    }
}
