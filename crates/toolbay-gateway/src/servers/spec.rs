//! How to reach a server: from its configuration, or because it is one of our own.

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use toolbay_protocol::greeting::Introduction;
use toolbay_transport::{
    Approach, Connection, Error, Kind, Listener, Service, connect, duplex,
    http::client::{self, Reach, Target},
    stdio::child::{OnLine, ServerCommand},
};

use crate::{
    config::{Answering, Child, Endpoint, Isolation, Names, Remote, Server, Setup, Start},
    limits::{Bounds, Devices, PerServer},
    registry,
    sessions::{Folder, Session},
};

/// Connects, as often as it is asked to.
pub type Connector =
    Arc<dyn Fn(Approach) -> Pin<Box<dyn Future<Output = Result<Connection, Error>> + Send>> + Send + Sync>;

/// A server that can be connected.
#[derive(Clone)]
pub struct Spec {
    /// Its name, unlike any other's.
    pub name: Arc<str>,
    /// How it is reached, in a word.
    pub transport: &'static str,
    /// What to do about it.
    pub plan: Plan,
    /// The one revision to speak with it; without one, the newest that both sides know.
    pub revision: Option<toolbay_protocol::Revision>,
    /// How long it may take to be ready.
    pub startup: Duration,
    /// How long a call to it may stay silent.
    pub silence: Duration,
    /// Who shares a connection with whom, where it opens with a handshake.
    pub isolation: Isolation,
    /// Under which names its tools and prompts are public; one server of a bay alone may have its own.
    pub names: Names,
    /// When it is started.
    pub start: Start,
    /// How long nobody may need it before it is stopped (limit `idleStop`); nought where it is never.
    pub rest: Duration,
    /// How many connections it may have beside its first (limit `connections`).
    pub connections: usize,
    /// How long one of those is kept after it was used.
    pub idle: Duration,
    /// How many sessions of devices there may be, and how long (limits `devicesPerUser`, `deviceIdle`).
    pub devices: Devices,
    /// Its other limits.
    pub bounds: Bounds,
    /// What the configuration says of it, where it is one of the configuration.
    pub written: Option<Arc<Server>>,
}

/// What to do about a server.
#[derive(Clone)]
pub enum Plan {
    /// Connect it so.
    Connect(Connector),
    /// Nothing; it is turned off.
    Disabled,
    /// Nothing; its configuration is wrong, and how.
    Broken(String),
}

impl Spec {
    /// A server of the configuration.
    pub fn configured(server: &Server) -> Self {
        // Who adds an entry names a place; who owns a public name does not thereby name one in here.
        let reach = if server.tool.is_some() { Reach::AsNamed } else { Reach::Anywhere };
        let (transport, plan) = match &server.setup {
            Setup::Disabled => ("-", Plan::Disabled),
            Setup::Broken(reason) => ("-", Plan::Broken(reason.to_string())),
            Setup::Ready(endpoint) => (transport(endpoint), Plan::Connect(reached(endpoint.clone(), reach))),
        };
        Self {
            startup: server.startup_timeout.unwrap_or(server.limits.startup),
            silence: server.timeout.unwrap_or_else(|| server.limits.silence.max(polled(server))),
            connections: server.limits.connections,
            idle: server.limits.idle,
            rest: server.limits.rest,
            start: server.start,
            devices: server.limits.devices,
            bounds: server.limits.bounds,
            written: Some(Arc::new(server.clone())),
            isolation: server.isolation.unwrap_or_default(),
            names: server.names,
            revision: server.revision,
            ..Self::planned(&server.name, transport, plan)
        }
    }

    /// A server in this process.
    pub fn embedded<S: Service>(name: &str, service: Arc<S>) -> Self {
        Self::planned(name, "embedded", Plan::Connect(embedded(service)))
    }

    /// A server with which to do as planned, within the usual limits.
    pub fn planned(name: &str, transport: &'static str, plan: Plan) -> Self {
        let PerServer { startup, silence, connections, idle, rest, devices, bounds } = PerServer::default();
        Self {
            name: name.into(),
            transport,
            plan,
            revision: None,
            startup,
            silence,
            isolation: Isolation::default(),
            names: Names::default(),
            start: Start::default(),
            rest,
            connections,
            idle,
            devices,
            bounds,
            written: None,
        }
    }
}

impl Spec {
    /// Its program, where that has a folder of its own for each session.
    fn program(&self) -> Option<&Child> {
        match &self.written.as_ref()?.setup {
            Setup::Ready(Endpoint::Child(child)) if child.session_dir.is_some() => Some(child),
            Setup::Ready(_) | Setup::Disabled | Setup::Broken(_) => None,
        }
    }

    /// How it is connected for a session of a device, where that is not as always.
    pub(super) fn connector_of(&self, session: &Session) -> Result<Option<Connector>, Error> {
        let Some(child) = self.program() else { return Ok(None) };
        let Some(dir) = &child.session_dir else { return Ok(None) };
        let folder = session.folder(dir).map_err(|error| unmade(&error))?;
        Ok(Some(endpoint(Endpoint::Child(child.within(&folder)))))
    }

    /// How it is connected for its lists, with a folder for that, where that is not as always.
    pub(super) fn connector_of_lists(&self) -> Result<Option<(Connector, Folder)>, Error> {
        let Some(child) = self.program() else { return Ok(None) };
        let folder = Folder::passing().map_err(|error| unmade(&error))?;
        Ok(Some((endpoint(Endpoint::Child(child.within(folder.path()))), folder)))
    }
}

fn unmade(error: &std::io::Error) -> Error {
    Error::new(Kind::Unreachable, format!("the folder of its session (`${{SESSION_DIR}}`) cannot be made: {error}"))
}

/// How a server is approached: who hears it, and within which limits.
pub(super) fn approach(spec: &Spec, us: Introduction, listener: Arc<dyn Listener>) -> Approach {
    let limits = spec.bounds.connection();
    Approach { deadline: spec.startup, limits, ..Approach::new(us).heard_by(listener) }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spec").field("name", &self.name).field("transport", &self.transport).finish_non_exhaustive()
    }
}

/// How a server is reached that is a child of ours.
pub(super) const CHILD: &str = "stdio";

fn transport(endpoint: &Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Child(_) => CHILD,
        Endpoint::Http(_) => "http",
        Endpoint::Sse(_) => "sse",
        Endpoint::Service(service) => match service.answering {
            Answering::AtOnce => "rest",
            Answering::Polled(_) | Answering::Unknown(_) => "sse",
        },
    }
}

/// How long a call may be silent because its service is polled.
fn polled(server: &Server) -> Duration {
    match &server.setup {
        Setup::Ready(Endpoint::Service(service)) => match &service.answering {
            Answering::Polled(polling) | Answering::Unknown(polling) => {
                polling.interval.saturating_mul(polling.attempts).saturating_add(LAST_LOOK)
            }
            Answering::AtOnce => Duration::ZERO,
        },
        Setup::Ready(_) | Setup::Disabled | Setup::Broken(_) => Duration::ZERO,
    }
}

/// How long the call and the last look of a service that is polled may take beside.
const LAST_LOOK: Duration = Duration::from_secs(30);

/// Connects an endpoint of the configuration.
pub fn endpoint(endpoint: Endpoint) -> Connector {
    reached(endpoint, Reach::Anywhere)
}

fn reached(endpoint: Endpoint, reach: Reach) -> Connector {
    match endpoint {
        Endpoint::Child(child) => Arc::new(move |approach: Approach| {
            let listener = Arc::clone(&approach.listener);
            let mut command = ServerCommand::new(child.command.value());
            command = command.args(child.args.iter().map(|arg| arg.value().to_owned()));
            for (name, value) in &child.env {
                command = command.env(name, value.reveal());
            }
            if let Some(folder) = &child.cwd {
                command = command.folder(folder);
            }
            let command = command.on_stderr(OnLine::new(move |line| listener.stderr(line)));
            Box::pin(connect::child(command, approach))
        }),
        Endpoint::Http(remote) => over_http(remote, client::Mode::Auto, reach),
        Endpoint::Sse(remote) => over_http(remote, client::Mode::LegacySse, reach),
        Endpoint::Service(service) => registry::connector(*service),
    }
}

fn over_http(remote: Remote, mode: client::Mode, reach: Reach) -> Connector {
    Arc::new(move |approach: Approach| {
        let connect::Limits { message_bytes, requests_in_flight, questions_in_flight, json, connect, .. } =
            approach.limits;
        let limits = client::Limits { message_bytes, connect, requests_in_flight, questions_in_flight, json };
        let target =
            Target { headers: remote.headers.clone(), mode, limits, reach, ..Target::new(remote.url.uri().clone()) };
        Box::pin(client::connect(target, approach))
    })
}

/// Connects a service in this process.
pub fn embedded<S: Service>(service: Arc<S>) -> Connector {
    Arc::new(move |approach: Approach| {
        Box::pin(connect::memory(Arc::clone(&service), duplex::Options::default(), approach))
    })
}
