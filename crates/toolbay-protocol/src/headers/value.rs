//! Header values: what may stand plain, what must be wrapped, and what comes back. Not for comparing them with a body.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Reason;

/// One header field to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The field's name, in the spelling of the spec.
    pub name: Cow<'static, str>,
    /// The field's value, encoded: visible ASCII, spaces and tabs only.
    pub value: String,
}

/// A text as a header value: as it is where that is safe, else wrapped in `=?base64?…?=`.
pub fn encode(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let plain = bytes.iter().all(|&byte| is_field_byte(byte));
    let padded = bytes.first().is_some_and(|&byte| is_blank(byte)) || bytes.last().is_some_and(|&byte| is_blank(byte));
    let looks_wrapped = text.starts_with(OPEN) && text.ends_with(CLOSE);
    if plain && !padded && !looks_wrapped {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{OPEN}{}{CLOSE}", STANDARD.encode(bytes)))
}

/// The text that a received header value stands for; blanks around it do not count.
pub fn decode(value: &[u8]) -> Result<Cow<'_, str>, Reason> {
    let text = plain(value)?;
    let wrapped = text.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE));
    let Some(wrapped) = wrapped else { return Ok(Cow::Borrowed(text)) };
    // This engine insists on padding, on its own alphabet, and on zero bits at the end: one text has one spelling.
    let bytes = STANDARD.decode(wrapped).map_err(|_| Reason::BadBase64)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Reason::NotUtf8)
}

/// A received value that is never wrapped, such as a method.
pub(super) fn plain(value: &[u8]) -> Result<&str, Reason> {
    let value = trimmed(value);
    if !value.iter().all(|&byte| is_field_byte(byte)) {
        return Err(Reason::InvalidCharacters);
    }
    std::str::from_utf8(value).map_err(|_| Reason::InvalidCharacters)
}

fn trimmed(value: &[u8]) -> &[u8] {
    let kept = |byte: &u8| !is_blank(*byte);
    let from = value.iter().position(kept).unwrap_or(value.len());
    let to = value.iter().rposition(kept).map_or(from, |last| last + 1);
    &value[from..to]
}

// spec: RFC 9110 section 5.5, without obs-text
fn is_field_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";
