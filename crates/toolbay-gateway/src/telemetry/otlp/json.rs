//! Parts as JSON, by OTLP's own rules: names of traces and spans in hexadecimal digits, numbers of 64 bits as texts.

use serde_json::{Map, Value};

use super::{
    super::context::shown,
    part::{Field, Part, pair},
};

/// Writes a message.
pub(super) fn write(part: &Part<'_>) -> Vec<u8> {
    value(part).to_string().into_bytes()
}

fn value(part: &Part<'_>) -> Value {
    match part {
        Part::Text(text) => Value::from(*text),
        Part::Made(text) => Value::from(&**text),
        Part::Id(id) => Value::from(shown(id)),
        Part::Word(word) => Value::from(*word),
        Part::Whole(number) => Value::from(number.to_string()),
        Part::Fixed(bits) => Value::from(bits.to_string()),
        Part::Short(bits) => Value::from(*bits),
        Part::Real(real) => Value::from(*real),
        Part::Flag(flag) => Value::from(*flag),
        Part::Message(fields) => object(fields),
        Part::Many(parts) => parts.iter().map(value).collect(),
        Part::Attributes(all) => all.iter().map(|attribute| object(&pair(attribute))).collect(),
        Part::Fixeds(all) => all.iter().map(u64::to_string).collect(),
        Part::Reals(all) => all.iter().copied().collect(),
    }
}

fn object(fields: &[Field<'_>]) -> Value {
    let fields = fields.iter().map(|(_, name, part)| ((*name).to_owned(), value(part)));
    Value::Object(fields.collect::<Map<_, _>>())
}
