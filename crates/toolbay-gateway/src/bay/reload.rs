//! Another configuration for a bay that serves: what is as it was goes on, with its connections and calls in flight; what
//! changed is restarted alone; what is gone ends when its calls have.

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Duration,
};

use tokio::time;
use tokio_util::sync::CancellationToken;

use super::{
    inner::{Inner, Roster},
    open::Bay,
};
use crate::{
    config::{self, Field},
    limits::{Effect, Limits, ROWS, Scope},
    servers::{Plan, Server, Spec},
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
        let bay = &self.0;
        // One at a time.
        let mut tasks = bay.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        let mut changes: Vec<_> = bay.limit(limits).into_iter().collect();
        let before = bay.roster.load_full();
        let (mut order, mut retired, mut started) = (vec![], vec![], false);
        for spec in specs {
            let (name, old) = (spec.name.to_string(), before.by_name.get(&spec.name));
            let (what, fields) = old.map_or((Some(What::Added), vec![]), |old| judged(old, &spec));
            match (old, &what) {
                (Some(old), None | Some(What::Kept(_) | What::Removed)) => order.push(Arc::clone(old)),
                (Some(old), Some(What::Adjusted)) => {
                    old.adjust(&spec);
                    order.push(Arc::clone(old));
                }
                (old, Some(What::Added | What::Restarted) | None) | (old @ None, Some(_)) => {
                    let (server, task) = Server::start(spec, &bay.yard, old.map(|old| &**old));
                    order.push(server);
                    tasks.extend(task);
                    retired.extend(old.map(Arc::clone));
                    started = true;
                }
            }
            changes.extend(what.map(|what| Change { server: Some(name), what, fields }));
        }
        let kept: HashSet<_> = order.iter().map(|server| Arc::clone(&server.spec.name)).collect();
        for gone in before.order.iter().filter(|server| !kept.contains(&server.spec.name)) {
            let server = Some(gone.spec.name.to_string());
            changes.push(Change { server, what: What::Removed, fields: vec![] });
            retired.push(Arc::clone(gone));
        }
        bay.roster.store(Arc::new(Roster::of(order)));
        if started {
            bay.all_settled.store(false, Ordering::Release);
        }
        let drain = bay.limits.load().drain;
        tasks.extend(retired.into_iter().map(|server| tokio::spawn(retire(server, drain, bay.closing.clone()))));
        drop(tasks);
        bay.remerge();
        changes
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
