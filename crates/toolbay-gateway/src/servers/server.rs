//! A server and all that is known of it.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::greeting::Introduction;
use toolbay_transport::{Connection, Error};

use super::{
    interest::{Interest, Interests},
    spec::{Plan, Spec},
    state::{Phase, Status},
    supervise::{self, Supervision},
};
use crate::catalog::{Part, Report};

/// How many lines of a server's log and stderr are kept.
const LINES: usize = 1000;
/// How many bytes of such a line.
const LINE: usize = 4096;

/// A server and all we know of it.
pub(crate) struct Server {
    pub(crate) spec: Spec,
    pub(super) phase: watch::Sender<Phase>,
    state: Mutex<State>,
    pub(super) stop: CancellationToken,
    lost: Notify,
    pub(super) interests: Arc<Interests>,
}

/// What changes about a server.
#[derive(Default)]
pub(super) struct State {
    pub(super) connection: Option<Connection>,
    pub(super) part: Option<Arc<Part>>,
    /// What it offered when it was lost.
    pub(super) lost: Option<Arc<Part>>,
    pub(super) reports: Vec<Report>,
    /// Why it is given up, where a call found it gone.
    pub(super) gone: Option<Error>,
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
        let server = Arc::new(Self {
            spec,
            phase,
            state: Mutex::default(),
            stop: CancellationToken::new(),
            lost: Notify::new(),
            interests: Arc::default(),
        });
        let task = connector.map(|connector| supervise::look_after(Arc::clone(&server), connector, us, supervision));
        (server, task)
    }

    pub(super) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that it can no longer be reached.
    pub(crate) fn give_up(&self, error: Error) {
        self.state().gone = Some(error);
        self.lost.notify_one();
    }

    /// Waits until somebody says so.
    pub(super) async fn given_up(&self) -> Error {
        loop {
            if let Some(error) = self.state().gone.take() {
                return error;
            }
            self.lost.notified().await;
        }
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

    /// What it offered, where it is lost and not back yet.
    pub(crate) fn lost(&self) -> Option<Arc<Part>> {
        self.state().lost.clone()
    }

    /// Wants to hear of one of its resources.
    pub(crate) fn want(&self, uri: &str) -> Arc<Interest> {
        self.interests.want(uri)
    }

    /// What is worth knowing of it.
    pub(crate) fn reports(&self) -> Vec<Report> {
        self.state().reports.clone()
    }

    /// The last lines of its log and stderr.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.state().lines.iter().cloned().collect()
    }

    pub(super) fn line(&self, line: &str) {
        let line = line[..line.floor_char_boundary(LINE)].to_owned();
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
