//! GET: the stream that belongs to no request, and streams that were lost; DELETE: the end of a session.

use std::{future::poll_fn, sync::Arc};

use bytes::Bytes;
use futures_util::{Stream, stream};
use http::{HeaderMap, Response, StatusCode, request};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{Feature, Frame, watch::legacy};

use super::{
    super::{body::Body, endpoint::Shared, fields::LAST_EVENT, media::Accepts, respond, respond::Refusal},
    calls::Attendance,
    log::{Next, STANDING, read_id},
    record::Attached,
    stream::{self as streams, Reader},
};
use crate::{Principal, Service};

/// Opens the standing stream of a session, or goes on with the stream that `Last-Event-ID` names.
pub(in super::super) fn get<S: Service>(
    shared: &Arc<Shared<S>>,
    head: &request::Parts,
    named: &str,
    principal: &Principal,
) -> Result<Response<Body>, Refusal> {
    if !Accepts::read(&head.headers).stream {
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, "`Accept` must allow text/event-stream"));
    }
    let session = shared.sessions.find(named, principal)?;
    match last_event(&head.headers)? {
        Some((stream, place)) if stream != STANDING => {
            let generation = {
                let mut state = session.state();
                let generation = state.log.attach(stream, place + 1).ok_or_else(forgotten)?;
                state.calls.attend(stream, Attendance::Read);
                generation
            };
            // Whoever read before finds out.
            session.news.notify_waiters();
            Ok(streams::response(&**shared, session, stream, generation))
        }
        from => standing(shared, session, from.map(|(_, place)| place)),
    }
}

fn forgotten() -> Refusal {
    let what = "the stream of this `Last-Event-ID` is not kept (any more); what was said on it is lost";
    Refusal::new(StatusCode::BAD_REQUEST, what)
}

fn last_event(headers: &HeaderMap) -> Result<Option<(u64, u64)>, Refusal> {
    let Some(id) = headers.get(&LAST_EVENT).filter(|id| !id.is_empty()) else { return Ok(None) };
    let read = id.to_str().ok().and_then(read_id).filter(|(_, place)| *place < u64::MAX);
    read.map(Some).ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, "this `Last-Event-ID` was never given out"))
}

fn standing<S: Service>(
    shared: &Arc<Shared<S>>,
    session: Attached,
    after: Option<u64>,
) -> Result<Response<Body>, Refusal> {
    if shared.is_closed() {
        return Err(Refusal::closing());
    }
    let generation = {
        let mut state = session.state();
        if after.is_none() && state.log.is_attached(STANDING) {
            let what = "the session has an open stream already, and may have one";
            return Err(Refusal::new(StatusCode::CONFLICT, what));
        }
        let from = after.map_or_else(|| state.log.end(STANDING), |place| place + 1);
        if session.has(Feature::Polling) && after.is_none() {
            streams::prime(&mut state.log, STANDING, shared.options.retry);
        }
        state.log.attach(STANDING, from).ok_or_else(forgotten)?
    };
    session.news.notify_waiters();
    let events = changes(Reader { session, stream: STANDING, generation }, shared.closing.clone());
    Ok(respond::events(Body::live(events, shared.options.keep_alive, shared.calls.token())))
}

fn changes(reader: Reader, closing: CancellationToken) -> impl Stream<Item = Bytes> + Send {
    stream::unfold((reader, closing), |(reader, closing)| async move {
        loop {
            let news = reader.session.news.notified();
            match reader.read() {
                Next::Event(event) => {
                    drop(news);
                    return Some((event, (reader, closing)));
                }
                Next::Over => return None,
                Next::Wait | Next::HangUp(_) => {}
            }
            tokio::select! {
                biased;
                () = closing.cancelled() => return None,
                () = news => {}
                change = poll_fn(|cx| reader.session.poll_change(cx)) => {
                    let note = legacy::note(&change);
                    reader.session.say(STANDING, &Frame::Notification { method: note.method, params: note.params });
                }
            }
        }
    })
}

/// Ends a session; its calls are cancelled.
pub(in super::super) fn delete<S: Service>(
    shared: &Shared<S>,
    named: &str,
    principal: &Principal,
) -> Result<Response<Body>, Refusal> {
    shared.sessions.find(named, principal)?;
    shared.sessions.end(named, &*shared.service);
    Ok(respond::empty(StatusCode::NO_CONTENT))
}
