//! The members of `_meta` in which every modern request says what a handshake says once (spec: basic/index).

use super::Introduction;
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

/// The version as written, if the envelope is complete; whether it holds what it should is not asked yet.
pub fn complete(params: Option<&Raw>) -> Result<Raw, Fault> {
    let meta = params.and_then(|params| params.get("_meta")).filter(|meta| meta.kind() == Kind::Object);
    let member = |key: &str| {
        let found = meta.as_ref().and_then(|meta| meta.get(key));
        found.ok_or_else(|| Fault::params(format!("`_meta` must carry {key:?}")))
    };
    let version = member(PROTOCOL_VERSION)?;
    member(CLIENT_CAPABILITIES)?;
    Ok(version)
}

/// Reads the envelope; the first fault of spec: basic/index counts: complete, version a string, version known.
pub fn read(params: Option<&Raw>) -> Result<Introduction, Fault> {
    let meta = params.and_then(|params| params.get("_meta")).filter(|meta| meta.kind() == Kind::Object);
    let member = |key: &str| meta.as_ref().and_then(|meta| meta.get(key));
    let missing = |key: &str| Fault::params(format!("`_meta` must carry {key:?}"));
    let version = member(PROTOCOL_VERSION).ok_or_else(|| missing(PROTOCOL_VERSION))?;
    let capabilities = member(CLIENT_CAPABILITIES).ok_or_else(|| missing(CLIENT_CAPABILITIES))?;
    if capabilities.kind() != Kind::Object {
        return Err(Fault::params(format!("{CLIENT_CAPABILITIES:?} must be an object")));
    }
    let date = version.as_text().ok_or_else(|| Fault::params(format!("{PROTOCOL_VERSION:?} must be a string")))?;
    let revision = Revision::parse(&date)
        .filter(|revision| revision.has(Feature::Stateless))
        .ok_or_else(|| Fault::Unsupported(Unsupported::Version(date.as_ref().into())))?;
    Ok(Introduction { revision, client: member(CLIENT_INFO), capabilities })
}
