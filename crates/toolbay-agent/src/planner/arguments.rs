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
    // What a part does not say, an earlier one may have said.
    let all: Vec<Slot> = said.slots.iter().chain(said.before).cloned().collect();
    let joined = fit(&all, said.text, schema);
    if joined.missing.len() < own.missing.len() { joined } else { own }
}

/// Whether a schema leaves open what a tool takes, as that of a service of which nothing is told does.
fn says_nothing(schema: &Value) -> bool {
    let empty = |key: &str| schema.get(key).and_then(Value::as_object).is_none_or(Map::is_empty);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let composed = ["allOf", "anyOf", "oneOf", "$ref"].iter().any(|key| schema.get(key).is_some());
    let required = schema.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty());
    empty("properties") && empty("patternProperties") && !closed && !composed && !required
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
pub(super) fn traced(arguments: &Map<String, Value>, said: &Said<'_>) -> Vec<Argument> {
    let mut found = Vec::new();
    trace("", arguments, said, &mut found);
    found
}

fn trace(path: &str, arguments: &Map<String, Value>, said: &Said<'_>, found: &mut Vec<Argument>) {
    for (name, value) in arguments {
        let name = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Object(inner) => trace(&name, inner, said, found),
            value => found.push(Argument { origin: origin(value, said), name, value: value.clone() }),
        }
    }
}

fn origin(value: &Value, said: &Said<'_>) -> Origin {
    let first = value.as_array().and_then(|values| values.first()).unwrap_or(value);
    let text = first.as_str().map_or_else(|| first.to_string(), str::to_owned);
    let is = |slot: &&Slot| slot.value == text || slot.normal.is_some_and(|normal| means(&normal.to_string(), &text));
    let slot = |slots: &[Slot]| slots.iter().find(is).cloned();
    if let Some(Slot { kind, value, .. }) = slot(said.slots) {
        Origin::Said { kind: kind.name(), words: value }
    } else if let Some(Slot { kind, value, .. }) = slot(said.before) {
        Origin::Before { kind: kind.name(), words: value }
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
