//! Small questions to the JSON tree: kinds, places, and no key twice.

use jsonc_parser::{
    ast::{Object, ObjectProp, Value},
    common::Ranged as _,
};

use super::{
    error::{Error, Fault},
    source::Source,
};

/// What a value is, in words.
pub(super) fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a text",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "true or false",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}

/// Where a value begins.
pub(super) fn start(value: &Value<'_>) -> usize {
    value.start()
}

/// Where a property's key begins.
pub(super) fn key_start(property: &ObjectProp<'_>) -> usize {
    property.range.start
}

/// Refuses an object that has one key twice: a reader who takes the last would silently drop the first.
pub(super) fn no_key_twice(object: &Object<'_>, what: &str, source: &Source<'_>) -> Result<(), Error> {
    let mut seen = std::collections::HashMap::with_capacity(object.properties.len());
    for property in &object.properties {
        if let Some(first) = seen.insert(property.name.as_str(), key_start(property)) {
            let problem = format!("{what} `{}` is given twice", property.name.as_str());
            let remedy = format!("keep one; the first is at {}", source.place(first));
            return Err(source.error(Fault::Duplicate, key_start(property), problem, remedy));
        }
    }
    Ok(())
}
