//! `server/discover`: what a server says of itself where nothing is opened.

use super::{Meeting, Profile};
use crate::{
    raw::{Kind, Object, Raw},
    revision::{Era, Revision},
};

/// A server's side: the result of `server/discover`; the stamps of every modern result are added with it.
pub fn describe(profile: &Profile) -> Raw {
    let versions: Vec<_> = Revision::of(Era::Modern).map(Revision::as_str).collect();
    let mut result = Object::with_capacity(512);
    result.put_value("supportedVersions", &versions);
    result.put("capabilities", &profile.capabilities_in(Revision::LATEST));
    if let Some(instructions) = &profile.instructions {
        result.put_text("instructions", instructions);
    }
    result.finish()
}

/// What a client makes of a result of `server/discover`.
#[derive(Debug, PartialEq)]
pub enum Discovered {
    /// A modern server with a revision that we speak.
    Met(Meeting),
    /// Only revisions that open with a handshake.
    OnlyLegacy,
    /// Only revisions that we do not know; what they are.
    Unknown(Vec<String>),
    /// Nothing that a modern server would say.
    NotDiscovery,
}

/// A client's side: reads a result of `server/discover`.
pub fn discovered(result: &Raw) -> Discovered {
    let some = |key: &str| result.get(key).filter(|value| value.kind() != Kind::Null);
    let Some(versions) = some("supportedVersions").and_then(|all| all.read::<Vec<String>>().ok()) else {
        return Discovered::NotDiscovery;
    };
    let Some(capabilities) = some("capabilities").filter(|all| all.kind() == Kind::Object) else {
        return Discovered::NotDiscovery;
    };
    let Some(revision) = Revision::newest_of(Era::Modern, versions.iter().map(String::as_str)) else {
        let legacy = |date: &String| Revision::parse(date).is_some();
        return if !versions.is_empty() && versions.iter().all(legacy) {
            Discovered::OnlyLegacy
        } else {
            Discovered::Unknown(versions)
        };
    };
    let meta = some("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"));
    let instructions = some("instructions").and_then(|text| text.as_text().map(Into::into));
    let profile = Profile { server: meta.unwrap_or(Raw::EMPTY), capabilities, instructions };
    Discovered::Met(Meeting { revision, profile })
}
