//! What can be wrong with a message, whose fault it is, and how that reads on the wire.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    method::Method,
    raw::{Object, Raw},
    revision::{Feature, Revision},
    scan::Flaw,
};

/// Error codes (spec: basic/index; JSON-RPC 2.0).
pub mod code {
    /// Not JSON.
    pub const PARSE: i64 = -32700;
    /// JSON, but no message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method, or a feature that was not advertised.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// Parameters that do not fit.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server's own fault.
    pub const INTERNAL: i64 = -32603;
    /// No such resource (until 2025-11-25).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// An elicitation by URL must come first (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// A header does not repeat the body (2026-07-28, HTTP).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a capability that it did not declare (2026-07-28).
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// A revision that is not spoken here (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// The user refused (sampling, until 2025-11-25).
    pub const REFUSED: i64 = -1;
}

/// An error as JSON-RPC writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// One of [`code`], or the application's own.
    pub code: i64,
    /// One sentence for people.
    pub message: String,
    /// Anything else, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Raw>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same error with data.
    #[must_use]
    pub fn with_data<T: Serialize + ?Sized>(self, data: &T) -> Self {
        Self { data: Some(Raw::of(data)), ..self }
    }

    /// Parameters that do not fit.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// The server's own fault.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL, message)
    }

    /// Reads what a peer sent as its error; anything that is no error object becomes one that says so.
    pub fn read(raw: &Raw) -> Self {
        raw.read().unwrap_or_else(|_| Self::new(code::INTERNAL, format!("peer sent a malformed error: {raw:?}")))
    }

    /// Bends codes that only some revisions know to what `revision` calls the same thing, for an answer to `method`.
    pub fn conform(&mut self, method: &Method, revision: Revision) {
        let modern = revision.has(Feature::NotFoundIsInvalidParams);
        if *method == Method::ResourcesRead && self.code == code::RESOURCE_NOT_FOUND && modern {
            self.code = code::INVALID_PARAMS; // spec: server/resources
        }
        if self.code == code::URL_ELICITATION_REQUIRED && !revision.has(Feature::ElicitationIds) {
            self.code = code::INVALID_PARAMS;
        }
        let stateless =
            matches!(self.code, code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION);
        if stateless && !revision.has(Feature::Stateless) {
            self.code = code::INVALID_PARAMS;
        }
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}

/// What is wrong with a message, by whose fault it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The text is no message: its sender must write it differently.
    Malformed(Malformed),
    /// A message against the rules: its sender must send something else.
    Misuse(Misuse),
    /// A good message that this side does not serve.
    Unsupported(Unsupported),
}

/// Why a text is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Not one JSON value within the limits.
    Json(Flaw),
    /// JSON, but not a JSON-RPC 2.0 message; says what is wrong.
    Envelope(Cow<'static, str>),
    /// Larger than this many bytes.
    TooLarge(usize),
}

/// How a message breaks the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// Not at this moment: before the opening, a second opening, an id already in flight.
    Order(Cow<'static, str>),
    /// The parameters do not fit.
    Params(Cow<'static, str>),
    /// A header does not repeat the body.
    Header(Cow<'static, str>),
}

/// What is not served here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// A method that is unknown or was not advertised.
    Method(Box<str>),
    /// A revision; what was asked for.
    Version(Box<str>),
    /// The request needs capabilities that it did not declare; an object shaped like client capabilities.
    Capability(Raw),
}

impl Fault {
    /// A message that is JSON but not JSON-RPC.
    pub fn envelope(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Malformed(Malformed::Envelope(what.into()))
    }

    /// Parameters that do not fit.
    pub fn params(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Misuse(Misuse::Params(what.into()))
    }

    /// A message at the wrong moment.
    pub fn order(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Misuse(Misuse::Order(what.into()))
    }

    /// A request of a client that did not declare the extension it needs.
    pub fn extension(id: &str) -> Self {
        let (mut extensions, mut all) = (Object::with_capacity(48), Object::with_capacity(64));
        extensions.put(id, &Raw::EMPTY);
        all.put("extensions", &extensions.finish());
        Self::Unsupported(Unsupported::Capability(all.finish()))
    }

    /// A method that is not served.
    pub fn method(method: &Method) -> Self {
        Self::Unsupported(Unsupported::Method(method.as_str().into()))
    }
}

impl From<Flaw> for Fault {
    fn from(flaw: Flaw) -> Self {
        Self::Malformed(Malformed::Json(flaw))
    }
}

impl From<Fault> for ErrorObject {
    fn from(fault: Fault) -> Self {
        let message = fault.to_string();
        match fault {
            Fault::Malformed(Malformed::Json(Flaw::NotObject)) => Self::new(code::INVALID_REQUEST, message),
            Fault::Malformed(Malformed::Json(_)) => Self::new(code::PARSE, message),
            Fault::Malformed(Malformed::Envelope(_) | Malformed::TooLarge(_)) | Fault::Misuse(Misuse::Order(_)) => {
                Self::new(code::INVALID_REQUEST, message)
            }
            Fault::Misuse(Misuse::Params(_)) => Self::new(code::INVALID_PARAMS, message),
            Fault::Misuse(Misuse::Header(_)) => Self::new(code::HEADER_MISMATCH, message),
            Fault::Unsupported(Unsupported::Method(_)) => Self::new(code::METHOD_NOT_FOUND, message),
            Fault::Unsupported(Unsupported::Version(requested)) => {
                // Only modern revisions are listed: the others open with a handshake.
                let supported: Vec<_> = Revision::of(crate::Era::Modern).map(Revision::as_str).collect();
                let data = serde_json::json!({ "supported": supported, "requested": requested });
                Self::new(code::UNSUPPORTED_VERSION, message).with_data(&data)
            }
            Fault::Unsupported(Unsupported::Capability(required)) => {
                let mut data = Object::with_capacity(64);
                data.put("requiredCapabilities", &required);
                Self { data: Some(data.finish()), ..Self::new(code::MISSING_CAPABILITY, message) }
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(Malformed::Json(flaw)) => write!(f, "malformed message: {flaw}"),
            Self::Malformed(Malformed::Envelope(what)) => write!(f, "not a JSON-RPC 2.0 message: {what}"),
            Self::Malformed(Malformed::TooLarge(limit)) => {
                write!(f, "message is larger than {limit} bytes (limit `request_bytes`)")
            }
            Self::Misuse(Misuse::Order(what) | Misuse::Params(what) | Misuse::Header(what)) => f.write_str(what),
            Self::Unsupported(Unsupported::Method(name)) => write!(f, "method {name:?} is not served here"),
            Self::Unsupported(Unsupported::Version(requested)) => {
                write!(f, "protocol version {requested:?} is not spoken here; ")?;
                f.write_str("requests may carry ")?;
                f.write_str(Revision::LATEST.as_str())?;
                f.write_str(", older versions open with `initialize`")
            }
            Self::Unsupported(Unsupported::Capability(required)) => {
                write!(f, "the request must declare the client capabilities {required:?}")
            }
        }
    }
}

impl std::error::Error for Fault {}
