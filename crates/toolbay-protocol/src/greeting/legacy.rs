//! The handshake: `initialize`, its answer, `notifications/initialized`.

use super::{Device, Introduction, Meeting, Profile, envelope};
use crate::{
    fault::Fault,
    raw::{Kind, Object, Raw},
    revision::{Feature, Revision},
};

/// A server's side: reads `initialize` and writes its result (spec: basic/lifecycle).
pub fn answer(params: Option<&Raw>, profile: &Profile) -> Result<(Introduction, Raw), Fault> {
    let member = |key: &str| params.and_then(|params| params.get(key)).filter(|value| value.kind() != Kind::Null);
    let offered = member("protocolVersion");
    let offered = offered.as_ref().and_then(Raw::as_text);
    let offered = offered.ok_or_else(|| Fault::params("`initialize` needs a string `protocolVersion`"))?;
    let revision = Revision::answer_to(&offered);
    let capabilities = member("capabilities").filter(|all| all.kind() == Kind::Object).unwrap_or(Raw::EMPTY);
    let device = Device::read(member("_meta").and_then(|meta| meta.get(envelope::DEVICE)).as_ref())?;
    let introduction = Introduction { revision, client: member("clientInfo"), capabilities, device };
    let mut result = Object::with_capacity(512);
    result.put_text("protocolVersion", revision.as_str());
    result.put("capabilities", &profile.capabilities_in(revision));
    result.put("serverInfo", &in_revision(&profile.server, revision));
    if let Some(instructions) = &profile.instructions {
        result.put_text("instructions", instructions);
    }
    Ok((introduction, result.finish()))
}

/// A client's side: the parameters of `initialize`.
pub fn offer(us: &Introduction) -> Raw {
    let mut params = Object::with_capacity(256);
    params.put_text("protocolVersion", us.revision.as_str());
    params.put("capabilities", &us.capabilities);
    let nameless = || Raw::of(&serde_json::json!({"name": "unnamed", "version": "0"}));
    params.put("clientInfo", &in_revision(&us.client.clone().unwrap_or_else(nameless), us.revision));
    if let Some(device) = &us.device {
        let mut meta = Object::with_capacity(64);
        meta.put_text(envelope::DEVICE, device.as_str());
        params.put("_meta", &meta.finish());
    }
    params.finish()
}

/// A client's side: reads the result of `initialize`; a revision that we do not speak ends the meeting.
pub fn accept(result: &Raw) -> Result<Meeting, String> {
    let some = |key: &str| result.get(key).filter(|value| value.kind() != Kind::Null);
    let date = some("protocolVersion");
    let date = date.as_ref().and_then(Raw::as_text).ok_or("its answer to `initialize` names no protocolVersion")?;
    let revision = Revision::parse(&date).filter(|revision| revision.has(Feature::Handshake));
    let revision = revision.ok_or_else(|| format!("it answers `initialize` with revision {date:?}, unknown here"))?;
    let instructions = some("instructions").and_then(|text| text.as_text().map(Into::into));
    let capabilities = some("capabilities").filter(|all| all.kind() == Kind::Object).unwrap_or(Raw::EMPTY);
    let server = some("serverInfo").unwrap_or(Raw::EMPTY);
    Ok(Meeting { revision, profile: Profile { server, capabilities, instructions } })
}

/// An `Implementation` without what `revision` does not know.
fn in_revision(implementation: &Raw, revision: Revision) -> Raw {
    let mut gone: Vec<(&str, Option<&Raw>)> = vec![];
    if !revision.has(Feature::Titles) {
        gone.push(("title", None));
    }
    if !revision.has(Feature::ImplementationDetails) {
        gone.extend([("icons", None), ("description", None), ("websiteUrl", None)]);
    }
    if gone.is_empty() { implementation.clone() } else { implementation.with(&gone) }
}
