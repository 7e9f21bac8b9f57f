//! Servers that can be started: resolved, checked, and impossible to hold wrong.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use http::HeaderMap;
use toolbay_protocol::Revision;

use crate::{
    embeddings,
    limits::{Limits, PerServer},
    meta::Exposure,
    registry::acquire::Settings,
};

use super::{
    error::Reason, expand::Expanded, host::Host, secret::Secret, service::Service, source::Place, telemetry::Telemetry,
    tool::Tool, url::Url,
};

/// A configuration that was resolved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Running {
    /// The servers, in the order of the file, each name once.
    pub servers: Vec<Server>,
    /// The limits of the gateway.
    pub limits: Limits,
    /// Where servers are looked for that are not here.
    pub acquire: Settings,
    /// What clients are shown of all tools.
    pub expose: Exposure,
    /// Whom to tell what happens.
    pub telemetry: Telemetry,
    /// Whom to ask what tools and requests mean, where there is one.
    pub embeddings: Option<embeddings::Settings>,
    /// What the host may do, and with which model.
    pub host: Host,
}

/// One server of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Its name in the file.
    pub name: String,
    /// Where in the file it begins.
    pub place: Place,
    /// What to do about it.
    pub setup: Setup,
    /// How long it may take to be ready, where the file says so.
    pub startup_timeout: Option<Duration>,
    /// How long a call to it may take, where the file says so.
    pub timeout: Option<Duration>,
    /// What else it may do, and how much of it.
    pub limits: PerServer,
    /// Who shares a connection to it with whom, where the file says so.
    pub isolation: Option<Isolation>,
    /// Under which names its tools and prompts are public.
    pub names: Names,
    /// The one revision to speak with it, where the file says so.
    pub revision: Option<Revision>,
    /// When it is started.
    pub start: Start,
    /// What else is said of it, where it is an entry of the registry.
    pub tool: Option<Tool>,
}

impl Running {
    /// Leaves out the entries of the registry whose time is over at that moment; their names.
    pub fn leave_out_expired(&mut self, now: SystemTime) -> Vec<String> {
        let gone = self.servers.extract_if(.., |server| server.tool.as_ref().is_some_and(|tool| tool.is_over(now)));
        gone.map(|server| server.name).collect()
    }
}

/// When a server is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// With Toolbay.
    #[default]
    AtOnce,
    /// With the first request that needs it: a list, or a call of something that nobody offers yet.
    OnDemand,
}

impl Start {
    /// How each is written.
    pub const WORDS: [(&'static str, Self); 2] = [("at-once", Self::AtOnce), ("on-demand", Self::OnDemand)];
}

/// Under which names a server's tools and prompts are public.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// `server__name`.
    #[default]
    Prefixed,
    /// As the server has them. One server of a configuration alone: with two, a name could lead to one today and, while
    /// that one is away, to the other.
    Own,
    /// As an entry of the registry has them: a tool that has the entry's own name is public under it alone, all others are
    /// prefixed.
    Entry,
}

impl Names {
    /// How each is written.
    pub const WORDS: [(&'static str, Self); 2] = [("prefixed", Self::Prefixed), ("own", Self::Own)];
}

/// Who shares a connection to a server that opens with a handshake. Servers without one keep nothing between requests, so
/// that it does not matter there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Everybody: the server cannot tell users apart, and can ask none of them anything.
    Shared,
    /// Each session has its own; requests that stand alone share one per user.
    PerSession,
    /// Each device of a user has its own, and so has each user.
    PerDevice,
    /// Each user has its own, one for each set of capabilities declared.
    #[default]
    PerUser,
}

impl Isolation {
    /// How each is written.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("shared", Self::Shared),
        ("per-session", Self::PerSession),
        ("per-device", Self::PerDevice),
        ("per-user", Self::PerUser),
    ];
}

/// Whether a server is to be started.
#[derive(Clone, Debug, PartialEq)]
pub enum Setup {
    /// Start it so.
    Ready(Endpoint),
    /// The file turns it off.
    Disabled,
    /// It cannot be started as it is written; show the reason and go on with the others.
    Broken(Reason),
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum Endpoint {
    /// A child process that speaks on its standard input and output.
    Child(Child),
    /// Streamable HTTP; a server that does not know it is tried again in the older way.
    Http(Remote),
    /// The older HTTP+SSE, and nothing else.
    Sse(Remote),
    /// A service that does not speak the protocol, or may not.
    Service(Box<Service>),
}

/// A program to start.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// The program: a name to be looked up in `PATH`, or an absolute path.
    pub command: Expanded,
    /// Its arguments, handed over as they are: no shell reads them.
    pub args: Vec<Expanded>,
    /// Variables to set, beside the few that every child inherits.
    pub env: Vec<(String, Secret)>,
    /// The folder to start it in, absolute; without one, our own.
    pub cwd: Option<PathBuf>,
    /// The folder that each session of a device has, where `${SESSION_DIR}` stands for it.
    pub session_dir: Option<SessionDir>,
}

/// The folder of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionDir {
    /// What becomes of it when the session ends.
    pub keeping: Keeping,
}

/// What becomes of the folder of a session when that ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// It is removed.
    Nothing,
    /// It is there again with the next session of the device, beneath this folder.
    At(PathBuf),
}

impl Child {
    /// A program and arguments as given on a command line, taken as they are.
    pub fn literal(command: impl Into<String>, args: impl IntoIterator<Item = String>) -> Self {
        Self {
            command: Expanded::literal(command),
            args: args.into_iter().map(Expanded::literal).collect(),
            env: Vec::new(),
            cwd: None,
            session_dir: None,
        }
    }

    /// The same with a folder in the place of `${SESSION_DIR}`.
    pub(crate) fn within(&self, folder: &Path) -> Self {
        let folder = folder.to_string_lossy();
        let filled = |text: &str| text.replace(SESSION_DIR, &folder);
        Self {
            args: self.args.iter().map(|arg| arg.clone().standing_for(filled(arg.value()))).collect(),
            env: self.env.iter().map(|(name, value)| (name.clone(), Secret::new(filled(value.reveal())))).collect(),
            ..self.clone()
        }
    }
}

/// What stands for the folder of a session until there is one.
pub(super) const SESSION_DIR: &str = "${SESSION_DIR}";

/// An address to call.
#[derive(Clone, Debug, PartialEq)]
pub struct Remote {
    /// The address.
    pub url: Url,
    /// Headers to send with each request; every value is marked as sensitive and is not printed.
    pub headers: HeaderMap,
}

impl Remote {
    /// An address without headers of its own.
    pub fn bare(url: Url) -> Self {
        Self { url, headers: HeaderMap::new() }
    }
}
