//! POST in the legacy era: whose session, then what each message sets going.

use std::sync::Arc;

use http::{Response, StatusCode, request};
use toolbay_protocol::{
    ErrorObject, Fault, Feature, Frame, Id, Method, Raw,
    exchange::{Note, Outcome},
    frame::Rejected,
};

use super::{
    super::{body::Body, endpoint::Shared, fields::VERSION, media::Accepts, respond, respond::Refusal},
    begin::{self, Begun},
    open,
    record::Attached,
    table::{named, nameless},
    talker::Talker,
    waiting::{Shape, Waiting, one},
};
use crate::{Headers, Principal, Service};

/// The body of a POST.
#[derive(Debug)]
pub(in super::super) enum Message {
    /// One message.
    One(Result<Frame, Rejected>),
    /// An array.
    Batch(Vec<Result<Frame, Rejected>>),
}

/// Answers one POST.
pub(in super::super) async fn post<S: Service>(
    shared: &Arc<Shared<S>>,
    head: &mut request::Parts,
    principal: Principal,
    accepts: Accepts,
    message: Message,
) -> Response<Body> {
    let id = match &message {
        Message::One(Err(rejected)) => return respond::json(StatusCode::BAD_REQUEST, &rejected.clone().answer()),
        Message::One(Ok(Frame::Request { id, .. })) => Some(id.clone()),
        Message::One(Ok(_)) | Message::Batch(_) => None,
    };
    let refuse = |refusal: Refusal| match &id {
        Some(id) => refusal.of(id).into(),
        None => refusal.into(),
    };
    if id.is_some() && shared.is_closed() {
        return refuse(Refusal::closing());
    }
    match (message, named(&head.headers)) {
        (_, Err(refusal)) => refuse(refusal),
        (Message::One(Ok(Frame::Request { id, method: Method::Initialize, params, .. })), Ok(None)) => {
            open::initialize(shared, (principal, accepts, &head.headers), id, params).await
        }
        (_, Ok(None)) => refuse(nameless()),
        (message, Ok(Some(name))) => {
            match shared.sessions.find(name, &principal).and_then(|session| consistent(head, session)) {
                Ok(session) => {
                    let headers = Headers::of(std::mem::take(&mut head.headers));
                    within(shared, session, accepts, headers, message).await
                }
                Err(refusal) => refuse(refusal),
            }
        }
    }
}

/// Every version that is named may differ from the session's, which counts; but it is named once.
// spec: 2025-06-18 basic/transports
fn consistent(head: &request::Parts, session: Attached) -> Result<Attached, Refusal> {
    let repeated = head.headers.get_all(&VERSION).iter().nth(1).is_some();
    if repeated && session.has(Feature::VersionHeader) {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "`MCP-Protocol-Version` was sent more than once"));
    }
    Ok(session)
}

async fn within<S: Service>(
    shared: &Arc<Shared<S>>,
    session: Attached,
    accepts: Accepts,
    headers: Headers,
    message: Message,
) -> Response<Body> {
    match message {
        Message::One(Ok(Frame::Request { id, method, params, noted })) => {
            match begin::request(shared, &session, accepts, headers, (id.clone(), method, params), noted).await {
                Begun::Answered(frame) => one(accepts, &frame),
                Begun::Refused(fault) => respond::fault(StatusCode::BAD_REQUEST, Some(id), fault),
                Begun::Running(conversation) => {
                    let waiting = Waiting::new(shared, Talker::One(conversation), Shape::Object);
                    waiting.respond(session, accepts, vec![]).await
                }
            }
        }
        Message::One(Ok(Frame::Notification { method, params })) => {
            noted(shared, &session, method, params).await;
            respond::empty(StatusCode::ACCEPTED)
        }
        Message::One(Ok(Frame::Result { id, result })) => answered(&session, &id, Ok(result)),
        Message::One(Ok(Frame::Error { id: Some(id), error })) => {
            answered(&session, &id, Err(ErrorObject::read(&error)))
        }
        Message::One(Ok(Frame::Error { id: None, .. })) => respond::empty(StatusCode::ACCEPTED),
        Message::One(Err(rejected)) => respond::json(StatusCode::BAD_REQUEST, &rejected.answer()),
        Message::Batch(messages) => batch(shared, session, accepts, &headers, messages).await,
    }
}

async fn noted<S: Service>(shared: &Shared<S>, session: &Attached, method: Method, params: Option<Raw>) {
    if method == Method::Cancelled {
        let id = params.as_ref().and_then(|params| params.get("requestId")).and_then(|id| Id::read(&id));
        // spec: basic/utilities/cancellation, malformed ones are let by
        if let Some(id) = id {
            session.state().calls.cancel(&id);
        }
        return;
    }
    shared.service.note(&session.caller, Note { method, params }).await;
}

/// An answer that nobody waits for (any more) is dropped.
fn answered(session: &Attached, id: &Id, outcome: Outcome) -> Response<Body> {
    session.state().calls.answer(id, outcome);
    respond::empty(StatusCode::ACCEPTED)
}

/// Several messages at once, each as if it had come alone. spec: 2025-03-26 basic/transports
async fn batch<S: Service>(
    shared: &Arc<Shared<S>>,
    session: Attached,
    accepts: Accepts,
    headers: &Headers,
    messages: Vec<Result<Frame, Rejected>>,
) -> Response<Body> {
    let refuse = |what: String| respond::fault(StatusCode::BAD_REQUEST, None, Fault::envelope(what));
    if !session.has(Feature::Batch) {
        return refuse("this revision takes one message at a time, no array".into());
    }
    if messages.is_empty() {
        return refuse("a batch may not be empty".into());
    }
    // It could not be taken apart.
    if let [Err(rejected @ Rejected { id: None, .. })] = &messages[..] {
        return respond::json(StatusCode::BAD_REQUEST, &rejected.clone().answer());
    }
    let (mut answers, mut running) = (vec![], vec![]);
    for message in messages {
        match message {
            Ok(Frame::Request { id, method: Method::Initialize, .. }) => {
                let fault = Fault::order("`initialize` comes alone, never in a batch");
                answers.push(Frame::reply(id, Err(fault.into())));
            }
            Ok(Frame::Request { id, method, params, noted }) => {
                let message = (id.clone(), method, params);
                match begin::request(shared, &session, accepts, headers.clone(), message, noted).await {
                    Begun::Answered(frame) => answers.push(frame),
                    Begun::Refused(fault) => answers.push(Frame::reply(id, Err(fault.into()))),
                    Begun::Running(conversation) => running.push(conversation),
                }
            }
            Ok(Frame::Notification { method, params }) => noted(shared, &session, method, params).await,
            Ok(Frame::Result { id, result }) => session.state().calls.answer(&id, Ok(result)),
            Ok(Frame::Error { id: Some(id), error }) => {
                session.state().calls.answer(&id, Err(ErrorObject::read(&error)));
            }
            Ok(Frame::Error { id: None, .. }) => {}
            Err(rejected) => answers.push(rejected.answer()),
        }
    }
    if answers.is_empty() && running.is_empty() {
        return respond::empty(StatusCode::ACCEPTED);
    }
    let talker = Talker::many(session.session(), running);
    Waiting::new(shared, talker, Shape::Array).respond(session, accepts, answers).await
}
