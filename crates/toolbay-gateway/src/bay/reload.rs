//! Another configuration for a bay that serves: what is as it was goes on, with its connections and calls in flight; what
//! changed is restarted alone; what is gone ends when its calls have.

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Duration,
};

use tokio::{task::JoinHandle, time};
use tokio_util::sync::CancellationToken;

use super::{inner::Inner, open::Bay, roster::Roster};
use crate::{
    config::{self, Field},
    limits::{Effect, Limits, ROWS, Scope},
    servers::{Plan, Server, Spec, Yard},
};

/// How often it is asked whether the last call of a server has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Something that another configuration changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The server; none where the gateway as a whole is meant.
    pub server: Option<String>,
    /// What became of it.
    pub what: What,
    /// The fields that are not what they were.
    pub fields: Vec<Field>,
}

/// What became of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It is new, and started.
    Added,
    /// It is gone; it ends when its calls in flight have.
    Removed,
    /// It was changed, and is started anew; calls in flight end where they began.
    Restarted,
    /// It was changed, and goes on.
    Adjusted,
    /// It goes on as it was: as it stands in the file it cannot be started; why.
    Kept(String),
}

impl Bay {
    /// Takes on another configuration; what it changed, in the order of the configuration. Nothing is waited for.
    pub fn reload(&self, specs: Vec<Spec>, limits: Limits) -> Vec<Change> {
        self.0.take_on(|taking| {
            taking.changes.extend(self.0.limit(limits));
            specs.into_iter().for_each(|spec| taking.take(spec));
        })
    }

    /// Takes on other entries of the registry; the servers go on as they are. Nothing is waited for.
    pub fn reload_tools(&self, specs: Vec<Spec>) -> Vec<Change> {
        self.0.take_on(|taking| {
            let servers = taking.before.order.iter().filter(|server| !server.is_entry());
            taking.order.extend(servers.map(Arc::clone));
            specs.into_iter().for_each(|spec| taking.take_entry(spec));
        })
    }

    /// What is said of an entry of the registry, for whoever searches among them.
    pub fn entry(&self, server: &str) -> Option<config::Tool> {
        self.0.server(server)?.written()?.tool.clone()
    }
}

impl Inner {
    fn take_on(&self, take: impl FnOnce(&mut Taking<'_>)) -> Vec<Change> {
        let bay = self;
        // One at a time; and none once the bay comes to its end.
        let mut tasks = bay.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if bay.closing.is_cancelled() {
            return vec![];
        }
        tasks.retain(|task| !task.is_finished());
        let mut taking = Taking::of(bay);
        take(&mut taking);
        taking.leave_out();
        let Taking { changes, order, retired, started, .. } = taking;
        let roster = Roster::of(order);
        bay.devices.store(roster.devices, Ordering::Release);
        bay.roster.store(Arc::new(roster));
        if !started.is_empty() {
            bay.all_settled.store(false, Ordering::Release);
        }
        tasks.extend(started);
        let drain = bay.limits.load().drain;
        tasks.extend(retired.into_iter().map(|server| tokio::spawn(retire(server, drain, bay.closing.clone()))));
        drop(tasks);
        bay.remerge();
        changes
    }
}

/// One configuration on its way to take another's place.
struct Taking<'b> {
    yard: &'b Yard,
    before: Arc<Roster>,
    changes: Vec<Change>,
    order: Vec<Arc<Server>>,
    retired: Vec<Arc<Server>>,
    started: Vec<JoinHandle<()>>,
}

impl<'b> Taking<'b> {
    fn of(bay: &'b Inner) -> Self {
        let before = bay.roster.load_full();
        Self { yard: &bay.yard, before, changes: vec![], order: vec![], retired: vec![], started: vec![] }
    }

    /// Takes one server.
    fn take(&mut self, spec: Spec) {
        let Some(old) = self.before.by_name.get(&spec.name).map(Arc::clone) else {
            self.changed(&spec.name, What::Added, vec![]);
            return self.start(spec, None);
        };
        let (what, fields) = judged(&old, &spec);
        match &what {
            Some(What::Restarted) => {
                self.start(spec, Some(&old));
                self.retired.push(Arc::clone(&old));
            }
            Some(What::Adjusted) => {
                old.adjust(&spec);
                self.order.push(Arc::clone(&old));
            }
            None | Some(What::Kept(_) | What::Added | What::Removed) => self.order.push(Arc::clone(&old)),
        }
        if let Some(what) = what {
            self.changed(&old.spec.name, what, fields);
        }
    }

    /// Takes one entry of the registry, unless a server has its name.
    fn take_entry(&mut self, spec: Spec) {
        match self.before.by_name.get(&spec.name) {
            Some(server) if !server.is_entry() => {
                let why = "a server of this name runs; rename one of them, or reload the configuration".into();
                self.changed(&spec.name, What::Kept(why), vec![]);
            }
            Some(_) | None => self.take(spec),
        }
    }

    fn start(&mut self, spec: Spec, before: Option<&Server>) {
        let (server, task) = Server::start(spec, self.yard, before);
        self.order.push(server);
        self.started.extend(task);
    }

    /// Lets go of all that were not taken.
    fn leave_out(&mut self) {
        let kept: HashSet<_> = self.order.iter().map(|server| Arc::clone(&server.spec.name)).collect();
        for gone in self.before.order.clone().into_iter().filter(|server| !kept.contains(&server.spec.name)) {
            self.changed(&gone.spec.name, What::Removed, vec![]);
            self.retired.push(gone);
        }
    }

    fn changed(&mut self, server: &str, what: What, fields: Vec<Field>) {
        self.changes.push(Change { server: Some(server.to_owned()), what, fields });
    }
}

/// What is to become of a server; nothing where it is as it was.
fn judged(old: &Server, spec: &Spec) -> (Option<What>, Vec<Field>) {
    let fields = match (old.written(), &spec.written) {
        (Some(before), Some(after)) => config::fields(&before, after),
        // Servers of our own.
        (None, None) => vec![],
        (Some(_), None) | (None, Some(_)) => vec![Field { key: "type", effect: Effect::Restart }],
    };
    let what = match &spec.plan {
        _ if fields.is_empty() => None,
        Plan::Broken(why) if !matches!(old.spec.plan, Plan::Broken(_)) => Some(What::Kept(why.clone())),
        Plan::Broken(_) | Plan::Connect(_) | Plan::Disabled => {
            let live = fields.iter().all(|field| field.effect == Effect::Live);
            Some(if live { What::Adjusted } else { What::Restarted })
        }
    };
    (what, fields)
}

impl Inner {
    /// Keeps to other limits from here on, as far as they can be changed.
    fn limit(&self, limits: Limits) -> Option<Change> {
        let mut now = **self.limits.load();
        let fields = config::changed_limits(&now, &limits, Scope::Gateway);
        for row in ROWS.iter().filter(|row| row.scope == Scope::Gateway && row.effect == Effect::Live) {
            // It was let in once already.
            let _ = row.set(&mut now, row.value(&limits));
        }
        self.limits.store(Arc::new(now));
        self.parking.allow(now.parked_calls);
        self.kept.allow(now.tasks, now.task_bytes);
        self.yard.children.allow(now.children);
        (!fields.is_empty()).then_some(Change { server: None, what: What::Adjusted, fields })
    }
}

/// Ends a server once its calls have ended, or their time is over.
async fn retire(server: Arc<Server>, drain: Duration, closing: CancellationToken) {
    let idle = async {
        while server.is_busy() {
            time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        () = closing.cancelled() => {}
        // Those that go on for longer fail with the connection, and are told so.
        _ = time::timeout(drain, idle) => {}
    }
    server.stop();
}
