//! Whose request this is: path, verb, media types, size, era. The first rule that a request breaks answers it.

use std::sync::Arc;

use bytes::{Buf, Bytes};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header, request};
use toolbay_protocol::{Era, Feature, Frame, Raw, Revision, greeting::envelope};

use super::{
    body::Body,
    endpoint::Shared,
    fields, guard, legacy_sse,
    media::{self, Accepts},
    modern,
    options::{Path, Refused},
    read,
    respond::{self, Refusal},
    session::{self, Message},
};
use crate::{Principal, Service};

/// Answers one request.
pub(super) async fn answer<S, B>(shared: &Arc<Shared<S>>, request: Request<B>) -> Response<Body>
where
    S: Service,
    B: http_body::Body + Send,
    B::Data: Buf + Send,
{
    let (mut head, body) = request.into_parts();
    // The headers go where the request goes.
    let origin = head.headers.get(header::ORIGIN).cloned();
    let mut response = match guard::check(&head, &shared.options) {
        Err(refusal) => return refusal.into(),
        Ok(()) => match guard::preflight(&head) {
            Some(response) => response,
            None => admitted(shared, &mut head, body).await.unwrap_or_else(Into::into),
        },
    };
    guard::share(origin, &mut response);
    response
}

/// What a path leads to.
enum Place {
    Endpoint,
    Stream,
    Messages,
}

fn place(path: &str, options: &super::Options) -> Option<Place> {
    let path = path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(path);
    match (&options.path, &options.sse) {
        (Path::At(at), _) if **at == *path => Some(Place::Endpoint),
        (_, Some(pair)) if *pair.stream == *path => Some(Place::Stream),
        (_, Some(pair)) if *pair.messages == *path => Some(Place::Messages),
        (Path::Anywhere, _) => Some(Place::Endpoint),
        (Path::At(_), _) => None,
    }
}

async fn admitted<S, B>(shared: &Arc<Shared<S>>, head: &mut request::Parts, body: B) -> Result<Response<Body>, Refusal>
where
    S: Service,
    B: http_body::Body + Send,
    B::Data: Buf + Send,
{
    let path = head.uri.path();
    let Some(place) = place(path, &shared.options) else {
        let page = matches!(head.method, Method::GET | Method::HEAD)
            .then(|| shared.options.pages.at(path, head.uri.query().unwrap_or_default()));
        let page = page.flatten().map(|page| respond::page(page.status, page.kind, page.text));
        return page.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "there is no endpoint at this path"));
    };
    let principal = shared.options.admit.judge(head).map_err(refused)?;
    match (place, &head.method) {
        (Place::Endpoint, &Method::POST) => {
            let accepts = accepts(&head.headers)?;
            let text = json(shared, head, body).await?;
            Ok(post(shared, head, principal, accepts, &text).await)
        }
        (Place::Endpoint, &Method::GET) => session::get(shared, head, session_of(head)?, &principal),
        (Place::Endpoint, &Method::DELETE) => session::delete(shared, session_of(head)?, &principal),
        (Place::Endpoint, _) => Err(not_allowed("GET, POST, DELETE")),
        (Place::Stream, &Method::GET) => legacy_sse::open(shared, head, principal),
        (Place::Stream, _) => Err(not_allowed("GET")),
        (Place::Messages, &Method::POST) => {
            let text = json(shared, head, body).await?;
            legacy_sse::post(shared, head, &principal, &text).await
        }
        (Place::Messages, _) => Err(not_allowed("POST")),
    }
}

fn refused(refused: Refused) -> Refusal {
    let refusal = Refusal::new(refused.status, refused.message);
    match refused.challenge {
        Some(challenge) => refusal.with(header::WWW_AUTHENTICATE, challenge),
        None => refusal,
    }
}

pub(super) fn not_allowed(verbs: &'static str) -> Refusal {
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("this endpoint takes {verbs} here"));
    refusal.with(header::ALLOW, HeaderValue::from_static(verbs))
}

fn accepts(headers: &HeaderMap) -> Result<Accepts, Refusal> {
    let accepts = Accepts::read(headers);
    if accepts.is_deaf() {
        let what = "`Accept` must allow application/json or text/event-stream, best both";
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, what));
    }
    Ok(accepts)
}

async fn json<S, B>(shared: &Shared<S>, head: &request::Parts, body: B) -> Result<Bytes, Refusal>
where
    B: http_body::Body + Send,
    B::Data: Buf + Send,
{
    if !media::is_json(&head.headers) {
        let what = "`Content-Type` must be application/json (UTF-8, not compressed)";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
    }
    read::whole(body, &shared.options).await
}

async fn post<S: Service>(
    shared: &Arc<Shared<S>>,
    head: &mut request::Parts,
    principal: Principal,
    accepts: Accepts,
    text: &Bytes,
) -> Response<Body> {
    let named = era_of(&head.headers);
    match Frame::parse_batch(text, shared.options.json) {
        None => {
            let message = Frame::parse_within(text, shared.options.json);
            let params = match &message {
                Ok(Frame::Request { params, .. } | Frame::Notification { params, .. }) => params.as_ref(),
                Ok(Frame::Result { .. } | Frame::Error { .. }) | Err(_) => None,
            };
            match era(named, params) {
                Era::Modern => modern::serve(shared, head, principal, accepts, message).await,
                Era::Legacy => session::post(shared, head, principal, accepts, Message::One(message)).await,
            }
        }
        Some(batch) => match named {
            Era::Modern => {
                let fault = toolbay_protocol::Fault::envelope("this revision takes one message at a time, no array");
                super::respond::fault(StatusCode::BAD_REQUEST, None, fault)
            }
            Era::Legacy => session::post(shared, head, principal, accepts, Message::Batch(batch)).await,
        },
    }
}

/// The era that the header names: a version that opens with a handshake, or none, is how a legacy client sends.
fn era_of(headers: &HeaderMap) -> Era {
    let legacy = |value: &HeaderValue| {
        let date = std::str::from_utf8(value.as_bytes().trim_ascii()).unwrap_or_default();
        Revision::parse(date).is_some_and(|revision| revision.has(Feature::Handshake))
    };
    if headers.get_all(&fields::VERSION).iter().all(legacy) { Era::Legacy } else { Era::Modern }
}

/// The envelope before the header before the method: `initialize` with an envelope is a modern request, and one with a
/// legacy version in its header is a legacy one.
fn era(named: Era, params: Option<&Raw>) -> Era {
    match named {
        Era::Legacy if envelope::is_modern(params) => Era::Modern,
        named => named,
    }
}

/// The session that a GET or DELETE names. Those verbs exist in sessions alone: for anybody else there is only POST.
fn session_of(head: &request::Parts) -> Result<&str, Refusal> {
    match (era_of(&head.headers), session::named(&head.headers)?) {
        (Era::Legacy, Some(session)) => Ok(session),
        (Era::Legacy, None) if head.headers.contains_key(&fields::VERSION) => Err(session::nameless()),
        (Era::Legacy, None) | (Era::Modern, _) => Err(not_allowed("POST")),
    }
}
