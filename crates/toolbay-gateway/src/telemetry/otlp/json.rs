//! Parts as JSON, by OTLP's own rules: names of traces and spans in hexadecimal digits, numbers of 64 bits as texts.

use serde_json::{Map, Value};

use super::{super::context::shown, part::Part};

/// Writes a message.
pub(in super::super) fn write(part: &Part) -> Vec<u8> {
    value(part).to_string().into_bytes()
}

fn value(part: &Part) -> Value {
    match part {
        Part::Text(text) => Value::from(&**text),
        Part::Id(id) => Value::from(shown(id)),
        Part::Word(word) => Value::from(*word),
        Part::Whole(number) => Value::from(number.to_string()),
        Part::Fixed(bits) => Value::from(bits.to_string()),
        Part::Short(bits) => Value::from(*bits),
        Part::Real(real) => Value::from(*real),
        Part::Flag(flag) => Value::from(*flag),
        Part::Message(fields) => {
            let fields = fields.iter().map(|(_, name, part)| ((*name).to_owned(), value(part)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Part::Many(parts) => parts.iter().map(value).collect(),
        Part::Fixeds(all) => all.iter().map(u64::to_string).collect(),
        Part::Reals(all) => all.iter().copied().collect(),
    }
}
