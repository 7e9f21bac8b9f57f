//! The ways between a client and a server: what carries their messages, and whether the bay stands between them.

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity,
    config::{Child, Endpoint, Expanded, Secret},
    servers::{Plan, Spec, endpoint},
};
use toolbay_protocol::{
    ErrorObject, Feature, Raw, Revision,
    exchange::{Ask, Note, Outcome},
    greeting::Introduction,
    method::TASKS,
    watch::Change,
};
use toolbay_transport::{
    Approach, Connection, Listener, Service, connect, duplex,
    stdio::{
        own::{OwnInput, OwnOutput},
        wire::{FrameLines, LineFrames},
    },
};

use crate::{
    play::Play,
    web::{self, Line},
};

/// Says to this program, started again, which part to play: the server, or the bay, with the server's revision and what
/// carries its messages.
const ROLE: &str = "TOOLBAY_DIFFERENTIAL";

/// What carries the messages on one side of the bay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Carrier {
    Memory,
    Stdio,
    /// The two endpoints of 2024-11-05.
    Sse,
    Http,
    /// Streamable HTTP whose streams break off after each event: the client comes back for the rest.
    Cut,
}

impl Carrier {
    pub(crate) const ALL: [Self; 5] = [Self::Memory, Self::Stdio, Self::Sse, Self::Http, Self::Cut];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Stdio => "stdio",
            Self::Sse => "sse",
            Self::Http => "http",
            Self::Cut => "cut",
        }
    }

    /// Those that carry a revision. A stream of 2026-07-28 that broke off cannot be taken up again.
    pub(crate) fn of(revision: Revision) -> impl Iterator<Item = Self> {
        let sessions = revision.has(Feature::Handshake);
        Self::ALL.into_iter().filter(move |carrier| sessions || !matches!(carrier, Self::Sse | Self::Cut))
    }
}

/// One end of the bay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) carrier: Carrier,
    pub(crate) revision: Revision,
}

/// A client, connected.
pub(crate) struct Place {
    pub(crate) client: Connection,
    pub(crate) revision: Revision,
    /// What stands before the names of the server's tools.
    pub(crate) prefix: &'static str,
    pub(crate) ears: Arc<Ears>,
    bay: Option<Bay>,
    end: CancellationToken,
}

/// What a client hears beside its calls.
#[derive(Default)]
pub(crate) struct Ears {
    pub(crate) changes: Mutex<Vec<Change>>,
    pub(crate) notes: Mutex<Vec<Note>>,
    pub(crate) told: Notify,
}

impl Listener for Ears {
    fn changed(&self, change: Change) {
        self.changes.lock().unwrap().push(change);
        self.told.notify_one();
    }

    fn noted(&self, note: Note) {
        self.notes.lock().unwrap().push(note);
        self.told.notify_one();
    }

    fn asked(&self, ask: Ask) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(async move { Err(ErrorObject::internal(format!("{} out of place", ask.method))) })
    }
}

fn approach(revision: Revision) -> (Approach, Arc<Ears>) {
    let roots = if revision.has(Feature::Handshake) { json!({"listChanged": true}) } else { json!({}) };
    let capabilities = json!({
        "elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": roots,
        "extensions": {TASKS: {}, "io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}
    });
    let us = Introduction { capabilities: Raw::of(&capabilities), ..Introduction::anonymous(revision) };
    let ears = Arc::<Ears>::default();
    let mut approach = Approach::new(us).heard_by(Arc::clone(&ears) as Arc<dyn Listener>);
    approach.revision = Some(revision);
    (approach, ears)
}

/// This program again, in another part.
fn again(role: &str) -> Endpoint {
    let program = std::env::current_exe().unwrap();
    let env = vec![(ROLE.to_owned(), Secret::new(role))];
    let command = Expanded::literal(program.to_str().unwrap());
    Endpoint::Child(Child { command, args: vec![], env, cwd: None, session_dir: None })
}

async fn bay(spec: Spec, revision: Revision) -> Bay {
    let spec = Spec { revision: Some(revision), ..spec };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    bay.settled().await;
    bay
}

fn planned(endpoint_of: Endpoint) -> Spec {
    Spec::planned("s", "-", Plan::Connect(endpoint(endpoint_of)))
}

/// The bay, with the server behind it on this side.
async fn bay_before(up: Side, end: &CancellationToken) -> Bay {
    let play = Arc::<Play>::default();
    let spec = match up.carrier {
        Carrier::Memory => Spec::embedded("s", play),
        Carrier::Stdio => planned(again("play")),
        Carrier::Sse => planned(web::listen(play, Line::Pair, end).await),
        Carrier::Http => planned(web::listen(play, Line::Whole, end).await),
        Carrier::Cut => planned(web::listen(play, Line::Cut, end).await),
    };
    bay(spec, up.revision).await
}

impl Place {
    /// The client at the server itself.
    pub(crate) async fn direct(Side { carrier, revision }: Side) -> Self {
        let (play, end) = (Arc::<Play>::default(), CancellationToken::new());
        let (approach, ears) = approach(revision);
        let client = match carrier {
            Carrier::Memory => connect::memory(play, duplex::Options::default(), approach).await,
            Carrier::Stdio => endpoint(again("play"))(approach).await,
            Carrier::Sse => endpoint(web::listen(play, Line::Pair, &end).await)(approach).await,
            Carrier::Http => endpoint(web::listen(play, Line::Whole, &end).await)(approach).await,
            Carrier::Cut => endpoint(web::listen(play, Line::Cut, &end).await)(approach).await,
        };
        Self { client: client.unwrap(), revision, prefix: "", ears, bay: None, end }
    }

    /// The client on one side of the bay, and the server on the other.
    pub(crate) async fn through(down: Side, up: Side) -> Self {
        let end = CancellationToken::new();
        let (approach, ears) = approach(down.revision);
        if down.carrier == Carrier::Stdio {
            let role = format!("{} {}", up.revision, up.carrier.name());
            let client = endpoint(again(&role))(approach).await.unwrap();
            return Self { client, revision: down.revision, prefix: "s__", ears, bay: None, end };
        }
        let bay = bay_before(up, &end).await;
        let service = Arc::new(bay.clone());
        let client = match down.carrier {
            Carrier::Memory | Carrier::Stdio => connect::memory(service, duplex::Options::default(), approach).await,
            Carrier::Sse => endpoint(web::listen(service, Line::Pair, &end).await)(approach).await,
            Carrier::Http => endpoint(web::listen(service, Line::Whole, &end).await)(approach).await,
            Carrier::Cut => endpoint(web::listen(service, Line::Cut, &end).await)(approach).await,
        };
        Self { client: client.unwrap(), revision: down.revision, prefix: "s__", ears, bay: Some(bay), end }
    }

    pub(crate) async fn close(&self) {
        self.client.close().await;
        if let Some(bay) = &self.bay {
            bay.close().await;
        }
        self.end.cancel();
    }
}

/// A part that this program plays for another one of itself.
pub(crate) enum Role {
    Play,
    Bay(Side),
}

/// Which part it plays, if any.
pub(crate) fn role() -> Option<Role> {
    let role = std::env::var(ROLE).ok()?;
    let Some((revision, carrier)) = role.split_once(' ') else { return Some(Role::Play) };
    let carrier = Carrier::ALL.into_iter().find(|known| known.name() == carrier).unwrap();
    Some(Role::Bay(Side { carrier, revision: Revision::parse(revision).unwrap() }))
}

impl Role {
    pub(crate) async fn play(self) {
        match self {
            Self::Play => over_stdio(Arc::new(Play::default())).await,
            Self::Bay(side) => {
                let bay = bay_before(side, &CancellationToken::new()).await;
                over_stdio(Arc::new(bay.clone())).await;
                // Whoever plays the server ends with us, but not before it was told.
                let _ = tokio::time::timeout(Duration::from_secs(5), bay.close()).await;
            }
        }
    }
}

async fn over_stdio<S: Service>(service: Arc<S>) {
    let (input, output) = (OwnInput::open().unwrap(), OwnOutput::open().unwrap());
    let options = duplex::Options { grace: Duration::from_secs(1), ..duplex::Options::default() };
    // The other end leaves whenever it likes.
    let _ = duplex::serve(service, FrameLines::new(input), LineFrames::new(output), options).await;
}
