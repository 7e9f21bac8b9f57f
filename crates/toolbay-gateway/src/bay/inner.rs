//! What a bay is made of: its servers, their catalog, and who listens.

use std::{
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use tokio::{sync::watch, task::JoinHandle, time};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{
    ErrorObject, Feature, Raw,
    exchange::{Level, Note},
    greeting::{Meeting, Profile},
    watch::Change,
};
use toolbay_transport::{Caller, Error, Hub, Kind};

use super::{
    offers::{self, Strangers},
    roster::Roster,
    views::Views,
};
use crate::{
    audit::Ledger,
    bridge::{Errands, Kept, Parking, Sealer},
    callers::{Declared, Sessions},
    catalog::{Catalog, Listed, Part, Report},
    config::Isolation,
    limits::Limits,
    meta::Desk,
    policy::{self, Permit, Wanted},
    servers::{Circuit, Interest, NoSeat, Phase, Seat, Server, Status, Whom, Yard},
    telemetry::Telemetry,
};

pub(crate) struct Inner {
    pub(super) roster: ArcSwap<Roster>,
    /// Whether any server of the roster tells devices apart; asked with each request.
    pub(super) devices: AtomicBool,
    /// What a server that is added is given.
    pub(super) yard: Yard,
    /// What of the limits is kept to here.
    pub(super) limits: ArcSwap<Limits>,
    /// Told to those that come to their end by and by: they end now.
    pub(super) closing: CancellationToken,
    pub(super) tasks: Mutex<Vec<JoinHandle<()>>>,
    pub(super) views: Views,
    /// How it introduces itself at the moment, and where no server offers more.
    pub(super) profile: ArcSwap<Profile>,
    pub(super) plain: Profile,
    pub(super) catalog: ArcSwap<Catalog>,
    pub(super) clashes: Mutex<Vec<Report>>,
    pub(crate) hub: Hub,
    pub(super) moved: watch::Sender<u64>,
    pub(crate) sessions: Sessions,
    pub(crate) declared: Declared,
    /// Whether it was decided of every server, once, how it does.
    pub(super) all_settled: AtomicBool,
    pub(super) version: String,
    pub(crate) ledger: Ledger,
    /// Whoever else is told of requests.
    pub(crate) telemetry: Option<Telemetry>,
    pub(crate) sealer: Sealer,
    pub(crate) parking: Parking,
    /// Tasks that run in another revision than their caller's.
    pub(crate) kept: Kept,
    pub(crate) errands: Errands,
    /// What our own tools work with.
    pub(crate) desk: Desk,
}

/// A server, and for whom it is to be listed.
type Unlisted = (Arc<Server>, Whom);

impl Inner {
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalog.load_full()
    }

    /// Waits, within bounds, until it is decided of every server how it does. Once that was so, it stays so.
    pub(crate) async fn settled(&self) {
        if self.is_settled() {
            return;
        }
        let all = async {
            self.in_order().for_each(|server| server.wanted());
            for server in self.in_order() {
                server.settled().await;
            }
        };
        // Whoever is not ready by then is announced when it is.
        if time::timeout(self.limits.load().settle, all).await.is_ok() {
            self.all_settled.store(true, Ordering::Release);
        }
    }

    /// Whether it is decided of every server how it does, and known what it offers to `caller`.
    pub(crate) fn is_settled_for(&self, caller: &Caller) -> bool {
        self.is_settled() && self.unlisted_for(caller).next().is_none()
    }

    fn unlisted_for<'c>(&self, caller: &'c Caller) -> impl Iterator<Item = Unlisted> + use<'_, 'c> {
        let declares = caller.introduction.capabilities != Raw::EMPTY;
        let servers = declares.then(|| self.in_order()).into_iter().flatten();
        servers.filter_map(|server| server.unlisted_for(caller, &self.declared).map(|whom| (server, whom)))
    }

    /// Waits, within bounds, until that is so.
    pub(crate) async fn settled_for(&self, caller: &Caller) {
        self.settled().await;
        let unlisted: Vec<_> = self.unlisted_for(caller).collect();
        if !unlisted.is_empty() {
            let all = join_all(unlisted.iter().map(|(server, whom)| server.list_for(whom.clone())));
            if time::timeout(self.limits.load().settle, all).await.is_err() {
                // What is known later is announced then.
                unlisted.into_iter().for_each(|(server, whom)| server.waited_for(whom));
            }
        }
    }

    /// What `caller` is offered at this moment.
    pub(crate) fn catalog_for(&self, caller: &Caller) -> Arc<Catalog> {
        if self.views.are_one() {
            return self.catalog();
        }
        self.views.of(caller, || {
            let parts: Vec<_> = self.in_order().filter_map(|server| server.part_for(caller, &self.declared)).collect();
            Catalog::of(parts.iter().map(|part| &**part)).0
        })
    }

    /// Whether it was decided of every server, once, how it does.
    pub(crate) fn is_settled(&self) -> bool {
        self.all_settled.load(Ordering::Acquire)
    }

    /// What `find` finds among what `caller` is offered at this moment.
    pub(crate) fn at_once<T>(&self, caller: &Caller, find: impl Fn(&Catalog) -> Option<T>) -> Option<T> {
        match self.views.are_one() {
            true => find(&self.catalog.load()),
            false => find(&self.catalog_for(caller)),
        }
    }

    /// The same; waits, within bounds, for servers that are still starting.
    pub(crate) async fn once_there<T>(&self, caller: &Caller, find: impl Fn(&Catalog) -> Option<T>) -> Option<T> {
        let found = self.at_once(caller, &find);
        if found.is_some() || self.all_settled.load(Ordering::Acquire) {
            return found;
        }
        self.awaited(|| self.at_once(caller, &find)).await
    }

    /// What is found; waits, within bounds, for servers that are still starting.
    pub(super) async fn awaited<T>(&self, find: impl Fn() -> Option<T>) -> Option<T> {
        if self.all_settled.load(Ordering::Acquire) {
            return find();
        }
        let mut moves = self.moved.subscribe();
        let mut all = pin!(self.settled());
        loop {
            if let Some(found) = find() {
                return Some(found);
            }
            tokio::select! {
                () = &mut all => return find(),
                // The sender lives in `self`.
                _ = moves.changed() => {}
            }
        }
    }

    /// The one way to a server, for whoever holds a permit.
    pub(crate) async fn seat(
        &self,
        permit: &Permit,
        server: &Arc<Server>,
        caller: &Caller,
    ) -> Result<Seat, ErrorObject> {
        let name = &server.spec.name;
        let seat = match permit.opens(name) && !server.is_off() {
            true => match server.seat_at_once(caller, &self.declared) {
                Some(seat) => Ok(seat),
                None => Box::pin(server.seat(caller, &self.declared)).await,
            },
            false => Err(NoSeat::Away),
        };
        seat.map_err(|why| match why {
            NoSeat::Away => self.not_connected(name),
            NoSeat::Failed(error) => {
                let what = format!("server {name:?} could not be connected for this caller: {error}; try again later");
                ErrorObject::internal(what)
            }
            NoSeat::Devices(most) => ErrorObject::internal(format!(
                "{most} devices of this user are in use at server {name:?} (limit `devicesPerUser`); let one of them end, \
                 or try again later"
            )),
            NoSeat::Full(most) => ErrorObject::internal(format!(
                "server {name:?} has {most} connections in use beside its first (limit `connections`); try again later"
            )),
        })
    }

    pub(crate) fn not_connected(&self, server: &Arc<str>) -> ErrorObject {
        if let Some(off) = self.server(server).filter(|server| server.is_off()) {
            let remedy = match off.is_entry() {
                true => format!("`toolbay tool enable {server}` turns it on"),
                false => "the configuration turns it on".into(),
            };
            return ErrorObject::invalid_params(format!("{server:?} is disabled; {remedy}"));
        }
        ErrorObject::internal(format!("server {server:?} is not connected: {}; try again later", self.why_not(server)))
    }

    fn why_not(&self, server: &Arc<str>) -> String {
        let status = self.server(server).map(|server| server.status());
        if let Some(Status { phase: Phase::Failed(why), circuit: circuit @ Circuit::Open { failures, .. }, .. }) =
            &status
        {
            let left = circuit.left().unwrap_or_default().as_secs();
            return format!(
                "{why}; its circuit is open after {failures} failures in a row (limits `circuitFailures`, \
                 `circuitPause`), it is tried again in {left} s"
            );
        }
        match status.map(|status| status.phase) {
            Some(Phase::Failed(why)) => why,
            Some(Phase::Resting { .. }) => "it rested, and is started now".into(),
            Some(Phase::Connecting) => "it is still starting".into(),
            Some(Phase::Disabled) => "it is turned off".into(),
            Some(Phase::Ready { .. }) | None => "it was lost this moment".into(),
        }
    }

    /// Hears that a call failed: a server without a lasting link is lost when it can no longer be reached.
    pub(crate) fn suspect(seat: &Seat, error: &Error) {
        if error.kind() == Kind::Unreachable {
            seat.leg.give_up(error.clone());
        }
    }

    /// Makes the catalog anew and tells of the lists that changed.
    pub(super) fn remerge(&self) {
        // Held to the end, so that a catalog never takes the place of one that was made after it.
        let mut left_out = self.clashes.lock().unwrap_or_else(PoisonError::into_inner);
        let offered = |server: Arc<Server>| server.part().map(|part| (server, part));
        let offers: Vec<(Arc<Server>, Arc<Part>)> = self.in_order().filter_map(offered).collect();
        let (catalog, clashes) = Catalog::of(offers.iter().map(|(_, part)| &**part));
        let old = self.catalog.swap(Arc::new(catalog));
        let new = self.catalog();
        *left_out = clashes;
        // By what the catalog was made of: a server may have listed more in this very moment.
        self.views.renew(offers.iter().any(|(server, part)| server.differs_from(part)));
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
        self.reintroduce();
        self.moved.send_modify(|count| *count += 1);
    }

    /// Promises what some server can: tasks, and the extensions that we carry.
    fn reintroduce(&self) {
        let meetings: Vec<_> = self.in_order().filter_map(|server| server.last_meeting()).collect();
        let strangers = self.in_order().any(|server| server.is_stranger());
        let strangers = if strangers { Strangers::Some } else { Strangers::None };
        let profile = offers::joined(&self.plain, &meetings, strangers);
        if *self.profile.load_full() != profile {
            self.profile.store(Arc::new(profile));
        }
    }

    /// The servers that list the tasks of one user.
    pub(crate) fn listing_tasks(&self) -> Vec<Arc<str>> {
        let lists = |server: &Arc<Server>| {
            let lists = |meeting: Meeting| {
                meeting.revision.has(Feature::CoreTasks) && meeting.profile.declares(&["tasks", "list"])
            };
            server.spec.isolation != Isolation::Shared && server.meeting().is_some_and(lists)
        };
        self.in_order().filter(lists).map(|server| Arc::clone(&server.spec.name)).collect()
    }

    /// What the servers offered that are lost and not back yet.
    pub(crate) fn lost(&self) -> Catalog {
        let parts: Vec<Arc<Part>> = self.in_order().filter_map(|server| server.lost()).collect();
        Catalog::of(parts.iter().map(|part| &**part)).0
    }

    /// A session wants lines of log from a level on: so do the servers' connections that it shares.
    pub(crate) async fn set_level(&self, caller: &Caller, level: Level) {
        self.sessions.set_level(caller, level);
        let mut setting = vec![];
        for server in self.in_order() {
            for (leg, connection) in server.legs() {
                let legacy = connection.meeting().revision.has(Feature::Handshake);
                if !legacy || !server.is_leg_of(&leg, caller, &self.declared) {
                    continue;
                }
                let sharing = |caller: &Caller| server.is_leg_of(&leg, caller, &self.declared);
                if let Some(level) = self.sessions.most_verbose(sharing) {
                    setting.push(async move { leg.set_level(&connection, level).await });
                }
            }
        }
        join_all(setting).await;
    }

    /// A session's roots changed: the servers are told that know them.
    pub(super) async fn roots_changed(&self, caller: &Caller, note: &Note) {
        for server in self.in_order() {
            for (leg, connection) in server.legs() {
                let told = leg.told.as_ref().is_some_and(|told| told.declares(&["roots", "listChanged"]));
                if told && server.is_leg_of(&leg, caller, &self.declared) {
                    // A connection that is gone has nobody to be told.
                    let _ = connection.tell(note.clone()).await;
                }
            }
        }
    }

    /// A session ended.
    pub(super) fn left(&self, caller: &Caller) {
        self.in_order().for_each(|server| server.left(caller));
    }

    /// Watches a resource at its server, on the connection over which its caller's requests go.
    pub(super) async fn watch_resource(
        &self,
        caller: &Caller,
        uri: String,
    ) -> Result<(String, Arc<Interest>), ErrorObject> {
        let catalog = self.catalog_for(caller);
        if let Some(lost) = self.reader_lost(&catalog, &uri) {
            return Err(self.not_connected(&lost));
        }
        let server = catalog.server_of(&uri).and_then(|server| self.server(server));
        let server = server.ok_or_else(|| ErrorObject::invalid_params(format!("no server offers {uri:?}")))?;
        let permit = policy::decide(&Wanted { caller, server: &server.spec.name })?;
        let interest = self.seat(&permit, &server, caller).await?.leg.want(&uri);
        match interest.answered(server.silence()).await {
            Ok(()) => Ok((uri, interest)),
            Err(error) => {
                let what = format!("server {:?} does not let {uri:?} be watched: {error}", server.spec.name);
                Err(ErrorObject::internal(what))
            }
        }
    }
}

/// Whoever lets go of a bay without closing it leaves nothing running.
impl Drop for Inner {
    fn drop(&mut self) {
        self.closing.cancel();
        self.in_order().for_each(|server| server.stop());
    }
}
