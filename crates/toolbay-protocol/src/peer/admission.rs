//! Whether a request may reach the service at all; the first rule that it breaks counts.

use std::sync::Arc;

use super::sound::Sound;
use crate::{
    exchange::Level,
    fault::Fault,
    greeting::{Introduction, Profile, envelope::Envelope},
    method::{Method, Sender, Sort},
    raw::Raw,
};

/// Admits a request that carries the envelope: envelope complete, version known, method known and advertised.
pub fn admit_modern(method: &Method, envelope: &Envelope, profile: &Profile) -> Result<Arc<Introduction>, Fault> {
    let introduction = envelope.introduction()?;
    profile.admits(method, introduction.revision)?;
    Ok(Arc::new(introduction))
}

/// Admits a request in a session: method known in its revision and advertised, parameters [`sound`](super::sound).
pub fn admit_legacy(
    method: &Method,
    params: Option<&Raw>,
    sound: Result<Sound, Fault>,
    session: &Introduction,
    profile: &Profile,
) -> Result<Sound, Fault> {
    if method.sort() == Some(Sort::Notification) || method.sender() == Some(Sender::Server) {
        return Err(Fault::method(method));
    }
    profile.admits(method, session.revision)?;
    let sound = sound?;
    if *method == Method::SetLevel {
        let level = params.and_then(|params| params.get("level"));
        let known = level.as_ref().and_then(Raw::as_text).and_then(|name| Level::parse(&name));
        known.ok_or_else(|| Fault::params("`level` must be one of the eight levels of syslog"))?;
    }
    Ok(sound)
}
