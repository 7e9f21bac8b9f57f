//! A server and all that is known of it.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwapOption;
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{
    Feature, Method,
    exchange::Note,
    greeting::{Introduction, Meeting},
};
use toolbay_transport::{Caller, Connection, Error, Principal};

use super::{
    circuit::Circuit,
    isolation::{Open, Who},
    leg::{Leg, Link},
    legs::{Legs, NoLeg},
    lines::{Lines, Ring},
    processes::Processes,
    spec::{CHILD, Plan, Spec},
    state::{Cause, Phase, Status},
    supervise::{self, Supervision},
};
use crate::{
    callers::Declared,
    catalog::{Part, Report},
    config::{self, Isolation, Start},
    limits::{ChildPlace, Children},
    metrics::Counters,
    sessions::{Folder, Table, Visitor},
};

/// A server and all we know of it.
pub(crate) struct Server {
    pub(crate) spec: Spec,
    pub(super) phase: watch::Sender<Phase>,
    state: Mutex<State>,
    pub(super) stop: CancellationToken,
    pub(super) us: Introduction,
    pub(crate) supervision: Arc<dyn Supervision>,
    children: Arc<Children>,
    counters: Arc<Counters>,
    processes: Processes,
    /// How long a call to it may stay silent, in milliseconds.
    silence: AtomicU64,
    /// What the configuration says of it now.
    written: ArcSwapOption<config::Server>,
    /// Told when a list is no longer what it was.
    pub(super) dirty: Notify,
    /// The connection with which its lists are kept; it serves those who declare nothing.
    pub(super) base: Arc<Leg>,
    pub(super) legs: Legs,
    /// The sessions of devices.
    pub(crate) devices: Table,
}

/// For whom a server is to be listed.
#[derive(Clone)]
pub(crate) struct Whom {
    who: Who,
    told: Arc<Introduction>,
}

/// What changes about a server.
#[derive(Default)]
pub(super) struct State {
    pub(super) part: Option<Arc<Part>>,
    /// What it offered when it was lost.
    pub(super) lost: Option<Arc<Part>>,
    pub(super) reports: Vec<Report>,
    pub(super) last_error: Option<String>,
    pub(super) circuit: Circuit,
    cause: Cause,
    /// What it said of itself when it ran last.
    pub(super) meeting: Option<Meeting>,
    /// The folder of the program that its lists are from.
    pub(super) folder: Option<Folder>,
    lines: Ring,
}

/// What all servers of a bay share.
#[derive(Clone)]
pub(crate) struct Yard {
    /// Who we are to them.
    pub(crate) us: Introduction,
    pub(crate) supervision: Arc<dyn Supervision>,
    pub(crate) children: Arc<Children>,
}

impl Server {
    /// A server and the task that looks after it. It goes on from the one `before` it: what was counted, what was written,
    /// what is watched.
    pub(crate) fn start(spec: Spec, yard: &Yard, before: Option<&Self>) -> (Arc<Self>, Option<JoinHandle<()>>) {
        let Yard { us, supervision, children } = yard.clone();
        let first = match &spec.plan {
            Plan::Connect(_) if spec.start == Start::OnDemand && before.is_none() => Phase::Resting { counts: None },
            Plan::Connect(_) => Phase::Connecting,
            Plan::Disabled => Phase::Disabled,
            Plan::Broken(why) => Phase::Failed(why.clone()),
        };
        let connector = match &spec.plan {
            Plan::Connect(connector) => Some(Arc::clone(connector)),
            Plan::Disabled | Plan::Broken(_) => None,
        };
        let (phase, _) = watch::channel(first);
        let base = match before {
            Some(before) => Leg::following(&before.base, &spec.bounds),
            None => Leg::new(Who::Everyone, None, &spec.bounds),
        };
        let server = Arc::new(Self {
            silence: AtomicU64::new(millis(spec.silence)),
            written: ArcSwapOption::new(spec.written.clone()),
            devices: Table::new(Arc::clone(&spec.name), spec.devices),
            spec,
            phase,
            state: Mutex::new(before.map(State::following).unwrap_or_default()),
            children,
            counters: before.map(|before| Arc::clone(&before.counters)).unwrap_or_default(),
            processes: Processes::default(),
            stop: CancellationToken::new(),
            us,
            supervision,
            dirty: Notify::new(),
            base: Arc::new(base),
            legs: Legs::default(),
        });
        let task = connector.map(|connector| supervise::look_after(Arc::clone(&server), connector));
        (server, task)
    }

    pub(super) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it stands.
    pub(crate) fn status(&self) -> Status {
        let phase = self.phase.borrow().clone();
        let (circuit, last_error, cause) = {
            let state = self.state();
            (state.circuit, state.last_error.clone(), state.cause)
        };
        Status {
            server: Arc::clone(&self.spec.name),
            transport: self.spec.transport,
            phase,
            cause,
            counted: self.counters.read(),
            circuit,
            last_error,
            processes: self.processes.all(),
            devices: (self.spec.isolation == Isolation::PerDevice).then(|| self.devices.count()),
        }
    }

    /// What is counted of it.
    pub(crate) fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// How long a call to it may stay silent.
    pub(crate) fn silence(&self) -> Duration {
        Duration::from_millis(self.silence.load(Ordering::Relaxed))
    }

    /// What the configuration says of it.
    pub(crate) fn written(&self) -> Option<Arc<config::Server>> {
        self.written.load_full()
    }

    /// Whether it is an entry of the registry.
    pub(crate) fn is_entry(&self) -> bool {
        self.written.load().as_ref().is_some_and(|written| written.tool.is_some())
    }

    /// Whether the configuration turns it off.
    pub(crate) fn is_off(&self) -> bool {
        matches!(self.spec.plan, Plan::Disabled)
    }

    /// Takes on what can be changed while it runs.
    pub(crate) fn adjust(&self, spec: &Spec) {
        self.silence.store(millis(spec.silence), Ordering::Relaxed);
        self.written.store(spec.written.clone());
        self.devices.allow(spec.devices);
    }

    /// A place among the children of ours, where it is to be one.
    pub(super) fn place(&self) -> Result<Option<ChildPlace>, Error> {
        if self.spec.transport == CHILD { self.children.place().map(Some) } else { Ok(None) }
    }

    /// Its processes.
    pub(super) fn processes(&self) -> &Processes {
        &self.processes
    }

    /// Whether any call of it is in flight.
    pub(crate) fn is_busy(&self) -> bool {
        self.base.is_taken() || self.legs.all().iter().any(|leg| leg.is_taken())
    }

    /// What it says of itself, where it is connected.
    pub(crate) fn meeting(&self) -> Option<Meeting> {
        self.base.open().map(|connection| connection.meeting().clone())
    }

    /// The same where it is not, as long as it was before: it rests, or is brought back.
    pub(crate) fn last_meeting(&self) -> Option<Meeting> {
        self.meeting().or_else(|| self.state().meeting.clone())
    }

    /// Whether nobody has met it yet, and it may still turn out well.
    pub(crate) fn is_stranger(&self) -> bool {
        let undecided = matches!(*self.phase.borrow(), Phase::Connecting | Phase::Resting { .. });
        undecided && self.last_meeting().is_none()
    }

    /// Somebody needs it: where it rests, it is started.
    pub(crate) fn wake(&self) {
        let woken = self.phase.send_if_modified(|phase| {
            let resting = matches!(phase, Phase::Resting { .. });
            if resting {
                // At once with the phase: whoever lets it rest may think better of it this moment.
                self.base.is_now(Link::Opening);
                self.state().cause = Cause::Woken;
                *phase = Phase::Connecting;
            }
            resting
        });
        if woken {
            self.supervision.moved(&self.spec.name);
        }
    }

    /// Somebody wants to know what it offers: where nobody does yet, it is started.
    pub(crate) fn wanted(&self) {
        if self.part().is_none() {
            self.wake();
        }
    }

    /// Whether the calls of `caller` go over `leg`, or would.
    pub(crate) fn is_leg_of(&self, leg: &Arc<Leg>, caller: &Caller, declared: &Declared) -> bool {
        let local = self.spec.isolation == Isolation::PerUser && caller.principal == Principal::Local;
        let told = |revision| declared.told(&caller.introduction, revision);
        match &leg.told {
            Some(_) if leg.session.is_some() => leg.who.is(caller),
            Some(was) => leg.who.is(caller) && was.capabilities == told(was.revision).capabilities,
            None if self.spec.isolation == Isolation::Shared => true,
            None if !local && caller.session.is_some() => false,
            None => self.base.open().is_some_and(|first| {
                let revision = first.meeting().revision;
                Who::of(caller, self.spec.isolation) == Who::User(Principal::Local)
                    && told(revision).capabilities == declared.bare(revision).capabilities
            }),
        }
    }

    /// All its connections of the handshake that are open.
    pub(crate) fn legs(&self) -> Vec<(Arc<Leg>, Connection)> {
        let all = std::iter::once(Arc::clone(&self.base)).chain(self.legs.all());
        all.filter_map(|leg| leg.open().map(|connection| (leg, connection))).collect()
    }

    /// A session ended: what was opened for it alone is closed.
    pub(crate) fn left(&self, caller: &Caller) {
        if self.spec.isolation == Isolation::PerSession {
            self.legs.end_those(|leg| matches!(leg.who, Who::Session(_)) && leg.who.is(caller));
        }
        if self.spec.isolation == Isolation::PerDevice {
            self.devices.left(&Open::of(caller));
        }
    }

    /// Hears what belongs to no call.
    pub(super) fn noted(&self, leg: &Arc<Leg>, note: Note) {
        if note.method != Method::Progress {
            self.line(&format!("{}: {:?}", note.method, note.params));
        }
        self.supervision.said(self, leg, note);
    }

    /// What it offers.
    pub(crate) fn part(&self) -> Option<Arc<Part>> {
        self.state().part.clone()
    }

    /// What it offers to `caller`: on a connection of its own that may be something else.
    pub(crate) fn part_for(&self, caller: &Caller, declared: &Declared) -> Option<Arc<Part>> {
        let base = self.part()?;
        let told = declared.told(&caller.introduction, base.revision);
        Some(self.legs.part(&self.slot(Who::of(caller, self.spec.isolation), &told)).unwrap_or(base))
    }

    /// Whom to list it for, so that it is known what it offers to `caller`: a caller that declared something may be offered
    /// more, on a connection of its own. None where that is known.
    pub(crate) fn unlisted_for(&self, caller: &Caller, declared: &Declared) -> Option<Whom> {
        let revision = self.part()?.revision;
        let who = Who::of(caller, self.spec.isolation);
        if revision.has(Feature::Stateless) || who == Who::Everyone {
            return None;
        }
        let told = declared.told(&caller.introduction, revision);
        let known = told.capabilities == declared.bare(revision).capabilities
            || self.legs.know(&self.slot(who.clone(), &told), &told);
        (!known).then_some(Whom { who, told })
    }

    /// Lists it for them, on the connection over which their calls will go. Where it rests it is started for that: it, and
    /// with it that connection, rests again when nobody needs it.
    pub(crate) async fn list_for(self: &Arc<Self>, Whom { who, told }: Whom) {
        let first = match self.base.seat(&told) {
            Some(seat) => Ok(seat),
            None => self.awake().base.seated(&told, self.spec.startup).await,
        };
        let Ok(_first) = first else { return };
        let Ok(session) = self.session_of(&who, Visitor::Nobody) else { return };
        let listed = match self.legs.get(self, who, &told, session.as_ref()) {
            Ok((leg, _)) => leg.listed().await,
            Err(NoLeg::Full(_) | NoLeg::Closed | NoLeg::Over) => return,
        };
        if !listed {
            // It is not tried again with each list; a call says what is wrong.
            self.legs.are_alike(&told);
        }
    }

    /// That took too long: what it offers to them is announced when it is known.
    pub(crate) fn waited_for(&self, Whom { who, told }: Whom) {
        self.legs.waited(self.slot(who, &told));
    }

    /// Whether something else than `base` is offered on any other connection than the first.
    pub(crate) fn differs_from(&self, base: &Part) -> bool {
        self.legs.differ(base)
    }

    /// A connection's own lists were taken.
    pub(super) fn take_own(&self, leg: &Leg, part: Part, reports: Vec<Report>) {
        *leg.reports.lock().unwrap_or_else(PoisonError::into_inner) = reports;
        let (part, base) = (Arc::new(part), self.part());
        let follows = base.as_ref().is_some_and(|base| part.is_alike(base));
        let before = leg.part.swap((!follows).then(|| Arc::clone(&part))).or(base);
        match &leg.told {
            Some(told) if follows => self.legs.are_alike(told),
            Some(told) => self.legs.are_not_alike(told),
            None => {}
        }
        self.supervision.moved(&self.spec.name);
        leg.is_listed();
        for change in before.map(|before| part.changes(&before)).unwrap_or_default() {
            self.supervision.changed(&change);
        }
    }

    /// What it offered, where it is lost and not back yet.
    pub(crate) fn lost(&self) -> Option<Arc<Part>> {
        self.state().lost.clone()
    }

    /// What is worth knowing of it, whichever of its connections that was found on.
    pub(crate) fn reports(&self) -> Vec<Report> {
        let mut all = self.state().reports.clone();
        for leg in self.legs.all() {
            let own = leg.reports.lock().unwrap_or_else(PoisonError::into_inner);
            // Most say what was said of the first connection.
            let new: Vec<_> = own.iter().filter(|report| !all.contains(report)).cloned().collect();
            all.extend(new);
        }
        all
    }

    /// The last lines of its log and stderr.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines_after(0).lines
    }

    /// Those of the lines that are kept which were written after so many.
    pub(crate) fn lines_after(&self, after: u64) -> Lines {
        self.state().lines.after(after)
    }

    pub(super) fn line(&self, line: &str) {
        self.state().lines.push(line, self.spec.bounds.log_lines);
    }

    /// Waits until it is decided how it does.
    pub(crate) async fn settled(&self) {
        let mut phase = self.phase.subscribe();
        // The sender lives in `self`.
        let _ = phase.wait_for(Phase::is_settled).await;
    }

    /// Ends it; its task closes the connection.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}

impl State {
    fn following(before: &Server) -> Self {
        let before = before.state();
        let lost = before.part.clone().or_else(|| before.lost.clone());
        let (lines, last_error, meeting) = (before.lines.clone(), before.last_error.clone(), before.meeting.clone());
        Self { lost, lines, last_error, meeting, ..Self::default() }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.spec.name).finish_non_exhaustive()
    }
}
