//! What a model wrote, as a tool takes it.

use serde_json::{Map, Value};

use super::{tool::Compiled, words};
use crate::transcript::Written;

/// So many flaws are told at once.
const FLAWS: usize = 10;

pub(super) fn read(compiled: &Compiled, written: &Written) -> Result<Map<String, Value>, String> {
    let written = match written {
        Written::Object(written) => written.clone(),
        Written::Unreadable(text) => unwrapped(text)?,
    };
    let own = compiled.renames.restored(written.clone());
    let flaws = match check(compiled, &Value::Object(own.clone())) {
        Ok(()) => return Ok(own),
        Err(flaws) => flaws,
    };
    // Some models write numbers, and whole objects, as texts: taken as what the schema says, where that makes them fit.
    let mut meant = Value::Object(written);
    mean(&mut meant, &compiled.defined().schema);
    if let Value::Object(meant) = meant {
        let meant = compiled.renames.restored(meant);
        if check(compiled, &Value::Object(meant.clone())).is_ok() {
            return Ok(meant);
        }
    }
    Err(flaws)
}

pub(super) fn check(compiled: &Compiled, arguments: &Value) -> Result<(), String> {
    let Some(validator) = compiled.validator() else { return Ok(()) };
    let flaws = validator.iter_errors(arguments).take(FLAWS).map(|flaw| {
        let told = words::cut(&flaw.to_string());
        match flaw.instance_path().as_str() {
            "" => told,
            path => format!("`{}`: {told}", words::cut(&path.trim_start_matches('/').replace('/', "."))),
        }
    });
    let flaws: Vec<_> = flaws.collect();
    if flaws.is_empty() { Ok(()) } else { Err(flaws.join("; ")) }
}

/// An object that was written as a text of JSON, once or twice.
fn unwrapped(text: &str) -> Result<Map<String, Value>, String> {
    let mut value = serde_json::from_str(text).unwrap_or(Value::Null);
    if let Value::String(inner) = &value {
        value = serde_json::from_str(inner).unwrap_or(Value::Null);
    }
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(format!("the arguments are no JSON object: {:?}", words::cut(text))),
    }
}

/// Takes texts for what the schema says that they are, and numbers for texts.
fn mean(value: &mut Value, schema: &Value) {
    let is = |name: &str| match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(types)) => types.iter().any(|one| one == name),
        _ => false,
    };
    let typed = schema.get("type").is_some();
    let meant = match &*value {
        Value::String(text) if typed && !is("string") => {
            serde_json::from_str::<Value>(text).ok().filter(|read| match read {
                Value::Number(_) => is("number") || is("integer"),
                Value::Bool(_) => is("boolean"),
                Value::Object(_) => is("object"),
                Value::Array(_) => is("array"),
                Value::Null => is("null"),
                Value::String(_) => false,
            })
        }
        Value::Number(number) if is("string") && !is("number") && !is("integer") => Some(number.to_string().into()),
        _ => None,
    };
    if let Some(meant) = meant {
        *value = meant;
    }
    match value {
        Value::Object(object) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, value) in object {
                if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
                    mean(value, schema);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| mean(item, schema));
            }
        }
        _ => {}
    }
}
