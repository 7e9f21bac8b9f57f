//! What a host of a bay can know of the sessions, and do about them.

use std::{
    error, fmt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde_json::Value;

use super::{
    key::{Holder, SessionKey},
    session::{Session, Visitor},
    table::Full,
};
use crate::{
    Bay,
    config::Isolation,
    servers::{Plan, Server},
};

/// How many bytes of JSON may be kept with a session.
const DATA: usize = 64 << 10;

/// What is known of a session at a server.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    /// Whose it is.
    pub key: SessionKey,
    /// A number that no other session has.
    pub number: u64,
    /// Since when it is open.
    pub since: SystemTime,
    /// When it was used last.
    pub last_used: SystemTime,
    /// How long ago that was.
    pub idle: Duration,
    /// Whether its connection is open at the moment.
    pub connected: bool,
    /// How the server names it, where it does.
    pub upstream: Option<Arc<str>>,
    /// Its own folder, where its program has one.
    pub folder: Option<PathBuf>,
    /// What a host keeps with it.
    pub data: Option<Value>,
}

/// Why there is no such session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSession {
    /// No server has that name, or it is disabled, or cannot be started.
    Unknown(Arc<str>),
    /// Its isolation is another one.
    Shared(Arc<str>),
    /// All of the user's devices are in use, as many as may be (limit `devicesPerUser`).
    Full(usize),
    /// What is to be kept with it has more bytes than this.
    TooLarge(usize),
}

impl fmt::Display for NoSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(tool) => write!(f, "no server or tool {tool:?} is enabled"),
            Self::Shared(tool) => {
                write!(f, "{tool:?} keeps no sessions per device; its `isolation` would have to be `per-device`")
            }
            Self::Full(most) => write!(
                f,
                "the user has {most} devices in use there (limit `devicesPerUser`); end one, or raise the limit"
            ),
            Self::TooLarge(most) => write!(f, "more than {most} bytes cannot be kept with a session"),
        }
    }
}

impl error::Error for NoSession {}

impl Bay {
    /// What is known of the session under a key, where there is one.
    pub fn get_session(&self, key: &SessionKey) -> Option<SessionInfo> {
        let server = self.0.server(&key.tool)?;
        Some(server.devices.find(&holder(key))?.info())
    }

    /// Keeps something with the session under a key, `null` for nothing; the session is begun where there is none. It is
    /// connected by its first call.
    pub fn set_session(&self, key: &SessionKey, data: Value) -> Result<SessionInfo, NoSession> {
        let server = self.0.server(&key.tool).filter(|server| matches!(server.spec.plan, Plan::Connect(_)));
        let server = server.ok_or_else(|| NoSession::Unknown(Arc::clone(&key.tool)))?;
        if server.spec.isolation != Isolation::PerDevice {
            return Err(NoSession::Shared(Arc::clone(&key.tool)));
        }
        if data.to_string().len() > DATA {
            return Err(NoSession::TooLarge(DATA));
        }
        let session = server.devices.enter(&holder(key), Visitor::Nobody).map_err(|full| match full {
            Full::Devices(most) => NoSession::Full(most),
            Full::Closed => NoSession::Unknown(Arc::clone(&key.tool)),
        })?;
        session.set(data);
        Ok(session.info())
    }

    /// Ends the session under a key: calls in flight end where they are, what comes after them begins anew. What was known
    /// of it, where there was one.
    pub fn clear_session(&self, key: &SessionKey) -> Option<SessionInfo> {
        let server = self.0.server(&key.tool)?;
        Some(server.devices.clear(&holder(key))?.info())
    }

    /// Every session of a device there is, in the order of the servers and of their beginning.
    pub fn device_sessions(&self) -> Vec<SessionInfo> {
        let of = |server: Arc<Server>| {
            let mut all = server.devices.all();
            all.sort_by_key(|session| session.number);
            all
        };
        self.0.in_order().flat_map(of).map(|session: Arc<Session>| session.info()).collect()
    }
}

fn holder(key: &SessionKey) -> Holder {
    Holder { user: key.user.clone(), client: key.client.clone() }
}
