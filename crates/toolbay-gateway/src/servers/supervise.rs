//! One task per server: connect, list, serve, bring back.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use tokio::{
    task::{JoinHandle, JoinSet},
    time::{self, MissedTickBehavior},
};
use toolbay_protocol::{
    exchange::{Level, Note},
    watch::{Change, Filter},
};
use toolbay_transport::{Connection, Error, Kind, Subscription};

use super::{
    circuit::{Breaker, Circuit},
    ear::Ear,
    interest::Subscriptions,
    leg::{Leg, Link},
    list::{self, Allowed},
    processes::Process,
    server::Server,
    spec::{self, Connector},
    state::{Counts, Phase},
    tend::Reopening,
};
use crate::{
    catalog::{Part, Report},
    sessions,
};

/// How long after a list the same is listed again at the earliest: some servers announce a change at each listing.
pub(super) const BETWEEN_LISTS: Duration = Duration::from_millis(250);

/// What the bay hears of its servers.
pub(crate) trait Supervision: Send + Sync + 'static {
    /// A server's phase, or what it offers, changed.
    fn moved(&self, server: &Arc<str>);
    /// A list changed for some of those who see it.
    fn changed(&self, change: &Change);
    /// A resource of a server changed.
    fn updated(&self, uri: String);
    /// A server said something on a connection that belongs to no call.
    fn said(&self, server: &Server, leg: &Arc<Leg>, note: Note);
    /// From which level on those whom a connection serves want lines of log, if any of them said so.
    fn level(&self, server: &Server, leg: &Arc<Leg>) -> Option<Level>;
    /// How long calls in flight of what is let go of may go on (limit `drain`).
    fn drain(&self) -> Duration;
}

/// Looks after a server until it is stopped.
pub(super) fn look_after(server: Arc<Server>, connector: Connector) -> JoinHandle<()> {
    tokio::spawn(async move {
        let keeper = Keeper { server: Arc::clone(&server), connector };
        let mut ends = JoinSet::new();
        tokio::select! {
            () = keeper.run() => {}
            () = sessions::keep(&server, &mut ends) => {}
        }
        sessions::close(&server, ends).await;
        let lists = server.state().folder.take();
        if let Some(folder) = lists {
            folder.remove().await;
        }
    })
}

/// Why it serves no more.
enum End {
    Lost(Error),
    /// Nobody needed it.
    Rest,
}

struct Keeper {
    server: Arc<Server>,
    connector: Connector,
}

impl Keeper {
    async fn run(self) {
        let (mut breaker, mut reopening) = (Breaker::new(self.server.spec.bounds), Reopening::default());
        let stop = self.server.stop.clone();
        if self.server.status().phase == (Phase::Resting { counts: None }) && !self.rested().await {
            return self.close().await;
        }
        loop {
            let begun = time::Instant::now();
            let served = tokio::select! {
                () = stop.cancelled() => return self.close().await,
                served = self.serve(begun) => served,
            };
            let why = match served {
                Ok(End::Rest) if self.rested().await => continue,
                Ok(End::Rest) => return self.close().await,
                Ok(End::Lost(error)) | Err(error) => error,
            };
            if reopening.is_due(&why) {
                self.server.base.is_now(Link::Opening);
                self.server.counters().restarted();
                continue;
            }
            // One that is lost again and again is tried less and less.
            let (pause, circuit) = breaker.lost(self.lasted(begun));
            self.server.state().circuit = circuit;
            self.drop_part(&why);
            tokio::select! {
                () = stop.cancelled() => return self.close().await,
                () = time::sleep(pause) => {}
            }
            if matches!(circuit, Circuit::Open { .. }) {
                self.server.state().circuit = Circuit::HalfOpen;
            }
            self.server.counters().restarted();
        }
    }

    /// How long it was ready; one that never was did not last, however long it took to fail.
    fn lasted(&self, begun: time::Instant) -> Duration {
        match &*self.server.phase.borrow() {
            Phase::Ready { took, .. } => begun.elapsed().saturating_sub(*took),
            Phase::Connecting | Phase::Failed(_) | Phase::Resting { .. } | Phase::Disabled => Duration::ZERO,
        }
    }

    /// Waits until somebody needs it; whether somebody does before it is stopped.
    async fn rested(&self) -> bool {
        let mut phase = self.server.phase.subscribe();
        tokio::select! {
            () = self.server.stop.cancelled() => false,
            // The sender lives in the server.
            woken = phase.wait_for(|phase| !matches!(phase, Phase::Resting { .. })) => woken.is_ok(),
        }
    }

    /// Lets it rest, unless somebody took a place this moment. What it offers is offered on.
    async fn rest(&self, connection: &Connection) -> bool {
        let Server { base, phase, legs, devices, .. } = &*self.server;
        let before = phase.borrow().clone();
        let Phase::Ready { counts, .. } = before else { return false };
        // In this order: whoever finds no connection finds that it rests, and wakes it.
        phase.send_replace(Phase::Resting { counts: Some(counts) });
        base.is_now(Link::Lost(Error::closed("it rests")));
        if !base.is_free() || devices.count() > 0 || legs.all().iter().any(|leg| !leg.is_free()) {
            // Both at once, so that whoever wakes it this moment does so before or not at all.
            phase.send_modify(|phase| {
                base.is_open(connection);
                *phase = before;
            });
            return false;
        }
        legs.rest();
        connection.close().await;
        self.server.supervision.moved(&self.server.spec.name);
        true
    }

    /// Connects and serves until the connection is lost; what it was lost to.
    async fn serve(&self, begun: time::Instant) -> Result<End, Error> {
        let spec = &self.server.spec;
        let ear = Ear { server: Arc::downgrade(&self.server), process: Process::default() };
        let _place = self.server.place()?;
        let mut approach = spec::approach(spec, self.server.us.clone(), Arc::new(ear));
        approach.revision = spec.revision;
        let connecting = match spec.connector_of_lists()? {
            Some((own, folder)) => {
                self.server.state().folder = Some(folder);
                own(approach)
            }
            None => (self.connector)(approach),
        };
        let connection = connecting.await.map_err(|error| self.explained(error))?;
        self.opened(&connection).await;
        let left = spec.startup.saturating_sub(begun.elapsed()).max(Duration::from_secs(1));
        // Listened to first, so that no change is missed; but one that is slow to say yes is served all the same.
        let mut watching = pin!(connection.subscribe(Filter::lists()));
        let mut watched = None;
        // One that rested offers on what it offered, whatever becomes of one of its lists.
        let before = self.server.part();
        let allowed = Allowed { silence: left, total: left };
        let mut listing = pin!(list::everything(&connection, spec, allowed, before.as_deref()));
        let (part, reports) = loop {
            tokio::select! {
                biased;
                begun = &mut watching, if watched.is_none() => watched = Some(begun),
                listed = &mut listing => break listed,
                error = connection.ended() => return Err(error),
            }
        };
        self.take_part(part, reports, &connection, begun.elapsed());
        Ok(self.keep(&connection, watching, watched, begun).await)
    }

    /// Follows what changes until the connection is lost.
    async fn keep(
        &self,
        connection: &Connection,
        mut watching: Pin<&mut impl Future<Output = Result<Subscription, Error>>>,
        mut watched: Option<Result<Subscription, Error>>,
        begun: time::Instant,
    ) -> End {
        let spec = &self.server.spec;
        let allowed = Allowed { silence: spec.silence, total: spec.startup };
        let mut subscriptions = Subscriptions::on(connection, Arc::clone(&self.server.base.interests));
        let mut sweep = time::interval_at(time::Instant::now() + spec.idle, spec.idle);
        let rests = !spec.rest.is_zero();
        let every = if rests { spec.rest } else { spec.idle };
        let mut rest = time::interval_at(time::Instant::now() + every, every);
        // Two looks at once would take what was used a moment ago for unused.
        [&mut sweep, &mut rest].into_iter().for_each(|each| each.set_missed_tick_behavior(MissedTickBehavior::Delay));
        let mut listed = time::Instant::now();
        loop {
            let changed = async {
                time::sleep_until(listed + BETWEEN_LISTS).await;
                self.server.dirty.notified().await;
            };
            tokio::select! {
                error = connection.ended() => return End::Lost(error),
                error = self.server.base.given_up() => return End::Lost(error),
                _ = rest.tick(), if rests => {
                    if self.is_at_rest() && self.rest(connection).await {
                        return End::Rest;
                    }
                }
                _ = sweep.tick() => self.server.legs.sweep(),
                // One that refuses to be listened to is served without. What changed before that is listed again.
                begun = &mut watching, if watched.is_none() => {
                    watched = Some(begun);
                    self.server.dirty.notify_one();
                }
                // It may have changed before it was watched.
                uri = subscriptions.next() => self.server.supervision.updated(uri),
                () = changed => {
                    let before = self.server.part();
                    let listing = list::everything(connection, spec, allowed, before.as_deref());
                    let (part, reports) = tokio::select! {
                        all = listing => all,
                        error = connection.ended() => return End::Lost(error),
                    };
                    self.take_part(part, reports, connection, begun.elapsed());
                    listed = time::Instant::now();
                }
            }
        }
    }

    /// Whether nobody needed it for a while.
    fn is_at_rest(&self) -> bool {
        // All are asked, so that each begins to count anew.
        let legs: Vec<_> = self.server.legs.all().iter().map(|leg| leg.is_at_rest()).collect();
        // What a device left there would be lost.
        self.server.base.is_at_rest() && legs.into_iter().all(|rests| rests) && self.server.devices.count() == 0
    }

    async fn opened(&self, connection: &Connection) {
        let base = &self.server.base;
        self.server.legs.may_be_waited_for();
        base.forget_level().await;
        base.is_open(connection);
        if let Some(level) = self.server.supervision.level(&self.server, base) {
            base.set_level(connection, level).await;
        }
    }

    /// A server that is merely late may have said why; one that ended has had its say already.
    fn explained(&self, error: Error) -> Error {
        if error.kind() != Kind::Overdue {
            return error;
        }
        let lines = self.server.lines();
        let last: Vec<_> = lines.iter().rev().take(3).rev().map(String::as_str).collect();
        let said =
            if last.is_empty() { "it wrote nothing".to_owned() } else { format!("it wrote: {}", last.join(" | ")) };
        Error::new(Kind::Overdue, format!("{error} (limit `startupTimeout`); {said}"))
    }

    fn take_part(&self, part: Part, reports: Vec<Report>, connection: &Connection, took: Duration) {
        let counts = Counts {
            tools: part.tools.len(),
            prompts: part.prompts.len(),
            resources: part.resources.len() + part.templates.len(),
        };
        let took = match &*self.server.phase.borrow() {
            Phase::Ready { took, .. } => *took,
            Phase::Connecting | Phase::Failed(_) | Phase::Resting { .. } | Phase::Disabled => took,
        };
        let part = Arc::new(part);
        let before = {
            let mut state = self.server.state();
            (state.reports, state.lost) = (reports, None);
            (state.circuit, state.meeting) = (Circuit::Closed, Some(connection.meeting().clone()));
            state.part.replace(Arc::clone(&part))
        };
        if before.is_none_or(|before| !part.is_alike(&before)) {
            self.server.legs.find_out_anew();
        }
        self.server.supervision.moved(&self.server.spec.name);
        let revision = connection.meeting().revision;
        self.server.phase.send_replace(Phase::Ready { revision, counts, took });
        self.server.supervision.moved(&self.server.spec.name);
    }

    fn drop_part(&self, why: &Error) {
        {
            let mut state = self.server.state();
            if let Some(part) = state.part.take() {
                state.lost = Some(part);
            }
            state.last_error = Some(why.to_string());
        }
        self.server.base.is_now(Link::Lost(why.clone()));
        self.server.phase.send_replace(Phase::Failed(why.to_string()));
        self.server.supervision.moved(&self.server.spec.name);
    }

    async fn close(&self) {
        self.server.legs.close().await;
        let connection = self.server.base.open();
        self.server.base.is_now(Link::Lost(Error::closed("the server was stopped")));
        if let Some(connection) = connection {
            connection.close().await;
        }
    }
}
