//! The ways between a client and a server: what carries their messages, and whether the bay stands between them.

use std::{
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use tokio::{net::TcpListener, sync::Notify};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity,
    config::{Child, Endpoint, Expanded, Remote, Secret, Url},
    servers::{Plan, Spec, endpoint},
};
use toolbay_protocol::{
    ErrorObject, Raw, Revision,
    exchange::{Ask, Outcome},
    greeting::Introduction,
    method::TASKS,
    watch::Change,
};
use toolbay_transport::{
    Approach, Connection, Listener, Service, connect, duplex,
    http::server,
    stdio::{
        own::{OwnInput, OwnOutput},
        wire::{FrameLines, LineFrames},
    },
};

use crate::play::Play;

/// Says to this program, started again, which part to play; then the revision of the server behind the bay.
const ROLE: &str = "TOOLBAY_DIFFERENTIAL";

/// What carries the messages, on both sides of the bay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Carrier {
    Memory,
    Stdio,
    Http,
}

impl Carrier {
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Stdio, Self::Http];
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
pub(crate) struct Ears(pub(crate) Mutex<Vec<Change>>, pub(crate) Notify);

impl Listener for Ears {
    fn changed(&self, change: Change) {
        self.0.lock().unwrap().push(change);
        self.1.notify_one();
    }

    fn asked(&self, ask: Ask) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(async move { Err(ErrorObject::internal(format!("{} out of place", ask.method))) })
    }
}

fn approach(revision: Revision) -> (Approach, Arc<Ears>) {
    let capabilities = json!({
        "elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {},
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
    Endpoint::Child(Child { command, args: vec![], env, cwd: None })
}

async fn listen<S: Service>(service: Arc<S>, end: &CancellationToken) -> Endpoint {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server::serve(listener, server::Endpoint::new(service, server::Options::default()), end.clone()));
    Endpoint::Http(Remote::bare(Url::parse(&format!("http://{address}/mcp")).unwrap()))
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

impl Place {
    /// The client at the server itself.
    pub(crate) async fn direct(carrier: Carrier, revision: Revision) -> Self {
        let (play, end) = (Arc::<Play>::default(), CancellationToken::new());
        let (approach, ears) = approach(revision);
        let client = match carrier {
            Carrier::Memory => connect::memory(play, duplex::Options::default(), approach).await,
            Carrier::Stdio => endpoint(again("play"))(approach).await,
            Carrier::Http => endpoint(listen(play, &end).await)(approach).await,
        };
        Self { client: client.unwrap(), revision, prefix: "", ears, bay: None, end }
    }

    /// The client of revision `down` at the bay, and the server of revision `up` behind it.
    pub(crate) async fn through(carrier: Carrier, down: Revision, up: Revision) -> Self {
        let (play, end) = (Arc::<Play>::default(), CancellationToken::new());
        let (approach, ears) = approach(down);
        let (client, bay) = match carrier {
            Carrier::Memory => {
                let bay = bay(Spec::embedded("s", play), up).await;
                (connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await, Some(bay))
            }
            Carrier::Stdio => (endpoint(again(up.as_str()))(approach).await, None),
            Carrier::Http => {
                let bay = bay(planned(listen(play, &end).await), up).await;
                (endpoint(listen(Arc::new(bay.clone()), &end).await)(approach).await, Some(bay))
            }
        };
        Self { client: client.unwrap(), revision: down, prefix: "s__", ears, bay, end }
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
    Bay(Revision),
}

/// Which part it plays, if any.
pub(crate) fn role() -> Option<Role> {
    let role = std::env::var(ROLE).ok()?;
    Some(Revision::parse(&role).map_or(Role::Play, Role::Bay))
}

impl Role {
    pub(crate) async fn play(self) {
        match self {
            Self::Play => over_stdio(Arc::new(Play::default())).await,
            Self::Bay(revision) => {
                let bay = bay(planned(again("play")), revision).await;
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
