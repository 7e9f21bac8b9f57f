//! A request of the modern era: one POST, complete in itself, answered by one response. Nothing is remembered.
//!
//! The service works inside the request's own future; if it says something before it is done, the response becomes a
//! stream whose body goes on with the same work. Dropping either is how a client cancels.
// spec: 2026-07-28 basic/transports/streamable-http

use std::{pin::pin, sync::Arc, task::Poll};

use bytes::Bytes;
use futures_util::{Stream, poll, stream};
use http::{Response, StatusCode, request};
use toolbay_protocol::{
    ErrorObject, Fault, Frame, Id, Method, Raw,
    exchange::{Asks, Incoming, Outcome},
    fault::code,
    frame::Rejected,
    greeting::{Profile, envelope, modern},
    headers::{self, Mirrored},
    peer::Sound,
};

use super::{
    body::Body,
    endpoint::Shared,
    ladder::{Judged, judge, mismatch, values},
    listen,
    media::Accepts,
    respond::{self, Refusal},
    serving::{Did, Serving},
};
use crate::{
    service::{Caller, Headers, Principal, Request, Service},
    talk::{Manner, Progress, Said},
};

/// Answers one POST.
pub(super) async fn serve<S: Service>(
    shared: &Arc<Shared<S>>,
    head: &mut request::Parts,
    principal: Principal,
    accepts: Accepts,
    message: Result<Frame, Rejected>,
) -> Response<Body> {
    match message {
        Ok(Frame::Request { id, .. }) if shared.is_closed() => Refusal::closing().of(&id).into(),
        Ok(Frame::Request { id, method, params, noted }) => {
            let profile = shared.service.profile();
            match judge(shared, &profile, &head.headers, principal, &method, (params.as_ref(), noted)) {
                Ok(judged) => {
                    // Judged, and of no use to anybody else.
                    let headers = Headers::of(std::mem::take(&mut head.headers));
                    answer(shared, &profile, judged, accepts, headers, (id, method, params)).await
                }
                Err(fault) => refuse(id, fault),
            }
        }
        Ok(Frame::Notification { method, params }) => noted(shared, head, principal, method, params).await,
        Ok(Frame::Result { id, .. } | Frame::Error { id: Some(id), .. }) => {
            refuse(id, Fault::envelope("a client of this revision answers by a new request, never by a response"))
        }
        Ok(Frame::Error { id: None, .. }) => {
            respond::fault(StatusCode::BAD_REQUEST, None, Fault::envelope("an error answers nothing here"))
        }
        Err(Rejected { id, fault }) => respond::fault(StatusCode::BAD_REQUEST, id, fault),
    }
}

fn refuse(id: Id, fault: Fault) -> Response<Body> {
    let error = ErrorObject::from(fault);
    respond::json(status_of(error.code), &Frame::reply(id, Err(error)))
}

/// The status of an error that is the whole response.
fn status_of(error: i64) -> StatusCode {
    match error {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::PARSE
        | code::INVALID_REQUEST
        | code::INVALID_PARAMS
        | code::HEADER_MISMATCH
        | code::MISSING_CAPABILITY
        | code::UNSUPPORTED_VERSION => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

async fn noted<S: Service>(
    shared: &Arc<Shared<S>>,
    head: &request::Parts,
    principal: Principal,
    method: Method,
    params: Option<Raw>,
) -> Response<Body> {
    // This revision defines no notification by POST, so none is refused; one that does not say whose it is goes no further.
    if let Ok(introduction) = envelope::read(params.as_ref()) {
        let version = introduction.revision.as_str();
        let body = Mirrored { version, method: method.as_str(), name: None };
        if let Err(unlike) = headers::check_notification(&body, values(&head.headers)) {
            return respond::fault(StatusCode::BAD_REQUEST, None, mismatch(&unlike));
        }
        let caller = Arc::new(Caller { introduction: Arc::new(introduction), principal, session: None, device: None });
        shared.service.note(&caller, toolbay_protocol::exchange::Note { method, params }).await;
    }
    respond::empty(StatusCode::ACCEPTED)
}

async fn answer<S: Service>(
    shared: &Arc<Shared<S>>,
    profile: &Profile,
    judged: Judged,
    accepts: Accepts,
    headers: Headers,
    (id, method, params): (Id, Method, Option<Raw>),
) -> Response<Body> {
    let Judged { caller, sound: Sound { envelope, parts }, returning } = judged;
    let (introduction, server) = (Arc::clone(&caller.introduction), Some(profile.server.clone()));
    let exchange = Incoming::within(introduction, server, id.clone(), method.clone(), &envelope);
    match method {
        Method::Discover => last(&exchange.done(Ok(modern::describe(profile))), accepts),
        Method::Listen if !accepts.stream => {
            let what = "subscriptions/listen is answered by an event stream: `Accept` must allow text/event-stream";
            Refusal::new(StatusCode::NOT_ACCEPTABLE, what).of(&id).into()
        }
        Method::Listen => match listen::watch(shared, profile, &caller, params.as_ref()).await {
            Ok(watch) => listen::response(shared, exchange, id, watch),
            Err(error) => last(&exchange.done(Err(error)), accepts),
        },
        method => {
            let progress = if exchange.wants_progress() { Progress::Wanted } else { Progress::Unwanted };
            let params = params.unwrap_or(Raw::EMPTY);
            let request = Request { method, params, parts, caller, returning, headers };
            let serving = Serving::begin(&shared.service, request, Manner::Returns, progress);
            Conversation { serving, exchange }.respond(shared, accepts).await
        }
    }
}

/// The one message that answers a request.
fn last(frame: &Frame, accepts: Accepts) -> Response<Body> {
    if !accepts.json {
        return respond::one_event(frame);
    }
    let status = match frame {
        Frame::Error { error, .. } => status_of(ErrorObject::read(error).code),
        Frame::Result { .. } | Frame::Request { .. } | Frame::Notification { .. } => StatusCode::OK,
    };
    respond::json(status, frame)
}

/// A request while it is served.
struct Conversation {
    serving: Serving,
    exchange: Incoming,
}

enum Out {
    /// A message about the request.
    More(Frame),
    /// The message that ends it.
    Last(Frame),
}

/// How an answer begins.
enum First {
    Out(Out),
    /// With nothing, so long that a sign of life is due.
    Slow,
    /// Not at all: the server goes.
    Abandoned,
}

impl Conversation {
    /// The next message; losing the future loses nothing.
    async fn next(&mut self) -> Out {
        loop {
            match self.serving.next().await {
                Did::Said(Said::Note(note)) => {
                    if let Some(frame) = self.exchange.note(note) {
                        return Out::More(frame);
                    }
                }
                // Only a caller that stays can be asked, or hung up on.
                Did::Said(Said::Ask(..) | Said::HangUp(_) | Said::Withdrawn) => {}
                Did::Parted(asks, state) => return Out::Last(self.part(&asks, state.as_ref())),
                Did::Done(outcome) => return Out::Last(self.done(outcome)),
            }
        }
    }

    fn done(&self, outcome: Outcome) -> Frame {
        self.exchange.done(outcome)
    }

    /// Ends the request by questions. spec: basic/patterns/mrtr
    fn part(&mut self, asks: &Asks, state: Option<&Raw>) -> Frame {
        let id = self.exchange.id().clone();
        // Nothing is minted for a caller that returns.
        let (_, mut frames) = self.exchange.ask(asks, state, || id.clone());
        frames.pop().unwrap_or_else(|| self.done(Err(ErrorObject::internal("nothing was asked"))))
    }

    async fn respond<S: Service>(mut self, shared: &Arc<Shared<S>>, accepts: Accepts) -> Response<Body> {
        match self.first(shared, accepts).await {
            First::Out(Out::Last(frame)) => last(&frame, accepts),
            First::Abandoned => last(&self.done(Err(shutting_down())), accepts),
            First::Out(Out::More(_)) if !accepts.stream => self.finish(shared, accepts).await,
            First::Out(more) => self.stream(Some(more), shared),
            First::Slow => self.stream(None, shared),
        }
    }

    async fn first<S: Service>(&mut self, shared: &Shared<S>, accepts: Accepts) -> First {
        let mut next = pin!(self.next());
        // No timer for what is done at once.
        if let Poll::Ready(out) = poll!(next.as_mut()) {
            return First::Out(out);
        }
        tokio::select! {
            biased;
            out = next => First::Out(out),
            () = shared.abandon.cancelled() => First::Abandoned,
            () = tokio::time::sleep(shared.options.keep_alive), if accepts.stream => First::Slow,
        }
    }

    /// For a client that takes no streams: what is said meanwhile is lost on it.
    async fn finish<S: Service>(mut self, shared: &Shared<S>, accepts: Accepts) -> Response<Body> {
        loop {
            let out = tokio::select! {
                biased;
                out = self.next() => out,
                () = shared.abandon.cancelled() => Out::Last(self.done(Err(shutting_down()))),
            };
            if let Out::Last(frame) = out {
                return last(&frame, accepts);
            }
        }
    }

    fn stream<S: Service>(self, first: Option<Out>, shared: &Arc<Shared<S>>) -> Response<Body> {
        let open = shared.calls.token();
        let live = self.live(first, Arc::clone(shared));
        respond::events(Body::live(live, shared.options.keep_alive, open))
    }

    fn live<S: Service>(self, first: Option<Out>, shared: Arc<Shared<S>>) -> impl Stream<Item = Bytes> + Send {
        stream::unfold((Some(self), first), move |(conversation, first)| {
            let shared = Arc::clone(&shared);
            async move {
                let mut conversation = conversation?;
                let out = match first {
                    Some(out) => out,
                    None => tokio::select! {
                        biased;
                        out = conversation.next() => out,
                        () = shared.abandon.cancelled() => Out::Last(conversation.done(Err(shutting_down()))),
                    },
                };
                match out {
                    Out::More(frame) => Some((respond::event(None, &frame), (Some(conversation), None))),
                    Out::Last(frame) => Some((respond::event(None, &frame), (None, None))),
                }
            }
        })
    }
}

/// What is said of calls that outlast the grace.
pub(super) fn shutting_down() -> ErrorObject {
    ErrorObject::internal("the server is shutting down; the call was cancelled")
}
