//! Whose a session is: user, device, server.

use std::{fmt, sync::Arc};

use sha2::{Digest as _, Sha256};
use toolbay_protocol::greeting::Device;
use toolbay_transport::{Caller, Principal};

use crate::servers::Open;

/// Whose a session at a server is. Two keys that differ in anything have nothing in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The user, as proven.
    pub user: Principal,
    /// The device, as stated by its client, or what stands in for it.
    pub client: ClientUid,
    /// The server, or the entry of the registry, by its name in the configuration.
    pub tool: Arc<str>,
}

/// A device of a user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientUid {
    /// The client says which.
    Stated(Device),
    /// It does not say: its session with us stands in for it.
    Session(McpSession),
    /// It neither says so nor has a session: all such requests of a user are one device.
    Alone,
}

/// A session of a client with us, for as long as it is open, and after that no other.
#[derive(Clone)]
pub struct McpSession {
    open: Open,
    name: Arc<str>,
}

/// Whose a session at one server is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Holder {
    pub(crate) user: Principal,
    pub(crate) client: ClientUid,
}

impl SessionKey {
    /// The key under which `caller` is at a server.
    pub fn of(caller: &Caller, tool: &str) -> Self {
        Holder::of(caller).at(tool.into())
    }

    /// The same for whoever may not know what it is made of, and the same each time. Sessions of clients may have names
    /// that others had before: `salt` tells those apart.
    pub(super) fn opaque(&self, salt: &[u8]) -> String {
        let mut digest = Sha256::new();
        let mut part = |text: &str| {
            digest.update(text.len().to_le_bytes());
            digest.update(text);
        };
        part("toolbay device");
        match &self.user {
            Principal::Local => part("local"),
            Principal::Named(name) => {
                part("named");
                part(name);
            }
        }
        match &self.client {
            ClientUid::Stated(device) => {
                part("stated");
                part(device.as_str());
            }
            ClientUid::Session(session) => {
                part("session");
                part(&session.name);
            }
            ClientUid::Alone => part("alone"),
        }
        part(&self.tool);
        digest.update(salt);
        digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl ClientUid {
    pub(crate) fn of(caller: &Caller) -> Self {
        match (caller.device(), &caller.session) {
            (Some(device), _) => Self::Stated(device.clone()),
            (None, Some(name)) => Self::Session(McpSession { open: Open::of(caller), name: Arc::clone(name) }),
            (None, None) => Self::Alone,
        }
    }
}

impl McpSession {
    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    pub(crate) fn is(&self, open: &Open) -> bool {
        self.open == *open
    }
}

impl PartialEq for McpSession {
    fn eq(&self, other: &Self) -> bool {
        self.open == other.open
    }
}

impl Eq for McpSession {}

impl std::hash::Hash for McpSession {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.open.hash(state);
    }
}

impl fmt::Debug for McpSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.name, f)
    }
}

impl Holder {
    pub(crate) fn of(caller: &Caller) -> Self {
        Self { user: caller.principal.clone(), client: ClientUid::of(caller) }
    }

    pub(crate) fn at(self, tool: Arc<str>) -> SessionKey {
        SessionKey { user: self.user, client: self.client, tool }
    }
}
