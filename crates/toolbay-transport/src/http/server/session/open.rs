//! `initialize`: a session begins.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use toolbay_protocol::{
    Fault, Frame, Id, Raw,
    frame::Noted,
    greeting::{Introduction, legacy},
    peer,
    scan::Limits,
    watch::Filter,
};

use super::{
    super::{body::Body, endpoint::Shared, fields::SESSION, media::Accepts, respond},
    record::Session,
    table::{look_after, mint},
};
use crate::{Caller, Principal, Service, device};

/// How much a client may say of itself (limit `introduction_bytes`): it is kept for as long as the session lasts.
const INTRODUCTION: usize = 64 << 10;

/// Opens a session.
pub(super) async fn initialize<S: Service>(
    shared: &Arc<Shared<S>>,
    (principal, accepts, headers): (Principal, Accepts, &HeaderMap),
    id: Id,
    params: Option<Raw>,
) -> Response<Body> {
    let profile = shared.service.profile();
    let met = peer::sound(params.as_ref(), Noted::default()).and_then(|_| legacy::answer(params.as_ref(), &profile));
    let met = met.and_then(|(introduction, result)| Ok((device::noted(introduction, headers)?, result)));
    let (introduction, result) = match met.and_then(|(introduction, result)| Ok((kept(introduction)?, result))) {
        Ok(met) => met,
        Err(fault @ Fault::Malformed(_)) => return respond::fault(StatusCode::BAD_REQUEST, Some(id), fault),
        Err(fault) => return respond::fault(StatusCode::OK, Some(id), fault),
    };
    let name = match mint() {
        Ok(name) => name,
        Err(refusal) => return refusal.of(&id).into(),
    };
    let introduction = Arc::new(introduction);
    let caller = Arc::new(Caller { introduction, principal, session: Some(Arc::clone(&name)), device: None });
    let session = Arc::new(Session::new(Arc::clone(&caller), shared.options.replay));
    let attached = match shared.sessions.insert(Arc::clone(&name), &session) {
        Ok(attached) => attached,
        Err(refusal) => return refusal.of(&id).into(),
    };
    look_after(shared);
    shared.service.joined(&caller);
    let filter = Filter::lists().honoured_by(&profile);
    if !filter.is_empty()
        && let Ok(watch) = shared.service.watch(&caller, filter).await
    {
        attached.state().watches.add(watch);
    }
    let frame = Frame::reply(id, Ok(result));
    let mut response = if accepts.json { respond::json(StatusCode::OK, &frame) } else { respond::one_event(&frame) };
    let name = HeaderValue::from_str(&name).expect("it is made of hexadecimal digits");
    response.headers_mut().insert(SESSION.clone(), name);
    response
}

/// A copy of an introduction that holds no more of the request than it needs.
fn kept(introduction: Introduction) -> Result<Introduction, Fault> {
    let Introduction { revision, client, capabilities, device } = introduction;
    let size = client.as_ref().map_or(0, |client| client.as_bytes().len()) + capabilities.as_bytes().len();
    if size > INTRODUCTION {
        return Err(Fault::params(format!(
            "the client says more than {INTRODUCTION} bytes of itself (limit `introduction_bytes`)"
        )));
    }
    let copy = |raw: Raw| Raw::parse(Bytes::copy_from_slice(raw.as_bytes()), Limits::DEFAULT).unwrap_or(raw);
    Ok(Introduction { revision, client: client.map(copy), capabilities: copy(capabilities), device })
}
