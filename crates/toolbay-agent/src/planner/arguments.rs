//! The arguments of a tool out of what was read, each with where it comes from. Nothing is invented.

use serde_json::{Map, Value};
use toolbay_retrieval::slots::{Fit, Kind, Slot, fit};

use super::step::{Argument, Origin};

/// What a tool's arguments are made of.
pub(super) struct Said<'s> {
    /// The part of the request that is meant.
    pub(super) text: &'s str,
    /// What was read out of it.
    pub(super) slots: &'s [Slot],
    /// What was read out of the parts before it.
    pub(super) before: &'s [Slot],
}

/// The arguments as they are sent, and what is missing.
pub(super) fn arguments(said: &Said<'_>, schema: &Value) -> Fit {
    if says_nothing(schema) {
        return open(said);
    }
    let own = fit(said.slots, said.text, schema);
    if own.missing.is_empty() || said.before.is_empty() {
        return own;
    }
    lent(own, said, schema)
}

/// What is missing, out of the parts before, where this one says nothing of the kind: what it does say stands.
fn lent(mut own: Fit, said: &Said<'_>, schema: &Value) -> Fit {
    let says = |kind: Kind| said.slots.iter().any(|slot| slot.kind == kind);
    let before = said.before.iter().filter(|slot| !says(slot.kind));
    let all: Vec<Slot> = said.slots.iter().chain(before).cloned().collect();
    let mut joined = fit(&all, said.text, schema).arguments;
    own.missing.retain(|missing| !lend(&mut own.arguments, &mut joined, &missing.name));
    own
}

/// Moves one argument, by its name or by two with a point between; whether there was one.
fn lend(to: &mut Map<String, Value>, from: &mut Map<String, Value>, name: &str) -> bool {
    if let Some(value) = from.remove(name) {
        to.insert(name.to_owned(), value);
        return true;
    }
    let Some((outer, inner)) = name.split_once('.') else { return false };
    let Some(value) = from.get_mut(outer).and_then(Value::as_object_mut).and_then(|from| from.remove(inner)) else {
        return false;
    };
    let within = to.entry(outer).or_insert_with(|| Value::Object(Map::new()));
    within.as_object_mut().map(|within| within.insert(inner.to_owned(), value)).is_some()
}

/// Whether a schema leaves open what a tool takes, as that of a service of which nothing is told does. One that lists no
/// properties says that there are none.
fn says_nothing(schema: &Value) -> bool {
    const SAYING: [&str; 8] =
        ["properties", "patternProperties", "additionalProperties", "required", "allOf", "anyOf", "oneOf", "$ref"];
    let open = |key: &str| match schema.get(key) {
        None => true,
        Some(said) => key == "additionalProperties" && *said != Value::Bool(false),
    };
    SAYING.iter().all(|key| open(key))
}

/// What was read, under the names of its kinds; the whole part as `query` where nothing was.
fn open(said: &Said<'_>) -> Fit {
    let slots = if said.slots.is_empty() { said.before } else { said.slots };
    let mut arguments = Map::new();
    let routed = slots.iter().any(|slot| matches!(slot.kind, Kind::Origin | Kind::Destination));
    for slot in slots {
        // The prescribed expressions read a city out of each way, with the word before it.
        if routed && slot.kind == Kind::City {
            continue;
        }
        arguments.entry(slot.kind.name()).or_insert_with(|| Value::from(slot.value.clone()));
    }
    if arguments.is_empty() {
        arguments.insert("query".into(), Value::from(said.text));
    }
    Fit { arguments, missing: Vec::new() }
}

/// Each value by itself, with where it comes from.
pub(super) fn traced(arguments: &Map<String, Value>, schema: &Value, said: &Said<'_>) -> Vec<Argument> {
    let mut found = Vec::new();
    trace("", arguments, schema, said, &mut found);
    found
}

fn trace(path: &str, arguments: &Map<String, Value>, schema: &Value, said: &Said<'_>, found: &mut Vec<Argument>) {
    for (name, value) in arguments {
        let property = schema.get("properties").and_then(|properties| properties.get(name)).unwrap_or(&Value::Null);
        let name = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Object(inner) => trace(&name, inner, property, said, found),
            value => found.push(Argument { origin: origin(value, property, said), name, value: value.clone() }),
        }
    }
}

fn origin(value: &Value, property: &Value, said: &Said<'_>) -> Origin {
    if property.get("const") == Some(value) {
        return Origin::Schema;
    }
    let first = value.as_array().and_then(|values| values.first()).unwrap_or(value);
    let text = first.as_str().map_or_else(|| first.to_string(), str::to_owned);
    let is = |slot: &&Slot| slot.value == text || slot.normal.is_some_and(|normal| means(&normal.to_string(), &text));
    let slot = |slots: &[Slot]| slots.iter().find(is).cloned();
    if let Some(Slot { kind, value, .. }) = slot(said.slots) {
        Origin::Said { kind: kind.name(), words: value }
    } else if let Some(Slot { kind, value, .. }) = slot(said.before) {
        Origin::Before { kind: kind.name(), words: value }
    } else if property.get("enum").is_some() && said.text.to_lowercase().contains(&text.to_lowercase()) {
        Origin::Named
    } else if property.get("default") == Some(value) {
        Origin::Schema
    } else if text == said.text.trim() {
        Origin::Whole
    } else if said.text.to_lowercase().contains(&text.to_lowercase()) {
        Origin::Named
    } else if let Some(slot) = said.slots.iter().find(|slot| slot.normal.is_some()).filter(|_| is_dated(&text)) {
        Origin::Said { kind: slot.kind.name(), words: slot.value.clone() }
    } else {
        Origin::Schema
    }
}

/// Whether a meaning is that value: a day or a number as it stands, or one end of a stretch.
fn means(normal: &str, value: &str) -> bool {
    normal == value || normal.split('/').any(|end| end == value)
}

/// Whether a value is made of digits and the marks of dates: 20260315, `2026-03-15 15:30:00`, a number of days.
fn is_dated(value: &str) -> bool {
    value.chars().all(|char| char.is_ascii_digit() || matches!(char, '-' | ':' | 'T' | ' ' | '/'))
}
