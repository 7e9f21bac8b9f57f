//! The header fields that belong to the protocol. Not for the mirrored parameters of tools: see `plans`.

use http::{HeaderMap, HeaderName, HeaderValue};
use toolbay_protocol::{
    Feature, Frame, Raw,
    greeting::Introduction,
    headers::{self, Header, Mirrored},
};

use crate::{Error, Kind};

/// Names a legacy session.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// Names the place where a legacy stream broke off.
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The headers that mirror a message of the modern era; none for any other.
pub(super) fn routing_headers(us: &Introduction, frame: &Frame) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let (Frame::Request { method, params, .. } | Frame::Notification { method, params }) = frame else {
        return headers;
    };
    if !us.revision.has(Feature::RoutingHeaders) {
        return headers;
    }
    let named = headers::name_field(method.as_str()).and_then(|field| params.as_ref()?.get(field));
    let name = named.as_ref().and_then(Raw::as_text);
    let mirrored = Mirrored { version: us.revision.as_str(), method: method.as_str(), name: name.as_deref() };
    mirrored.headers().iter().for_each(|header| put(&mut headers, header));
    headers
}

/// Sets one field.
pub(super) fn put(headers: &mut HeaderMap, header: &Header) {
    let (name, value) = (HeaderName::from_bytes(header.name.as_bytes()), HeaderValue::from_str(&header.value));
    if let (Ok(name), Ok(value)) = (name, value) {
        headers.insert(name, value);
    }
}

/// The id that an answer gives a session; an error where it is not what a header may hold.
// spec: basic/transports, visible ASCII
pub(super) fn session_id(headers: &HeaderMap) -> Result<Option<HeaderValue>, Error> {
    let Some(id) = headers.get(SESSION) else { return Ok(None) };
    if id.is_empty() || !id.as_bytes().iter().all(u8::is_ascii_graphic) {
        return Err(Error::new(Kind::Misbehaved, "the server gives a session id that is not visible ASCII"));
    }
    let mut id = id.clone();
    id.set_sensitive(true);
    Ok(Some(id))
}
