//! Whether a modern request may reach its service; the first rule that it breaks counts. Not for what its parameters mean.
// spec: 2026-07-28 basic/transports/streamable-http

use std::{iter, sync::Arc};

use http::{HeaderMap, HeaderValue};
use toolbay_protocol::{
    Fault, Method, Raw,
    fault::Misuse,
    greeting::{Profile, envelope},
    headers::{self, METHOD, Mirrored, Mismatch, NAME, Reason, VERSION},
    peer,
};

use super::endpoint::Shared;
use crate::{Caller, Principal, Service};

/// Judges a request; the first rule that it breaks counts.
pub(super) fn judge<S: Service>(
    shared: &Shared<S>,
    profile: &Profile,
    headers: &HeaderMap,
    principal: Principal,
    method: &Method,
    params: Option<&Raw>,
) -> Result<Arc<Caller>, Fault> {
    once(headers)?;
    mirrored(headers, method, params)?;
    let introduction = Arc::new(envelope::read(params)?);
    let caller = Arc::new(Caller { introduction, principal, session: None });
    // No key twice before a parameter is compared: what is compared must be what the service reads.
    peer::sound(params)?;
    if *method == Method::ToolsCall {
        mirrored_params(shared, headers, &caller, params)?;
    }
    profile.admits(method, caller.introduction.revision)?;
    Ok(caller)
}

/// All values of a header.
pub(super) type Values<'h> = iter::Map<http::header::ValueIter<'h, HeaderValue>, fn(&HeaderValue) -> &[u8]>;

pub(super) fn values<'h>(headers: &'h HeaderMap) -> impl Fn(&str) -> Values<'h> {
    |name| headers.get_all(name).iter().map(HeaderValue::as_bytes as fn(&HeaderValue) -> &[u8])
}

/// No routing header twice: two readers could see two values.
fn once(headers: &HeaderMap) -> Result<(), Fault> {
    for (name, source) in [(VERSION, "the protocolVersion of _meta"), (METHOD, "method"), (NAME, "params")] {
        if headers.get_all(name).iter().nth(1).is_some() {
            return Err(mismatch(&Mismatch { header: name.into(), source: source.into(), reason: Reason::Repeated }));
        }
    }
    Ok(())
}

pub(super) fn mismatch(mismatch: &Mismatch) -> Fault {
    Fault::Misuse(Misuse::Header(mismatch.to_string().into()))
}

/// The headers say what the body says; before that, the body says it at all.
fn mirrored(headers: &HeaderMap, method: &Method, params: Option<&Raw>) -> Result<(), Fault> {
    let version = envelope::complete(params)?;
    let version = version.as_text().unwrap_or_else(|| String::from_utf8_lossy(version.as_bytes()));
    let name = method.named_by().and_then(|key| params?.get(key));
    let name = name.as_ref().and_then(Raw::as_text);
    let body = Mirrored { version: &version, method: method.as_str(), name: name.as_deref() };
    headers::check_request(&body, values(headers)).map_err(|unlike| mismatch(&unlike))
}

fn mirrored_params<S: Service>(
    shared: &Shared<S>,
    headers: &HeaderMap,
    caller: &Arc<Caller>,
    params: Option<&Raw>,
) -> Result<(), Fault> {
    let name = params.and_then(|params| params.get("name"));
    let Some(name) = name.as_ref().and_then(Raw::as_text) else { return Ok(()) };
    let Some(plan) = shared.service.header_plan(caller, &name) else { return Ok(()) };
    let arguments = params.and_then(|params| params.get("arguments"));
    let arguments = arguments.as_ref().map(Raw::as_bytes);
    plan.check(arguments, values(headers)).map_err(|unlike| mismatch(&unlike))
}
