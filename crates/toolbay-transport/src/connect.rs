//! Meeting a server over a duplex link: a child process, or a service in this one.

use std::{fmt, sync::Arc, time::Duration};

use tokio::time;
use toolbay_protocol::{
    Method, Revision,
    exchange::{Note, Step},
    greeting::{
        Introduction, Meeting,
        probe::{Came, Next, Probe},
    },
    peer::{Call, Patience},
    scan,
};

use crate::{
    Connection, Error, Kind, Listener, Service,
    connection::Wire,
    duplex::{self, Options},
    listener::Deaf,
    memory,
    stdio::{
        child::ServerCommand,
        wire::{ChildFrames, FrameLines},
    },
};

/// How a server is approached.
#[derive(Clone)]
pub struct Approach {
    /// Who we are and what we can; the revision is found out.
    pub us: Introduction,
    /// Who hears what belongs to no call.
    pub listener: Arc<dyn Listener>,
    /// The one revision to speak; without one, the newest that both sides know.
    pub revision: Option<Revision>,
    /// How long a server may leave `server/discover` unanswered before it is taken for an older one.
    pub probe: Duration,
    /// How long it may take in all.
    pub deadline: Duration,
    /// How much is accepted of it, and asked of it at once.
    pub limits: Limits,
}

/// How much is accepted of a server, and asked of it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How large one message may be.
    pub message_bytes: usize,
    /// How many calls may be in flight on one connection; further ones wait.
    pub requests_in_flight: usize,
    /// How many questions of it may be open on one connection.
    pub questions_in_flight: usize,
    /// How many messages may wait to be sent on one connection; what is said beyond them is refused.
    pub unsent_messages: usize,
    /// How many bytes these may be together.
    pub unsent_bytes: usize,
    /// How deep and wide the JSON of one message may be.
    pub json: scan::Limits,
    /// How long a connection over HTTP may take to be made.
    pub connect: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 64 << 20,
            requests_in_flight: 1024,
            questions_in_flight: 64,
            unsent_messages: 4096,
            unsent_bytes: 64 << 20,
            json: scan::Limits::DEFAULT,
            connect: Duration::from_secs(10),
        }
    }
}

impl Approach {
    /// An approach as `us` with nobody listening.
    pub fn new(us: Introduction) -> Self {
        Self {
            us,
            listener: Arc::new(Deaf),
            revision: None,
            probe: Duration::from_secs(10),
            deadline: Duration::from_secs(60),
            limits: Limits::default(),
        }
    }

    /// The search that it asks for.
    pub(crate) fn search(&self) -> Probe {
        match self.revision {
            Some(revision) => Probe::pinned(self.us.clone(), revision),
            None => Probe::new(self.us.clone()),
        }
    }

    /// The same approach with somebody listening.
    #[must_use]
    pub fn heard_by(self, listener: Arc<dyn Listener>) -> Self {
        Self { listener, ..self }
    }
}

impl fmt::Debug for Approach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approach").field("us", &self.us).field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// Starts a server and meets it.
pub async fn child(command: ServerCommand, approach: Approach) -> Result<Connection, Error> {
    let deadline = approach.deadline;
    let meeting = async {
        let mut probe = approach.search();
        loop {
            let started = command.clone().spawn();
            let (process, pipes) = started.map_err(|error| Error::new(Kind::Unreachable, error.to_string()))?;
            if let Some(id) = process.id() {
                approach.listener.started(id);
            }
            let reader = FrameLines::within(pipes.stdout, approach.limits.message_bytes, approach.limits.json);
            let writer = ChildFrames::new(pipes.stdin, process);
            let us = Arc::new(approach.us.clone());
            let link = duplex::Client::within(&approach.limits, us, reader, writer, Arc::clone(&approach.listener));
            match meet(&link, &mut probe, approach.probe, Restart::Possible).await? {
                Some(met) => return Ok(connection(met, &approach, link)),
                None => link.close().await,
            }
        }
    };
    time::timeout(deadline, meeting).await.unwrap_or_else(|_| Err(Error::overdue("starting the server", deadline)))
}

/// Serves `service` on a task of its own and meets it in memory.
pub async fn memory<S: Service>(service: Arc<S>, options: Options, approach: Approach) -> Result<Connection, Error> {
    let (theirs, ours) = memory::pair();
    // Ends with the link: when the other end is dropped, there is nothing left to read.
    tokio::spawn(duplex::serve(service, theirs.0, theirs.1, options));
    let (us, listener) = (Arc::new(approach.us.clone()), Arc::clone(&approach.listener));
    let link = duplex::Client::within(&approach.limits, us, ours.0, ours.1, listener);
    let probe = approach.search();
    over(link, approach, probe).await
}

/// Meets whoever is at the other end of a link.
pub(crate) async fn over(link: duplex::Client, approach: Approach, mut probe: Probe) -> Result<Connection, Error> {
    let met = time::timeout(approach.deadline, meet(&link, &mut probe, approach.probe, Restart::Impossible)).await;
    match met.unwrap_or_else(|_| Err(Error::overdue("meeting the server", approach.deadline)))? {
        Some(met) => Ok(connection(met, &approach, link)),
        None => Err(Error::closed("the server closed the link when it was asked what it is")),
    }
}

fn connection(met: (Arc<Introduction>, Meeting), approach: &Approach, link: duplex::Client) -> Connection {
    Connection::new(met.0, met.1, Arc::clone(&approach.listener), Wire::Duplex(link))
}

#[derive(Clone, Copy, PartialEq)]
enum Restart {
    Possible,
    Impossible,
}

/// Follows the probe to its end; `None` where the server must be started again first.
async fn meet(
    link: &duplex::Client,
    probe: &mut Probe,
    patience: Duration,
    restart: Restart,
) -> Result<Option<(Arc<Introduction>, Meeting)>, Error> {
    let mut next = probe.next();
    loop {
        match next {
            Next::Send(us, method, params) => {
                link.introduce(us)?;
                next = probe.came(ask(link, method, params, patience).await?);
            }
            Next::Restart if restart == Restart::Possible => return Ok(None),
            Next::Restart => return Err(link.ended().await),
            Next::Met(meeting) => {
                let us = Arc::new(probe.client().in_revision(meeting.revision));
                link.introduce(Arc::clone(&us))?;
                if meeting.revision.has(toolbay_protocol::Feature::Handshake) {
                    link.tell(Note { method: Method::Initialized, params: None })?;
                }
                return Ok(Some((us, meeting)));
            }
            Next::TwoEndpoints => return Err(Error::new(Kind::Incompatible, "the server is no MCP server")),
            Next::Failed(why) => {
                let epitaph = time::timeout(Duration::from_millis(600), link.ended()).await;
                let why = format!("no common ground with the server: {why}");
                return Err(epitaph.unwrap_or_else(|_| Error::new(Kind::Incompatible, why)));
            }
        }
    }
}

async fn ask(
    link: &duplex::Client,
    method: Method,
    params: toolbay_protocol::Raw,
    patience: Duration,
) -> Result<Came, Error> {
    // `initialize` may take as long as the whole meeting may.
    let silence = if method == Method::Discover { patience } else { Duration::from_secs(24 * 60 * 60) };
    let patience = Patience { silence, total: None };
    let mut call = link.call(Call { patience, ..Call::new(method, Some(params)) }).await?;
    loop {
        match call.step().await {
            Ok(Step::Done(outcome)) => return Ok(Came::Answer(outcome)),
            Ok(Step::Note(_) | Step::Away(_) | Step::Withdrawn(_) | Step::Ask(_)) => {}
            Err(error) if error.kind() == Kind::Overdue => return Ok(Came::Silence),
            Err(_) => return Ok(Came::End),
        }
    }
}
