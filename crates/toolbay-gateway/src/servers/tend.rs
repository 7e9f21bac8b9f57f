//! One task per connection beside the first: open it, keep its subscriptions, and bring it back while somebody
//! subscribes or the server only forgot the session.

use std::{
    pin::Pin,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::time::{self, Instant};
use toolbay_protocol::{
    Feature,
    exchange::{Ask, Note, Outcome},
    greeting::Introduction,
    watch::Change,
};
use toolbay_transport::{Error, Kind, Listener, listener::Deaf};

use super::{
    ear::Ear,
    interest::Subscriptions,
    leg::{Leg, Link},
    list::{self, Allowed},
    processes::Process,
    server::Server,
    spec::{self, Plan},
    supervise::BETWEEN_LISTS,
};

/// A session that is lost so soon after it was opened is not opened again at once.
const SOON: Duration = Duration::from_secs(1);

/// Whether a lost session is opened again without a pause: once, and not again right after.
#[derive(Default)]
pub(super) struct Reopening(Option<Instant>);

impl Reopening {
    pub(super) fn is_due(&mut self, error: &Error) -> bool {
        let due = error.kind() == Kind::SessionLost && self.0.is_none_or(|last| last.elapsed() > SOON);
        if due {
            self.0 = Some(Instant::now());
        }
        due
    }
}

/// Looks after a connection until it is not needed any more.
pub(super) async fn tend(server: Arc<Server>, leg: Arc<Leg>) {
    let bounds = server.spec.bounds;
    let (mut pause, mut reopening) = (bounds.pause, Reopening::default());
    loop {
        let begun = Instant::now();
        let error = tokio::select! {
            biased;
            () = leg.stop.cancelled() => return close(&leg).await,
            error = serve(&server, &leg) => error,
        };
        if reopening.is_due(&error) {
            leg.is_now(Link::Opening);
            continue;
        }
        server.line(&format!("a connection of its own for a caller was lost: {error}"));
        if !leg.interests.any() {
            server.legs.forget(&leg);
            return leg.is_now(Link::Lost(error));
        }
        leg.is_now(Link::Lost(error));
        if begun.elapsed() > bounds.longest_pause {
            pause = bounds.pause;
        }
        tokio::select! {
            () = leg.stop.cancelled() => return close(&leg).await,
            () = leg.nudge.notified() => {}
            () = time::sleep(pause) => pause = (pause * 2).min(bounds.longest_pause),
        }
        leg.is_now(Link::Opening);
    }
}

async fn close(leg: &Leg) {
    let connection = leg.open();
    leg.is_now(Link::Lost(Error::closed("it was closed: nobody needed it for a while, or the server is stopped")));
    if let Some(connection) = connection {
        connection.close().await;
    }
}

/// Opens it and serves until it is lost; what it was lost to.
async fn serve(server: &Arc<Server>, leg: &Arc<Leg>) -> Error {
    let Plan::Connect(connector) = &server.spec.plan else { return Error::closed("the server is turned off") };
    let Some(told) = &leg.told else { return Error::closed("nobody is served") };
    let ear = Ear { server: Arc::downgrade(server), process: Process::default() };
    let ear = LegEar { ear, leg: Arc::downgrade(leg) };
    // A server that keeps no session is told with each request which device it is.
    let device = leg.session.as_ref().and_then(|session| session.device());
    let us = Introduction { capabilities: told.capabilities.clone(), device, ..server.us.clone() };
    let connector = match leg.session.as_ref().map(|session| server.spec.connector_of(session)) {
        Some(Err(error)) => return error,
        Some(Ok(Some(own))) => own,
        Some(Ok(None)) | None => Arc::clone(connector),
    };
    let _place = match server.place() {
        Ok(place) => place,
        Err(error) => return error,
    };
    let mut approach = spec::approach(&server.spec, us, Arc::new(ear));
    approach.revision = Some(told.revision);
    let connection = match connector(approach).await {
        Ok(connection) => connection,
        Err(error) => return error,
    };
    if let Some(session) = &leg.session {
        session.is_known_as(connection.session());
    }
    leg.forget_level().await;
    if let Some(level) = server.supervision.level(server, leg) {
        leg.set_level(&connection, level).await;
    }
    leg.is_open(&connection);
    let mut subscriptions = Subscriptions::on(&connection, Arc::clone(&leg.interests));
    let allowed = Allowed { silence: server.spec.silence, total: server.spec.startup };
    match connection.meeting().revision.has(Feature::Stateless) {
        // It tells nobody that its lists changed who does not listen; those of the first connection hold.
        true => leg.is_listed(),
        false => leg.dirty.notify_one(),
    }
    let mut listed = None;
    loop {
        let changed = async {
            if let Some(listed) = listed {
                time::sleep_until(listed + BETWEEN_LISTS).await;
            }
            leg.dirty.notified().await;
        };
        tokio::select! {
            error = connection.ended() => return error,
            error = leg.given_up() => return error,
            // It may have changed before it was watched.
            uri = subscriptions.next() => server.supervision.updated(uri),
            () = changed => {
                let before = leg.part.load_full().or_else(|| server.part());
                let listing = list::everything(&connection, &server.spec, allowed, before.as_deref());
                let (part, reports) = tokio::select! {
                    all = listing => all,
                    error = connection.ended() => return error,
                };
                server.take_own(leg, part, reports);
                listed = Some(Instant::now());
            }
        }
    }
}

/// Hears one connection beside the first: like that one, but for what is this connection's own.
struct LegEar {
    ear: Ear,
    leg: Weak<Leg>,
}

impl Listener for LegEar {
    fn changed(&self, change: Change) {
        match change {
            Change::Tools | Change::Prompts | Change::Resources => {
                if let Some(leg) = self.leg.upgrade() {
                    leg.dirty.notify_one();
                }
            }
            change @ (Change::Updated(_) | Change::Task(_) | Change::Said(_)) => self.ear.changed(change),
        }
    }

    fn noted(&self, note: Note) {
        if let (Some(server), Some(leg)) = (self.ear.server.upgrade(), self.leg.upgrade()) {
            server.noted(&leg, note);
        }
    }

    fn asked(&self, ask: Ask) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let leg = self.leg.upgrade();
        let questions = leg.filter(|leg| leg.told.as_ref().is_some_and(|told| told.admits(&ask).is_ok()));
        match questions.and_then(|leg| leg.questions.clone()) {
            Some(questions) => Box::pin(async move { questions.put(ask).await }),
            None => Deaf.asked(ask),
        }
    }

    fn stray(&self, what: &str) {
        self.ear.stray(what);
    }

    fn stderr(&self, line: &str) {
        self.ear.stderr(line);
    }

    fn started(&self, process: u32) {
        self.ear.started(process);
    }

    fn lost(&self, error: &Error) {
        self.ear.lost(error);
    }
}
