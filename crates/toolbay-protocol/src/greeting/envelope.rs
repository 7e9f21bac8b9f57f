//! The members of `_meta` in which every modern request says what a handshake says once (spec: basic/index).

use super::{Device, Introduction};
use crate::{
    fault::{Fault, Unsupported},
    raw::{Kind, Raw},
    revision::{Feature, Revision},
};

/// The revision that the request speaks.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who the client is.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// From which level on the request wants log lines.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// On which of its user's devices the client is: a word of ours, optional in every request and in `initialize`.
pub const DEVICE: &str = "io.toolbay/client";

/// Whether `key` is one of the four.
pub fn is_envelope_key(key: &str) -> bool {
    matches!(key, PROTOCOL_VERSION | CLIENT_CAPABILITIES | CLIENT_INFO | LOG_LEVEL)
}

/// Whether a request is a modern one: the version's key is there, whatever it holds.
pub fn is_modern(params: Option<&Raw>) -> bool {
    params.and_then(|params| params.get("_meta")).is_some_and(|meta| meta.get(PROTOCOL_VERSION).is_some())
}

/// The version that a modern request states, as written.
pub fn stated_version(params: Option<&Raw>) -> Option<Raw> {
    params?.get("_meta")?.get(PROTOCOL_VERSION)
}

/// The members of `_meta` that mean something to whoever takes a request in, found in one walk and not judged yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Envelope {
    /// The revision that the request speaks.
    pub version: Option<Raw>,
    /// What the client can do.
    pub capabilities: Option<Raw>,
    /// Who the client is.
    pub client: Option<Raw>,
    /// From which level on the request wants log lines.
    pub log_level: Option<Raw>,
    /// Under which token the request wants progress.
    pub progress_token: Option<Raw>,
    /// On which device the client is.
    pub device: Option<Raw>,
}

impl Envelope {
    /// The envelope that `_meta` holds; a fault where a key stands twice.
    pub fn of(meta: Option<&Raw>) -> Result<Self, Fault> {
        let Some(meta) = meta else { return Ok(Self::default()) };
        let keys = [PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, "progressToken", DEVICE];
        let [version, capabilities, client, log_level, progress_token, device] = meta.gather(keys)?;
        Ok(Self { version, capabilities, client, log_level, progress_token, device })
    }

    /// The version and the capabilities as written, or what is missing.
    pub fn complete(&self) -> Result<(&Raw, &Raw), Fault> {
        let missing = |key: &str| Fault::params(format!("`_meta` must carry {key:?}"));
        let version = self.version.as_ref().ok_or_else(|| missing(PROTOCOL_VERSION))?;
        let capabilities = self.capabilities.as_ref().ok_or_else(|| missing(CLIENT_CAPABILITIES))?;
        Ok((version, capabilities))
    }

    /// What the client says of itself; the first fault of spec: basic/index counts: complete, version a string, version
    /// known.
    pub fn introduction(&self) -> Result<Introduction, Fault> {
        let (version, capabilities) = self.complete()?;
        if capabilities.kind() != Kind::Object {
            return Err(Fault::params(format!("{CLIENT_CAPABILITIES:?} must be an object")));
        }
        let date = version.as_text().ok_or_else(|| Fault::params(format!("{PROTOCOL_VERSION:?} must be a string")))?;
        let revision = Revision::parse(&date)
            .filter(|revision| revision.has(Feature::Stateless))
            .ok_or_else(|| Fault::Unsupported(Unsupported::Version(date.as_ref().into())))?;
        let device = Device::read(self.device.as_ref())?;
        Ok(Introduction { revision, client: self.client.clone(), capabilities: capabilities.clone(), device })
    }
}

/// Reads the envelope of a request.
pub fn read(params: Option<&Raw>) -> Result<Introduction, Fault> {
    let meta = params.and_then(|params| params.get("_meta"));
    Envelope::of(meta.as_ref())?.introduction()
}
