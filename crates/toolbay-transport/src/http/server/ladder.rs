//! Whether a modern request may reach its service; the first rule that it breaks counts. Not for what its parameters mean.
// spec: 2026-07-28 basic/transports/streamable-http

use std::{iter, sync::Arc};

use http::{HeaderMap, HeaderValue, header::ValueIter};
use toolbay_protocol::{
    Fault, Method, Raw,
    exchange::Return,
    fault::Misuse,
    frame::{Noted, Part},
    greeting::{Profile, envelope::Envelope},
    headers::{self, METHOD, Mirrored, Mismatch, NAME, Reason, VERSION},
    peer::{Sound, sound},
};

use super::{endpoint::Shared, fields};
use crate::{Caller, Principal, Service, device};

/// A request that may reach its service, and what was found in it on the way.
pub(super) struct Judged {
    pub(super) caller: Arc<Caller>,
    pub(super) sound: Sound,
    pub(super) returning: Return,
}

/// Judges a request; the first rule that it breaks counts.
pub(super) fn judge<S: Service>(
    shared: &Shared<S>,
    profile: &Profile,
    headers: &HeaderMap,
    principal: Principal,
    method: &Method,
    (params, noted): (Option<&Raw>, Noted),
) -> Result<Judged, Fault> {
    // No key twice before anything is compared: what is compared must be what the service reads.
    let sound = sound(params, noted)?;
    once(headers)?;
    let empty = Raw::EMPTY;
    let params = params.unwrap_or(&empty);
    let name = sound.parts.named(method, params);
    let name = name.as_ref().and_then(Raw::as_text);
    mirrored(headers, method, &sound.envelope, name.as_deref())?;
    let introduction = Arc::new(device::noted(sound.envelope.introduction()?, headers)?);
    let caller = Arc::new(Caller { introduction, principal, session: None, device: None });
    if let (Method::ToolsCall, Some(name)) = (method, &name)
        && let Some(plan) = shared.service.header_plan(&caller, name)
    {
        let arguments = sound.parts.get(Part::Arguments, params);
        plan.check(arguments.as_ref().map(Raw::as_bytes), values(headers)).map_err(|unlike| mismatch(&unlike))?;
    }
    profile.admits(method, caller.introduction.revision)?;
    let [answers, state] = [Part::Responses, Part::State].map(|part| sound.parts.get(part, params));
    Ok(Judged { caller, sound, returning: Return::of(answers, state) })
}

/// All values of a header.
pub(super) type Values<'h> = iter::Map<ValueIter<'h, HeaderValue>, fn(&HeaderValue) -> &[u8]>;

pub(super) fn values<'h>(headers: &'h HeaderMap) -> impl Fn(&str) -> Values<'h> {
    |name| {
        let all = match name {
            VERSION => headers.get_all(&fields::VERSION),
            METHOD => headers.get_all(&fields::METHOD),
            NAME => headers.get_all(&fields::NAME),
            other => headers.get_all(other),
        };
        all.iter().map(HeaderValue::as_bytes as fn(&HeaderValue) -> &[u8])
    }
}

/// No routing header twice: two readers could see two values.
fn once(headers: &HeaderMap) -> Result<(), Fault> {
    for (name, field) in [(VERSION, &fields::VERSION), (METHOD, &fields::METHOD), (NAME, &fields::NAME)] {
        if headers.get_all(field).iter().nth(1).is_some() {
            let source = String::from("the body");
            return Err(mismatch(&Mismatch { header: name.into(), source, reason: Reason::Repeated }));
        }
    }
    Ok(())
}

pub(super) fn mismatch(mismatch: &Mismatch) -> Fault {
    Fault::Misuse(Misuse::Header(mismatch.to_string().into()))
}

/// The headers say what the body says; before that, the body says it at all.
fn mirrored(headers: &HeaderMap, method: &Method, envelope: &Envelope, name: Option<&str>) -> Result<(), Fault> {
    let (version, _) = envelope.complete()?;
    let version = version.as_text().unwrap_or_else(|| String::from_utf8_lossy(version.as_bytes()));
    let body = Mirrored { version: &version, method: method.as_str(), name };
    headers::check_request(&body, values(headers)).map_err(|unlike| mismatch(&unlike))
}
