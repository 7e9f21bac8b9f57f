//! Responses, with as few headers as will do. Errors are JSON-RPC errors whatever the status.

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use memchr::memchr2;
use toolbay_protocol::{ErrorObject, Fault, Frame, Id, fault::code, sse};

use super::body::Body;

/// A request that does not get as far as a message.
#[derive(Debug)]
pub(super) struct Refusal(Box<Parts>);

#[derive(Debug)]
struct Parts {
    status: StatusCode,
    message: String,
    id: Option<Id>,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self(Box::new(Parts { status, message: message.into(), id: None, header: None }))
    }

    /// What is said to requests that come too late.
    pub(super) fn closing() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down")
    }

    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.header = Some((name, value));
        self
    }

    pub(super) fn of(mut self, id: &Id) -> Self {
        self.0.id = Some(id.clone());
        self
    }
}

impl From<Refusal> for Response<Body> {
    fn from(refusal: Refusal) -> Self {
        let Parts { status, message, id, header } = *refusal.0;
        let mut response = error_of(status, id, &ErrorObject::new(code::INVALID_REQUEST, message));
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

fn error_of(status: StatusCode, id: Option<Id>, error: &ErrorObject) -> Response<Body> {
    json(status, &Frame::Error { id, error: toolbay_protocol::Raw::of(error) })
}

/// A fault in a message, under a status of the caller's choice.
pub(super) fn fault(status: StatusCode, id: Option<Id>, fault: Fault) -> Response<Body> {
    error_of(status, id, &fault.into())
}

/// One message.
pub(super) fn json(status: StatusCode, frame: &Frame) -> Response<Body> {
    with_type(status, Body::message(frame), HeaderValue::from_static("application/json"))
}

/// Several messages in one array.
pub(super) fn batch(frames: &[Frame]) -> Response<Body> {
    let mut text = BytesMut::new();
    for frame in frames {
        text.put_u8(if text.is_empty() { b'[' } else { b',' });
        frame.write(&mut text);
    }
    text.put_u8(b']');
    with_type(StatusCode::OK, Body::full(text.freeze()), HeaderValue::from_static("application/json"))
}

/// A page that is no message.
pub(super) fn page(status: StatusCode, kind: &'static str, text: String) -> Response<Body> {
    let mut response = with_type(status, Body::full(text.into()), HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Nothing but a status.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A stream of events that is still being written, or one that is complete already.
pub(super) fn events(body: Body) -> Response<Body> {
    let mut response = with_type(StatusCode::OK, body, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // spec: basic/transports/streamable-http, or a proxy would hold events back
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// A stream of one event.
pub(super) fn one_event(frame: &Frame) -> Response<Body> {
    events(Body::full(event(None, frame)))
}

/// A stream of several events.
pub(super) fn event_list(frames: &[Frame]) -> Response<Body> {
    let all: Vec<_> = frames.iter().map(|frame| event(None, frame)).collect();
    events(Body::full(all.concat().into()))
}

/// A message as an event.
pub(super) fn event(id: Option<&str>, frame: &Frame) -> Bytes {
    let mut out = BytesMut::new();
    if let Some(id) = id {
        out.put_slice(b"id: ");
        out.put_slice(id.as_bytes());
        out.put_u8(b'\n');
    }
    out.put_slice(b"data: ");
    let start = out.len();
    frame.write(&mut out);
    if memchr2(b'\r', b'\n', &out[start..]).is_some() {
        // Written by somebody who likes lines; the codec knows what to do with them.
        let text = out.split_off(start);
        out.clear();
        sse::Event { id, ..sse::Event::of(&text) }.write(&mut out);
        return out.freeze();
    }
    out.put_slice(b"\n\n");
    out.freeze()
}

fn with_type(status: StatusCode, body: Body, kind: HeaderValue) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
