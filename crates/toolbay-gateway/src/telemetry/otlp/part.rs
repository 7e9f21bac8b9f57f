//! What documents are made of.

use std::time::SystemTime;

use super::super::attribute::{Attribute, Value};

/// A value in a document.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Part {
    Text(String),
    /// A name of a trace or span: bytes, or digits in JSON.
    Id(Vec<u8>),
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
    Message(Vec<Field>),
    /// Several messages.
    Many(Vec<Part>),
    /// Several numbers.
    Fixeds(Vec<u64>),
    Reals(Vec<f64>),
}

/// A field of a message: its number, its name, what stands in it.
pub(in super::super) type Field = (u32, &'static str, Part);

pub(super) fn message(fields: impl Into<Vec<Field>>) -> Part {
    Part::Message(fields.into())
}

pub(super) fn text(number: u32, name: &'static str, text: impl Into<String>) -> Field {
    (number, name, Part::Text(text.into()))
}

pub(super) fn many(number: u32, name: &'static str, parts: impl IntoIterator<Item = Part>) -> Field {
    (number, name, Part::Many(parts.into_iter().collect()))
}

/// A moment.
pub(super) fn time(number: u32, name: &'static str, time: SystemTime) -> Field {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (number, name, Part::Fixed(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)))
}

pub(super) fn attributes(number: u32, all: &[Attribute]) -> Field {
    let pair = |(key, value): &Attribute| {
        let value = match value {
            Value::Text(value) => text(1, "stringValue", &**value),
            Value::Flag(flag) => (2, "boolValue", Part::Flag(*flag)),
            Value::Whole(number) => (3, "intValue", Part::Whole(*number)),
        };
        message([text(1, "key", &**key), (2, "value", message([value]))])
    };
    many(number, "attributes", all.iter().map(pair))
}

/// Who says it.
pub(super) fn resource(all: &[Attribute]) -> Field {
    (1, "resource", message([attributes(1, all)]))
}

/// What in it says so.
pub(super) fn scope() -> Field {
    (1, "scope", message([text(1, "name", "toolbay"), text(2, "version", env!("CARGO_PKG_VERSION"))]))
}
