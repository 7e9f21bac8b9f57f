//! What is said when headers and body disagree. Not for the error code: `fault` knows that.

use std::borrow::Cow;
use std::fmt;

/// A header that does not say what the body says; the client, or something between, is to blame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The header's name.
    pub header: Cow<'static, str>,
    /// What it has to mirror: `method`, `params.name`, `params.arguments.region`.
    pub source: String,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The body holds a value and the header is not there.
    Missing,
    /// The header is there several times, so that two readers could see two values.
    Repeated,
    /// The header holds something other than visible ASCII, spaces and tabs.
    InvalidCharacters,
    /// What stands between `=?base64?` and `?=` is not padded standard Base64.
    BadBase64,
    /// What was wrapped in Base64 is not UTF-8.
    NotUtf8,
    /// The two values differ.
    Differs,
    /// The header is there, and the body holds no value for it.
    NotInBody,
    /// The argument is an integer beyond ±(2^53 − 1), which no header may carry.
    UnsafeInteger,
    /// The argument is not a string, number or boolean, or not a text that UTF-8 can carry.
    NotMirrorable,
    /// The argument, or an object on the way to it, is there twice.
    RepeatedArgument,
    /// The arguments are not a JSON object.
    BadArguments,
}

impl Mismatch {
    pub(super) fn new(header: impl Into<Cow<'static, str>>, source: impl Into<String>, reason: Reason) -> Self {
        Self { header: header.into(), source: source.into(), reason }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values are left out: an argument may be a secret, and this text ends up in logs.
        let Self { header, source, reason } = self;
        f.write_str("Header mismatch: ")?;
        match reason {
            Reason::Missing => write!(f, "{header} is missing; send it with the value of {source}"),
            Reason::Repeated => write!(f, "{header} was sent more than once; send it once, with the value of {source}"),
            Reason::InvalidCharacters => {
                write!(f, "{header} holds invalid characters; wrap the value of {source} in =?base64?…?=")
            }
            Reason::BadBase64 => write!(f, "{header} is not padded standard Base64 between =?base64? and ?="),
            Reason::NotUtf8 => write!(f, "{header} decodes to something that is not UTF-8"),
            Reason::Differs => write!(f, "{header} does not match {source} in the body"),
            Reason::NotInBody => write!(f, "{header} was sent, but the body has no {source}; leave the header out"),
            Reason::UnsafeInteger => write!(f, "{source} is beyond ±(2^53 − 1) and cannot be mirrored in {header}"),
            Reason::NotMirrorable => {
                write!(f, "{source} must be a string, integer or boolean to be mirrored in {header}")
            }
            Reason::RepeatedArgument => write!(f, "{source}, mirrored in {header}, is in the arguments twice"),
            Reason::BadArguments => write!(f, "the arguments are not a JSON object, so {header} mirrors nothing"),
        }
    }
}

impl std::error::Error for Mismatch {}
