//! One task per server: connect, list, serve, bring back.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time,
};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{
    exchange::Note,
    greeting::Introduction,
    watch::{Change, Filter},
};
use toolbay_transport::{Approach, Connection, Error, Kind, Listener};

use super::{
    list,
    spec::{Connector, Plan, Spec},
    state::{Counts, Phase, Status},
};
use crate::catalog::{Part, Report};

/// How many lines of a server's log and stderr are kept.
const LINES: usize = 1000;
/// How long a server that was lost is left alone at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What the bay hears of its servers.
pub(crate) trait Supervision: Send + Sync + 'static {
    /// A server's phase, or what it offers, changed.
    fn moved(&self, server: &Arc<str>);
    /// A resource of a server changed.
    fn updated(&self, uri: String);
}

/// A server and all we know of it.
pub(crate) struct Server {
    pub(crate) spec: Spec,
    phase: watch::Sender<Phase>,
    state: Mutex<State>,
    stop: CancellationToken,
}

#[derive(Default)]
struct State {
    connection: Option<Connection>,
    part: Option<Arc<Part>>,
    reports: Vec<Report>,
    lines: VecDeque<String>,
}

impl Server {
    /// A server and the task that looks after it.
    pub(crate) fn start(
        spec: Spec,
        us: Introduction,
        supervision: Arc<dyn Supervision>,
    ) -> (Arc<Self>, Option<JoinHandle<()>>) {
        let first = match &spec.plan {
            Plan::Connect(_) => Phase::Connecting,
            Plan::Disabled => Phase::Disabled,
            Plan::Broken(why) => Phase::Failed(why.clone()),
        };
        let connector = match &spec.plan {
            Plan::Connect(connector) => Some(Arc::clone(connector)),
            Plan::Disabled | Plan::Broken(_) => None,
        };
        let (phase, _) = watch::channel(first);
        let server = Arc::new(Self { spec, phase, state: Mutex::default(), stop: CancellationToken::new() });
        let keeper = connector.map(|connector| Keeper {
            server: Arc::clone(&server),
            connector,
            us,
            supervision,
            ears: Arc::new(Ears { dirty: Notify::new(), server: Arc::downgrade(&server) }),
        });
        (server, keeper.map(|keeper| tokio::spawn(keeper.run())))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it stands.
    pub(crate) fn status(&self) -> Status {
        let phase = self.phase.borrow().clone();
        Status { server: Arc::clone(&self.spec.name), transport: self.spec.transport, phase }
    }

    /// Its connection, where it has one.
    pub(crate) fn connection(&self) -> Option<Connection> {
        self.state().connection.clone()
    }

    /// What it offers.
    pub(crate) fn part(&self) -> Option<Arc<Part>> {
        self.state().part.clone()
    }

    /// What is worth knowing of it.
    pub(crate) fn reports(&self) -> Vec<Report> {
        self.state().reports.clone()
    }

    /// The last lines of its log and stderr.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.state().lines.iter().cloned().collect()
    }

    fn line(&self, line: String) {
        let mut state = self.state();
        if state.lines.len() >= LINES {
            state.lines.pop_front();
        }
        state.lines.push_back(line);
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

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

/// Hears what a server says unasked.
struct Ears {
    dirty: Notify,
    server: std::sync::Weak<Server>,
}

struct Ear {
    ears: Arc<Ears>,
    supervision: Arc<dyn Supervision>,
}

impl Ear {
    fn line(&self, line: String) {
        if let Some(server) = self.ears.server.upgrade() {
            server.line(line);
        }
    }
}

impl Listener for Ear {
    fn changed(&self, change: Change) {
        match change {
            Change::Tools | Change::Prompts | Change::Resources => self.ears.dirty.notify_one(),
            Change::Updated(uri) => self.supervision.updated(uri),
        }
    }

    fn noted(&self, note: Note) {
        self.line(format!("{}: {:?}", note.method, note.params));
    }

    fn stray(&self, what: &str) {
        self.line(what.to_owned());
    }

    fn stderr(&self, line: &str) {
        self.line(line.to_owned());
    }
}

struct Keeper {
    server: Arc<Server>,
    connector: Connector,
    us: Introduction,
    supervision: Arc<dyn Supervision>,
    ears: Arc<Ears>,
}

impl Keeper {
    async fn run(self) {
        let mut pause = Duration::from_secs(1);
        loop {
            let begun = time::Instant::now();
            let stop = self.server.stop.clone();
            let why = tokio::select! {
                () = stop.cancelled() => return self.close().await,
                served = self.serve(begun) => match served {
                    Ok(lost) => {
                        pause = Duration::from_secs(1);
                        lost
                    }
                    Err(error) => error,
                },
            };
            self.drop_part(&why);
            tokio::select! {
                () = stop.cancelled() => return self.close().await,
                () = time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
            }
        }
    }

    /// Connects and serves until the connection is lost; what it was lost to.
    async fn serve(&self, begun: time::Instant) -> Result<Error, Error> {
        let ear = Ear { ears: Arc::clone(&self.ears), supervision: Arc::clone(&self.supervision) };
        let mut approach = Approach::new(self.us.clone()).heard_by(Arc::new(ear));
        approach.deadline = self.server.spec.startup;
        approach.revision = self.server.spec.revision;
        let connection = (self.connector)(approach).await.map_err(|error| self.explained(error))?;
        self.server.state().connection = Some(connection.clone());
        let left = self.server.spec.startup.saturating_sub(begun.elapsed()).max(Duration::from_secs(1));
        let listing = list::everything(&connection, &self.server.spec.name, left);
        let (part, reports) = tokio::select! {
            listed = listing => listed,
            error = connection.ended() => return Err(error),
        };
        // A server that refuses to be listened to is served without.
        let watching = connection.subscribe(Filter::lists()).await;
        self.take_part(part, reports, &connection, begun.elapsed());
        loop {
            tokio::select! {
                error = connection.ended() => {
                    drop(watching);
                    return Ok(error);
                }
                () = self.ears.dirty.notified() => {
                    let listing = list::everything(&connection, &self.server.spec.name, self.server.spec.silence);
                    let (part, reports) = listing.await;
                    self.take_part(part, reports, &connection, begun.elapsed());
                }
            }
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
            Phase::Connecting | Phase::Failed(_) | Phase::Disabled => took,
        };
        {
            let mut state = self.server.state();
            (state.part, state.reports) = (Some(Arc::new(part)), reports);
        }
        self.supervision.moved(&self.server.spec.name);
        let revision = connection.meeting().revision;
        self.server.phase.send_replace(Phase::Ready { revision, counts, took });
        self.supervision.moved(&self.server.spec.name);
    }

    fn drop_part(&self, why: &Error) {
        {
            let mut state = self.server.state();
            (state.part, state.connection) = (None, None);
        }
        self.server.phase.send_replace(Phase::Failed(why.to_string()));
        self.supervision.moved(&self.server.spec.name);
    }

    async fn close(&self) {
        let connection = self.server.state().connection.take();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }
}
