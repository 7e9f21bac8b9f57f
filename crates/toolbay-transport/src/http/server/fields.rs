//! The names of header fields that are looked up for each request, made ready once.

use http::HeaderName;

pub(super) static VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) static METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(super) static NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(super) static SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) static LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
