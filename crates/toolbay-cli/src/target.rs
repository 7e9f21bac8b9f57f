//! Which servers a command means: those of a configuration, one at an address, or one that it starts itself.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use toolbay_gateway::{
    Bay, Identity, StateKey,
    catalog::Listed,
    config::{self, Child, Choice, Endpoint, Loaded, Remote, Surroundings, System, Url},
    embeddings,
    limits::Limits,
    meta::Exposure,
    registry::acquire,
    servers::{self, Phase, Spec},
    telemetry::Telemetry,
};
use toolbay_protocol::{Raw, Revision, greeting::Introduction};
use toolbay_transport::{Approach, Connection, connect, duplex};

use crate::{exit::Exit, show};

/// How long a server may take to answer with a page of a list.
pub(crate) const SILENCE: Duration = Duration::from_secs(60);

/// Where to look.
pub(crate) struct Wanted {
    pub(crate) config: Option<PathBuf>,
    pub(crate) url: Option<String>,
    pub(crate) command: Vec<String>,
}

impl From<&crate::args::Target> for Wanted {
    fn from(target: &crate::args::Target) -> Self {
        Self { config: target.config.clone(), url: target.url.clone(), command: target.command.clone() }
    }
}

/// A connection to what is meant, and the bay behind it where there is one.
pub(crate) struct Reached {
    pub(crate) connection: Connection,
    bay: Option<Bay>,
    /// The endpoint of the configuration that is asked what tools mean, where there is one.
    pub(crate) embeddings: Option<embeddings::Settings>,
}

impl Reached {
    /// Waits until it is decided of every server how it does, and says which are not there.
    pub(crate) async fn settled(&self) {
        if let Some(bay) = &self.bay {
            bay.settled().await;
            self.say_who_is_missing();
        }
    }

    /// Says which servers are not there: what was asked for may be theirs.
    pub(crate) fn say_who_is_missing(&self) {
        for status in self.bay.iter().flat_map(Bay::status) {
            let why = match status.phase {
                Phase::Failed(why) => why,
                Phase::Connecting => "it is still starting".to_owned(),
                Phase::Ready { .. } | Phase::Resting { .. } | Phase::Disabled => continue,
            };
            eprintln!("toolbay: server {:?} is not there: {}", status.server, show::safe(&why));
        }
    }

    /// The bay, where there is one.
    pub(crate) fn bay(&self) -> Option<&Bay> {
        self.bay.as_ref()
    }

    /// The definition of a tool; waits for servers only for as long as it is not there.
    pub(crate) async fn tool(&self, name: &str) -> Option<Raw> {
        if let Some(bay) = &self.bay {
            return bay.offered(Listed::Tools, name).await.map(|found| found.definition);
        }
        let tools = servers::whole(&self.connection, Listed::Tools, SILENCE).await.ok()?;
        tools.into_iter().find(|item| show::text(item, "name").as_deref() == Some(name))
    }

    /// Ends everything in order.
    pub(crate) async fn close(self) {
        self.connection.close().await;
        if let Some(bay) = self.bay {
            bay.close().await;
        }
    }
}

/// How we introduce ourselves.
pub(crate) fn identity() -> Identity {
    Identity { name: "toolbay".into(), version: env!("CARGO_PKG_VERSION").into() }
}

fn approach() -> Approach {
    let client = Raw::of(&serde_json::json!({"name": "toolbay", "version": env!("CARGO_PKG_VERSION")}));
    Approach::new(Introduction { client: Some(client), ..Introduction::anonymous(Revision::LATEST) })
}

/// Connects to what is meant; servers of a configuration are not waited for.
pub(crate) async fn reach(wanted: Wanted) -> Result<Reached, Exit> {
    let endpoint = match (wanted.url, wanted.command.split_first()) {
        (Some(url), _) => {
            let url = Url::parse(&url).map_err(|error| Exit::usage(error.to_string()))?;
            Some(Endpoint::Http(Remote::bare(url)))
        }
        (None, Some((command, args))) => Some(Endpoint::Child(Child::literal(command, args.iter().cloned()))),
        (None, None) => None,
    };
    if let Some(endpoint) = endpoint {
        let connection = servers::endpoint(endpoint)(approach()).await;
        let connection = connection.map_err(|error| Exit::unreachable(error.to_string()))?;
        return Ok(Reached { connection, bay: None, embeddings: None });
    }
    let Configured { specs, limits, embeddings, .. } = configured(wanted.config.as_deref())?;
    let bay = open(specs, limits)?;
    let connection = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach()).await;
    let connection = connection.map_err(|error| Exit::failed(error.to_string()))?;
    Ok(Reached { connection, bay: Some(bay), embeddings })
}

/// The key that replicas share, so that each takes up what another gave a caller to carry.
const STATE_KEY: &str = "TOOLBAY_STATE_KEY";

/// That key as it was set, where it was.
pub(crate) fn state_key() -> Result<Option<(StateKey, String)>, Exit> {
    let Ok(text) = std::env::var(STATE_KEY) else { return Ok(None) };
    let key = StateKey::parse(&text).map_err(|error| Exit::config(format!("{STATE_KEY} is set wrong: {error}")))?;
    Ok(Some((key, text.trim().to_owned())))
}

/// Opens a bay.
pub(crate) fn open(specs: Vec<Spec>, limits: Limits) -> Result<Bay, Exit> {
    open_observed(specs, limits, None)
}

/// The same, and what happens is told to a collector.
pub(crate) fn open_observed(specs: Vec<Spec>, limits: Limits, telemetry: Option<&Telemetry>) -> Result<Bay, Exit> {
    let random = |error| Exit::failed(format!("the system has no random numbers: {error}"));
    let key = match state_key()? {
        Some((key, _)) => key,
        None => StateKey::random().map_err(random)?,
    };
    Bay::open_observed(&identity(), specs, &key, limits, telemetry).map_err(random)
}

/// A configuration that was read.
pub(crate) struct Configured {
    pub(crate) specs: Vec<Spec>,
    pub(crate) limits: Limits,
    /// Whom to tell what happens, where the file says so.
    pub(crate) telemetry: config::Telemetry,
    /// What clients are shown of all tools.
    pub(crate) expose: Exposure,
    /// Where servers are looked for that are not there.
    pub(crate) acquire: acquire::Settings,
    /// Whom to ask what tools and requests mean, where the file says so.
    pub(crate) embeddings: Option<embeddings::Settings>,
    /// What the host may do, and with which model.
    pub(crate) host: config::Host,
    /// The file; none where the embedded servers are meant.
    pub(crate) file: Option<PathBuf>,
}

/// Reads the configuration; the servers are embedded ones where there is none.
pub(crate) fn configured(config: Option<&Path>) -> Result<Configured, Exit> {
    let here = std::env::current_dir().map_err(|error| Exit::config(format!("the current folder is gone: {error}")))?;
    let variable = |name: &str| std::env::var(name).ok();
    let around = Surroundings { folder: &here, system: System::here(), variable: &variable };
    let choice = config.map_or(Choice::Usual, |file| Choice::Named(file.to_owned()));
    let Loaded { mut config, warnings, file } =
        config::load(&choice, &around).map_err(|error| Exit::config(error.to_string()))?;
    for warning in warnings {
        eprintln!("{}", show::dim(&warning.to_string()));
    }
    // Their time was over while nobody looked; who follows the file takes them out of it.
    config.leave_out_expired(SystemTime::now());
    let specs = match file {
        Some(_) => config.servers.iter().map(Spec::configured).collect(),
        None => embedded(&here)?,
    };
    let file = file.map(|file| here.join(file));
    let config::Running { limits, telemetry, expose, acquire, embeddings, host, .. } = config;
    Ok(Configured { specs, limits, telemetry, expose, acquire, embeddings, host, file })
}

/// What is served where nothing is configured.
fn embedded(folder: &Path) -> Result<Vec<Spec>, Exit> {
    let root = toolbay_builtins::filesystem::Root::open(folder);
    let root = root.map_err(|error| Exit::config(format!("the current folder cannot be served: {error}")))?;
    Ok(vec![
        Spec::embedded("filesystem", Arc::new(toolbay_builtins::filesystem::server(root))),
        Spec::embedded("time", Arc::new(toolbay_builtins::time::server())),
    ])
}
