//! `initialize`: a session begins.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Response, StatusCode};
use toolbay_protocol::{Fault, Frame, Id, Raw, frame::Noted, greeting::legacy, peer, watch::Filter};

use super::{
    super::{body::Body, endpoint::Shared, fields::SESSION, media::Accepts, respond},
    record::Session,
    table::{look_after, mint},
};
use crate::{Caller, Principal, Service, device};

/// Opens a session.
pub(super) async fn initialize<S: Service>(
    shared: &Arc<Shared<S>>,
    (principal, accepts, headers): (Principal, Accepts, &HeaderMap),
    id: Id,
    params: Option<Raw>,
) -> Response<Body> {
    let (profile, allowance) = (shared.service.profile(), shared.options.allowance);
    let met = peer::sound(params.as_ref(), Noted::default()).and_then(|_| legacy::answer(params.as_ref(), &profile));
    let met = met.and_then(|(introduction, result)| {
        let introduction = device::noted(introduction, headers)?;
        Ok((introduction.kept(allowance.introduction_bytes)?, result))
    });
    let (introduction, result) = match met {
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
    let session = Arc::new(Session::new(Arc::clone(&caller), shared.options.replay, allowance));
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
