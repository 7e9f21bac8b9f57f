//! What documents are made of.

use std::time::SystemTime;

use super::super::attribute::{Attribute, Value};

/// A value in a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part<'a> {
    Text(&'a str),
    /// A text made for the document.
    Made(String),
    /// A name of a trace or span: bytes, or digits in JSON.
    Id(&'a [u8]),
    /// One of a list of words, as its number; also what is small and counted.
    Word(u64),
    /// A signed number of 64 bits: of any length, or a text in JSON.
    Whole(i64),
    /// 64 bits as they are; a text in JSON.
    Fixed(u64),
    /// 32 bits as they are.
    Short(u32),
    Real(f64),
    Flag(bool),
    /// A message: its fields.
    Message(Vec<Field<'a>>),
    /// Several messages.
    Many(Vec<Part<'a>>),
    /// Several messages, each an attribute.
    Attributes(Vec<Attribute<'a>>),
    /// Several numbers.
    Fixeds(&'a [u64]),
    Reals(&'a [f64]),
}

/// A field of a message: its number, its name, what stands in it.
pub(super) type Field<'a> = (u32, &'static str, Part<'a>);

pub(super) fn message<'a>(fields: impl Into<Vec<Field<'a>>>) -> Part<'a> {
    Part::Message(fields.into())
}

pub(super) fn many<'a>(number: u32, name: &'static str, parts: impl IntoIterator<Item = Part<'a>>) -> Field<'a> {
    (number, name, Part::Many(parts.into_iter().collect()))
}

/// A moment.
pub(super) fn time(number: u32, name: &'static str, time: SystemTime) -> Field<'static> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (number, name, Part::Fixed(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)))
}

/// The message that an attribute is.
pub(super) fn pair<'a>((name, value): &Attribute<'a>) -> [Field<'a>; 2] {
    let value = match value {
        Value::Text(value) => (1, "stringValue", Part::Text(value)),
        Value::Digits(number) => (1, "stringValue", Part::Made(number.to_string())),
        Value::Flag(flag) => (2, "boolValue", Part::Flag(*flag)),
        Value::Whole(number) => (3, "intValue", Part::Whole(*number)),
    };
    [(1, "key", Part::Text(name)), (2, "value", message([value]))]
}

/// Who says it, and what in it.
pub(super) fn resource<'a>(all: Vec<Attribute<'a>>) -> Field<'a> {
    (1, "resource", message([(1, "attributes", Part::Attributes(all))]))
}

pub(super) fn scope() -> Field<'static> {
    let version = (2, "version", Part::Text(env!("CARGO_PKG_VERSION")));
    (1, "scope", message([(1, "name", Part::Text("toolbay")), version]))
}
