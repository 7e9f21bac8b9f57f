//! How to reach a server: from its configuration, or because it is one of our own.

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use toolbay_transport::{
    Approach, Connection, Error, Service, connect, duplex,
    http::client::{self, Target},
    stdio::child::{OnLine, ServerCommand},
};

use crate::config::{Endpoint, Isolation, Names, Remote, Server, Setup};

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
    /// How many connections it may have beside its first (limit `connections`).
    pub connections: usize,
    /// How long one of those is kept after it was used.
    pub idle: Duration,
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

const STARTUP: Duration = Duration::from_secs(60);
const SILENCE: Duration = Duration::from_secs(60);
const CONNECTIONS: usize = 64;
const IDLE: Duration = Duration::from_secs(300);

impl Spec {
    /// A server of the configuration.
    pub fn configured(server: &Server) -> Self {
        let (transport, plan) = match &server.setup {
            Setup::Disabled => ("-", Plan::Disabled),
            Setup::Broken(reason) => ("-", Plan::Broken(reason.to_string())),
            Setup::Ready(endpoint) => (transport(endpoint), Plan::Connect(self::endpoint(endpoint.clone()))),
        };
        Self {
            startup: server.startup_timeout.unwrap_or(STARTUP),
            silence: server.timeout.unwrap_or(SILENCE),
            isolation: server.isolation.unwrap_or_default(),
            names: server.names,
            ..Self::planned(&server.name, transport, plan)
        }
    }

    /// A server in this process.
    pub fn embedded<S: Service>(name: &str, service: Arc<S>) -> Self {
        Self::planned(name, "embedded", Plan::Connect(embedded(service)))
    }

    /// A server with which to do as planned, within the usual limits.
    pub fn planned(name: &str, transport: &'static str, plan: Plan) -> Self {
        Self {
            name: name.into(),
            transport,
            plan,
            revision: None,
            startup: STARTUP,
            silence: SILENCE,
            isolation: Isolation::default(),
            names: Names::default(),
            connections: CONNECTIONS,
            idle: IDLE,
        }
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spec").field("name", &self.name).field("transport", &self.transport).finish_non_exhaustive()
    }
}

fn transport(endpoint: &Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Child(_) => "stdio",
        Endpoint::Http(_) => "http",
        Endpoint::Sse(_) => "sse",
    }
}

/// Connects an endpoint of the configuration.
pub fn endpoint(endpoint: Endpoint) -> Connector {
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
        Endpoint::Http(remote) => over_http(remote, client::Mode::Auto),
        Endpoint::Sse(remote) => over_http(remote, client::Mode::LegacySse),
    }
}

fn over_http(remote: Remote, mode: client::Mode) -> Connector {
    Arc::new(move |approach: Approach| {
        let target = Target { headers: remote.headers.clone(), mode, ..Target::new(remote.url.uri().clone()) };
        Box::pin(client::connect(target, approach))
    })
}

/// Connects a service in this process.
pub fn embedded<S: Service>(service: Arc<S>) -> Connector {
    Arc::new(move |approach: Approach| {
        Box::pin(connect::memory(Arc::clone(&service), duplex::Options::default(), approach))
    })
}
