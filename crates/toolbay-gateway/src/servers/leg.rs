//! One connection to a server, whom it serves and what the server was told of them.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwapOption;
use tokio::{
    sync::{Notify, Semaphore, watch},
    time::{self, Instant},
};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{
    Method,
    exchange::Level,
    greeting::Introduction,
    peer::{Call, Patience},
    raw::Object,
};
use toolbay_transport::{Connection, Error, Kind};

use super::{
    interest::{Interest, Interests},
    isolation::Who,
    progress::Hearers,
    questions::Questions,
};
use crate::{
    catalog::{Part, Report},
    limits::Bounds,
    sessions::Session,
};

/// How long a server may take to set its level of logging.
const SET_LEVEL: Duration = Duration::from_secs(5);
/// How long a connection is kept at most for the sake of a task.
const LONGEST_TASK: Duration = Duration::from_secs(24 * 60 * 60);

/// One connection to a server.
pub(crate) struct Leg {
    pub(crate) who: Who,
    /// What the server was told of those whom it serves; nothing is known before it was met.
    pub(crate) told: Option<Arc<Introduction>>,
    /// How often the server may ask in one call, where it keeps no session (limit `rounds`).
    pub(crate) rounds: u32,
    /// Places for waits that last as long as a task: few enough that calls find places beside them.
    pub(crate) followers: Arc<Semaphore>,
    pub(super) interests: Arc<Interests>,
    /// What its server asks outside of calls, where those whom it serves may be asked anything.
    pub(crate) questions: Option<Arc<Questions>>,
    /// Who hears of the progress of its tasks.
    pub(crate) hearers: Hearers,
    /// Told when a list is no longer what it was.
    pub(super) dirty: Notify,
    /// What is worth knowing of its lists.
    pub(super) reports: Mutex<Vec<Report>>,
    /// What is offered on it, where that is not what is offered on the first.
    pub(super) part: ArcSwapOption<Part>,
    /// The session of a device that it carries.
    pub(crate) session: Option<Arc<Session>>,
    pub(super) stop: CancellationToken,
    /// Told when it has come to its end.
    pub(crate) ended: CancellationToken,
    /// Told when somebody wants it back sooner.
    pub(super) nudge: Notify,
    link: watch::Sender<Link>,
    level: tokio::sync::Mutex<Option<Level>>,
    seats: AtomicUsize,
    /// How many streams of it are listened to.
    listened: AtomicUsize,
    /// Whether it was used since the sweep of idle connections, and since it was last asked whether its server may rest.
    used: [AtomicBool; 2],
    kept: Mutex<Option<Instant>>,
    gone: Mutex<Option<Error>>,
    lost: Notify,
    /// Whether it is known what is offered on it.
    listed: watch::Sender<bool>,
}

/// How the connection is.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    /// It is being opened.
    Opening,
    /// It is open; no other connection has this number.
    Open(Connection, u64),
    /// It was lost, or could not be opened.
    Lost(Error),
}

/// A place on a connection, which stays open for as long as it is taken.
pub(crate) struct Seat {
    pub(crate) connection: Connection,
    pub(crate) leg: Arc<Leg>,
    /// On whose behalf calls are made: what the server was, or with each request is, told of the caller.
    pub(crate) told: Arc<Introduction>,
    turn: u64,
}

impl Leg {
    pub(super) fn new(who: Who, told: Option<Arc<Introduction>>, bounds: &Bounds) -> Self {
        let may_ask = |told: &Arc<Introduction>| {
            ["roots", "sampling", "elicitation"].iter().any(|capability| told.declares(&[capability]))
        };
        let questions = told.as_ref().filter(|told| may_ask(told)).map(|_| Arc::default());
        Self {
            who,
            told,
            rounds: u32::try_from(bounds.rounds).unwrap_or(u32::MAX),
            followers: Arc::new(Semaphore::new((bounds.in_flight / 4).max(1))),
            interests: Arc::default(),
            questions,
            hearers: Hearers::default(),
            dirty: Notify::new(),
            reports: Mutex::default(),
            part: ArcSwapOption::empty(),
            session: None,
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
            nudge: Notify::new(),
            link: watch::Sender::new(Link::Opening),
            level: tokio::sync::Mutex::new(None),
            seats: AtomicUsize::new(0),
            listened: AtomicUsize::new(0),
            used: [AtomicBool::new(true), AtomicBool::new(true)],
            kept: Mutex::default(),
            gone: Mutex::default(),
            lost: Notify::new(),
            listed: watch::Sender::new(false),
        }
    }

    /// One that takes the place of another: what is watched on that is watched on this.
    pub(super) fn following(before: &Self, bounds: &Bounds) -> Self {
        Self { interests: Arc::clone(&before.interests), ..Self::new(before.who.clone(), before.told.clone(), bounds) }
    }

    /// One that carries the session of a device.
    pub(super) fn carrying(self, session: Arc<Session>) -> Self {
        Self { session: Some(session), ..self }
    }

    /// Whether somebody has a place on it.
    pub(crate) fn is_taken(&self) -> bool {
        self.seats.load(Ordering::Acquire) > 0
    }

    /// Its connection, where it is open.
    pub(crate) fn open(&self) -> Option<Connection> {
        match &*self.link.borrow() {
            Link::Open(connection, _) => Some(connection.clone()),
            Link::Opening | Link::Lost(_) => None,
        }
    }

    /// Takes a place if it is open.
    pub(super) fn seat(self: &Arc<Self>, told: &Arc<Introduction>) -> Option<Seat> {
        match &*self.link.borrow() {
            Link::Open(connection, turn) => Some(Seat::new(connection.clone(), self, told, *turn)),
            Link::Opening | Link::Lost(_) => None,
        }
    }

    /// Takes a place once it is open.
    pub(super) async fn seated(self: &Arc<Self>, told: &Arc<Introduction>, patience: Duration) -> Result<Seat, Error> {
        self.reached(told, patience, |_| true).await
    }

    async fn reached(
        self: &Arc<Self>,
        told: &Arc<Introduction>,
        patience: Duration,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<Seat, Error> {
        let mut link = self.link.subscribe();
        let settled = link.wait_for(|link| match link {
            Link::Opening => false,
            Link::Open(_, turn) => wanted(*turn),
            Link::Lost(_) => true,
        });
        match time::timeout(patience, settled).await {
            Ok(Ok(link)) => match &*link {
                Link::Open(connection, turn) => Ok(Seat::new(connection.clone(), self, told, *turn)),
                Link::Lost(error) => Err(error.clone()),
                Link::Opening => Err(Error::closed("it is being opened")),
            },
            Ok(Err(_)) => Err(Error::closed("it was closed")),
            Err(_) => Err(Error::overdue("opening the connection again", patience)),
        }
    }

    /// Says that it is known what is offered on it.
    pub(super) fn is_listed(&self) {
        self.listed.send_replace(true);
    }

    /// Whether that is known.
    pub(super) fn was_listed(&self) -> bool {
        *self.listed.borrow()
    }

    /// Waits until it is, or the connection is lost; whether it is.
    pub(super) async fn listed(&self) -> bool {
        let (mut listed, mut link) = (self.listed.subscribe(), self.link.subscribe());
        // The senders live in `self`.
        tokio::select! {
            _ = listed.wait_for(|listed| *listed) => true,
            _ = link.wait_for(|link| matches!(link, Link::Lost(_))) => false,
        }
    }

    /// Says how it is.
    pub(super) fn is_now(&self, link: Link) {
        self.link.send_replace(link);
    }

    /// Says that it is open.
    pub(super) fn is_open(&self, connection: &Connection) {
        *self.gone() = None;
        self.link.send_replace(Link::Open(connection.clone(), next_turn()));
    }

    fn gone(&self) -> MutexGuard<'_, Option<Error>> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that its server can no longer be reached.
    pub(crate) fn give_up(&self, error: Error) {
        *self.gone() = Some(error);
        self.lost.notify_one();
    }

    /// Waits until somebody says so.
    pub(super) async fn given_up(&self) -> Error {
        loop {
            if let Some(error) = self.gone().take() {
                return error;
            }
            self.lost.notified().await;
        }
    }

    /// Wants to hear of a resource.
    pub(crate) fn want(&self, uri: &str) -> Arc<Interest> {
        self.interests.want(uri)
    }

    /// Has the server send lines of log from `level` on, if it is not asked for more already.
    pub(crate) async fn raise(&self, connection: &Connection, level: Level) {
        if self.level.lock().await.is_none_or(|asked| level < asked) {
            self.set_level(connection, level).await;
        }
    }

    /// Has the server send lines of log from `level` on.
    pub(crate) async fn set_level(&self, connection: &Connection, level: Level) {
        if !connection.meeting().profile.declares(&["logging"]) {
            return;
        }
        // One at a time, so that the last one counts.
        let mut asked = self.level.lock().await;
        if *asked == Some(level) {
            return;
        }
        let mut params = Object::with_capacity(32);
        params.put_text("level", level.as_str());
        let patience = Patience { silence: SET_LEVEL, total: Some(SET_LEVEL) };
        let call = Call { patience, ..Call::new(Method::SetLevel, Some(params.finish())) };
        // A server that refuses is one whose lines are filtered here alone.
        if let Ok(Ok(_)) = connection.request(call).await {
            *asked = Some(level);
        }
    }

    /// Forgets what level was set: a new connection begins at the server's own.
    pub(super) async fn forget_level(&self) {
        *self.level.lock().await = None;
    }

    /// Keeps it open for the sake of a task.
    pub(crate) fn keep_for(&self, life: Option<Duration>) {
        let until = Instant::now() + life.unwrap_or(LONGEST_TASK).min(LONGEST_TASK);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(kept.map_or(until, |before| before.max(until)));
    }

    /// Somebody listens to a stream of it, until the guard is dropped: it stays open, though no call is in flight.
    pub(crate) fn is_listened_to(self: &Arc<Self>) -> Listened {
        self.listened.fetch_add(1, Ordering::AcqRel);
        Listened(Arc::clone(self))
    }

    /// Somebody is about to need it.
    pub(super) fn touch(&self) {
        self.used.iter().for_each(|used| used.store(true, Ordering::Release));
    }

    /// Whether nobody needs it now.
    pub(crate) fn is_free(&self) -> bool {
        let kept = *self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(*self.link.borrow(), Link::Opening)
            && self.seats.load(Ordering::Acquire) == 0
            && self.listened.load(Ordering::Acquire) == 0
            && !self.interests.any()
            && kept.is_none_or(|until| until <= Instant::now())
    }

    /// Whether nobody needed it since this was asked last.
    pub(super) fn is_idle(&self) -> bool {
        self.is_free() && !self.used[0].swap(false, Ordering::AcqRel)
    }

    /// The same for its server, which is to rest.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_free() && !self.used[1].swap(false, Ordering::AcqRel)
    }
}

/// A stream that somebody listens to.
pub(crate) struct Listened(Arc<Leg>);

impl Drop for Listened {
    fn drop(&mut self) {
        self.0.listened.fetch_sub(1, Ordering::AcqRel);
        self.0.touch();
    }
}

/// Turns are told apart across all connections, so that none is taken for another.
fn next_turn() -> u64 {
    static TURNS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    TURNS.fetch_add(1, Ordering::Relaxed)
}

impl Seat {
    fn new(connection: Connection, leg: &Arc<Leg>, told: &Arc<Introduction>, turn: u64) -> Self {
        leg.seats.fetch_add(1, Ordering::AcqRel);
        leg.touch();
        Self { connection, leg: Arc::clone(leg), told: Arc::clone(told), turn }
    }

    /// Another place on the same connection.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.connection.clone(), &self.leg, &self.told, self.turn)
    }

    /// The same place, with requests going over another connection to the same server.
    #[must_use]
    pub(crate) fn over(mut self, connection: &Connection) -> Self {
        self.connection = connection.clone();
        self
    }

    /// The same place for somebody of whom something else was told.
    #[must_use]
    pub(super) fn told(mut self, told: Arc<Introduction>) -> Self {
        self.told = told;
        self
    }

    /// A place on the connection that takes the place of this one, which the server no longer knows.
    pub(crate) async fn renewed(self, patience: Duration) -> Result<Self, Error> {
        let turn = self.turn;
        self.leg.reached(&self.told, patience, |now| now != turn).await
    }

    /// Whether what was called there surely did not run: the server does not know the session (any more).
    pub(crate) fn is_unknown(error: &Error) -> bool {
        error.kind() == Kind::SessionLost
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leg.seats.fetch_sub(1, Ordering::AcqRel);
        if let Some(session) = &self.leg.session {
            session.touch();
        }
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat").field("leg", &self.leg).finish_non_exhaustive()
    }
}

impl fmt::Debug for Leg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leg").field("who", &self.who).finish_non_exhaustive()
    }
}
