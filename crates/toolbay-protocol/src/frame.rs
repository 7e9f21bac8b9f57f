//! One JSON-RPC message, parsed one level deep; everything below stays bytes.

mod deep;
mod parts;

use std::{borrow::Cow, fmt, ops::Range};

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use parts::NOTING;

use crate::{
    fault::{ErrorObject, Fault, Malformed},
    method::Method,
    raw::{Raw, put_text},
    scan::{self, Flaw, Limits, Notes},
};

pub use deep::CUT;
pub use parts::{Noted, Part, Parts};

/// The id of a request: an integer or a string, never null, never a fraction (spec: basic/index).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// An integer.
    Number(i64),
    /// A string, kept verbatim.
    Text(Box<str>),
}

impl Id {
    /// Reads an id; `None` where the value cannot be one.
    pub fn read(raw: &Raw) -> Option<Self> {
        Self::written(raw.as_bytes())
    }

    /// Reads the text of one JSON value.
    fn written(text: &[u8]) -> Option<Self> {
        match text.first()? {
            b'"' => Some(Self::Text(scan::unquote(text).into())),
            // What has so few digits surely fits.
            b'0'..=b'9' if text.len() <= 18 => {
                let digit = |byte: &u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
                let number = text.iter().try_fold(0, |number, byte| Some(number * 10 + digit(byte)?));
                number.map(Self::Number)
            }
            b'-' | b'0'..=b'9' => std::str::from_utf8(text).ok()?.parse().ok().map(Self::Number),
            _ => None,
        }
    }

    /// The id as JSON.
    pub fn to_raw(&self) -> Raw {
        let mut out = BytesMut::with_capacity(24);
        self.put(&mut out);
        Raw::judged(out.freeze())
    }

    fn put(&self, out: &mut BytesMut) {
        match self {
            Self::Number(number) => out.put_slice(itoa::Buffer::new().format(*number).as_bytes()),
            Self::Text(text) => put_text(out, text),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        Self::read(&raw).ok_or_else(|| de::Error::custom("an id is an integer or a string"))
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// Wants an answer.
    Request {
        /// Names the answer.
        id: Id,
        /// What is asked for.
        method: Method,
        /// With what; an object where present.
        params: Option<Raw>,
        /// What was noted of them when they were read.
        noted: Noted,
    },
    /// Wants none.
    Notification {
        /// What happened.
        method: Method,
        /// With what; an object where present.
        params: Option<Raw>,
    },
    /// Answers a request.
    Result {
        /// Which request.
        id: Id,
        /// With what.
        result: Raw,
    },
    /// Refuses a request, or a message whose id could not be read.
    Error {
        /// Which request.
        id: Option<Id>,
        /// The error object.
        error: Raw,
    },
}

/// A message that could not be taken: what is wrong, and the id to answer under where it could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    /// The id of what was probably a request.
    pub id: Option<Id>,
    /// What is wrong.
    pub fault: Fault,
}

impl Rejected {
    /// The error frame that answers it. The id is left out, not null, where it could not be read (spec: schema).
    pub fn answer(self) -> Frame {
        Frame::Error { id: self.id, error: Raw::of(&ErrorObject::from(self.fault)) }
    }
}

/// The places of an envelope's members, as found.
#[derive(Default)]
struct Envelope<'t> {
    members: [Option<Range<usize>>; MEMBERS.len()],
    others: Vec<Cow<'t, str>>,
}

const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

impl<'t> Envelope<'t> {
    fn take(&mut self, quoted: &'t [u8], place: Range<usize>) -> Result<(), Flaw> {
        let bare = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        if let Some(member) = Self::member(bare) {
            return self.fill(member, place);
        }
        let key = scan::unquote(quoted);
        // A key of ours may be written with escapes.
        if let Some(member) = Self::member(key.as_bytes()) {
            return self.fill(member, place);
        }
        let twin = self.others.iter().any(|seen| seen.eq_ignore_ascii_case(&key));
        if twin || self.others.len() >= 64 || MEMBERS.iter().any(|known| known.eq_ignore_ascii_case(&key)) {
            return Err(Flaw::DuplicateKey(key.into_owned()));
        }
        self.others.push(key);
        Ok(())
    }

    fn fill(&mut self, member: usize, place: Range<usize>) -> Result<(), Flaw> {
        match self.members[member].replace(place) {
            Some(_) => Err(Flaw::DuplicateKey(MEMBERS[member].to_owned())),
            None => Ok(()),
        }
    }

    fn member(key: &[u8]) -> Option<usize> {
        // In the order of `MEMBERS`.
        Some(match key {
            b"jsonrpc" => 0,
            b"id" => 1,
            b"method" => 2,
            b"params" => 3,
            b"result" => 4,
            b"error" => 5,
            _ => return None,
        })
    }
}

impl Frame {
    /// Splits without copying: `params` and `result` are slices of `text`, checked within the default limits.
    pub fn parse(text: &Bytes) -> Result<Self, Rejected> {
        Self::parse_within(text, Limits::DEFAULT)
    }

    /// The same within limits of your own.
    pub fn parse_within(text: &Bytes, limits: Limits) -> Result<Self, Rejected> {
        let mut envelope = Envelope::default();
        let mut notes = Notes::default();
        if let Err(flaw) = scan::noting(text, limits, NOTING, &mut notes, |key, place| envelope.take(key, place)) {
            // A cut line may have a cut id; an id that stands before what was too much is whole, and somebody waits for it.
            let whole = matches!(flaw, Flaw::DuplicateKey(_) | Flaw::TooDeep(_) | Flaw::TooMany(_));
            let [_, id, ..] = envelope.members;
            let id = id.filter(|_| whole).and_then(|place| Id::written(&text[place]));
            return Err(Rejected { id, fault: Fault::Malformed(Malformed::Json(flaw)) });
        }
        Self::from_envelope(text, envelope.members, &notes)
    }

    /// The messages of a JSON array, each judged alone; `None` where `text` is no array. One with too many is
    /// refused as a whole.
    pub fn parse_batch(text: &Bytes, limits: Limits) -> Option<Vec<Result<Self, Rejected>>> {
        if text.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[') {
            return None;
        }
        let array = match Raw::parse(text.clone(), limits) {
            Ok(array) => array,
            Err(flaw) => return Some(vec![Err(Rejected { id: None, fault: flaw.into() })]),
        };
        if array.elements().nth(limits.batch as usize).is_some() {
            let fault = Fault::envelope(format!("a batch holds at most {} messages (limit `batch`)", limits.batch));
            return Some(vec![Err(Rejected { id: None, fault })]);
        }
        Some(array.elements().map(|one| Self::parse_within(&one.into_bytes(), limits)).collect())
    }

    fn from_envelope(
        text: &Bytes,
        members: [Option<Range<usize>>; MEMBERS.len()],
        notes: &Notes,
    ) -> Result<Self, Rejected> {
        let [version, id, method, params, result, error] = members;
        let raw = |place| Raw::judged(text.slice(place));
        let id = id.map(|place| Id::written(&text[place]));
        let reject = |what: &'static str| Rejected { id: id.clone().flatten(), fault: Fault::envelope(what) };
        if version.is_none_or(|place| text[place] != *br#""2.0""#) {
            return Err(reject("`jsonrpc` must be \"2.0\""));
        }
        let method = match method {
            Some(place) if text[place.start] == b'"' => Some(Method::quoted(&text[place])),
            Some(_) => return Err(reject("`method` must be a string")),
            None => None,
        };
        if params.as_ref().is_some_and(|place| text[place.start] != b'{') {
            return Err(reject("`params` must be an object"));
        }
        let sound = |id: Option<Option<Id>>| match id {
            Some(Some(id)) => Ok(Some(id)),
            Some(None) => Err(Rejected { id: None, fault: Fault::envelope("`id` must be an integer or a string") }),
            None => Ok(None),
        };
        match (method, result, error) {
            (Some(method), None, None) => {
                let noted = params.as_ref().map_or_else(Noted::default, |place| Noted::of(notes, place.start));
                let params = params.map(raw);
                Ok(match sound(id)? {
                    Some(id) => Self::Request { id, method, params, noted },
                    None => Self::Notification { method, params },
                })
            }
            (None, Some(result), None) => match sound(id)? {
                Some(id) => Ok(Self::Result { id, result: raw(result) }),
                None => Err(Rejected { id: None, fault: Fault::envelope("a result needs an `id`") }),
            },
            // Some peers write `"id":null` where they mean none.
            (None, None, Some(error)) => Ok(Self::Error { id: id.flatten(), error: raw(error) }),
            _ => Err(reject("needs exactly one of `method`, `result` and `error`")),
        }
    }

    /// Appends the message, without a line end.
    pub fn write(&self, out: &mut BytesMut) {
        let body = self.body();
        out.reserve(100 + body.map_or(0, |raw| raw.as_bytes().len()));
        self.write_head(out);
        if let Some(body) = body {
            out.put_slice(body.as_bytes());
        }
        out.put_u8(b'}');
    }

    /// The message in two pieces and a last `}`: what stands before its body, and the body, which is not copied.
    pub fn pieces(&self) -> (Bytes, Option<Bytes>) {
        let mut out = BytesMut::with_capacity(96);
        self.write_head(&mut out);
        (out.freeze(), self.body().map(|body| body.clone().into_bytes()))
    }

    fn body(&self) -> Option<&Raw> {
        match self {
            Self::Request { params, .. } | Self::Notification { params, .. } => params.as_ref(),
            Self::Result { result, .. } => Some(result),
            Self::Error { error, .. } => Some(error),
        }
    }

    fn write_head(&self, out: &mut BytesMut) {
        match self.id() {
            Some(id) => {
                out.put_slice(br#"{"jsonrpc":"2.0","id":"#);
                id.put(out);
            }
            None => out.put_slice(br#"{"jsonrpc":"2.0""#),
        }
        let label: &[u8] = match self {
            Self::Request { method: Method::ToolsCall, params: Some(_), .. } => {
                // By far the most, and known beforehand.
                return out.put_slice(br#","method":"tools/call","params":"#);
            }
            Self::Request { method, .. } | Self::Notification { method, .. } => {
                out.put_slice(br#","method":"#);
                put_text(out, method.as_str());
                br#","params":"#
            }
            Self::Result { .. } => br#","result":"#,
            Self::Error { .. } => br#","error":"#,
        };
        if self.body().is_some() {
            out.put_slice(label);
        }
    }

    /// The message as a buffer of its own.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = BytesMut::new();
        self.write(&mut out);
        out.freeze()
    }

    /// The id it carries.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::Request { id, .. } | Self::Result { id, .. } => Some(id),
            Self::Error { id, .. } => id.as_ref(),
            Self::Notification { .. } => None,
        }
    }

    /// A request.
    pub fn request(id: Id, method: Method, params: Option<Raw>) -> Self {
        Self::Request { id, method, params, noted: Noted::default() }
    }

    /// The answer to request `id`.
    pub fn reply(id: Id, outcome: Result<Raw, ErrorObject>) -> Self {
        match outcome {
            Ok(result) => Self::Result { id, result },
            Err(error) => Self::Error { id: Some(id), error: Raw::of(&error) },
        }
    }
}

#[cfg(test)]
mod tests;
