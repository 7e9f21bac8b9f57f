//! One property of a schema, with what decides about its value.

use serde_json::{Map, Value};

/// A schema that holds more properties is looked at no further.
const MOST: usize = 200;

/// A property of an object schema.
pub(super) struct Property<'s> {
    /// Its name.
    pub(super) name: &'s str,
    /// Its schema, behind a reference and past an optional null.
    pub(super) schema: &'s Map<String, Value>,
    /// What it says about itself.
    pub(super) description: Option<&'s str>,
    /// Whether the object cannot do without it.
    pub(super) required: bool,
    /// What it is where nothing is said.
    pub(super) default: Option<&'s Value>,
}

/// What kind of JSON a property takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Texts,
    Number,
    Object,
    Other,
}

/// The properties of an object schema; `root` is where references lead.
pub(super) fn properties<'s>(schema: &'s Map<String, Value>, root: &'s Value) -> Vec<Property<'s>> {
    let required: Vec<&str> = required(schema).collect();
    let Some(rows) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    rows.iter()
        .take(MOST)
        .filter_map(|(name, value)| {
            let said = value.as_object()?;
            let schema = plain(said, root);
            let description =
                text(said, "description").or_else(|| text(schema, "description")).or_else(|| text(said, "title"));
            let default = said.get("default").or_else(|| schema.get("default"));
            let required = required.contains(&name.as_str());
            Some(Property { name, schema, description, required, default })
        })
        .collect()
}

/// The names without which an object cannot do.
pub(super) fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    list(schema, "required").filter_map(Value::as_str)
}

impl Property<'_> {
    pub(super) fn shape(&self) -> Shape {
        match kind(self.schema) {
            Some("string") => Shape::Text,
            Some("integer" | "number") => Shape::Number,
            Some("object") => Shape::Object,
            Some("array") => {
                let items = self.schema.get("items").and_then(Value::as_object);
                let texts = items.is_none_or(|items| kind(items).is_none_or(|kind| kind == "string"));
                if texts { Shape::Texts } else { Shape::Other }
            }
            Some(_) => Shape::Other,
            None if self.schema.contains_key("properties") => Shape::Object,
            None => Shape::Text,
        }
    }

    /// The values it is limited to.
    pub(super) fn choices(&self) -> Vec<&str> {
        let items = self.schema.get("items").and_then(Value::as_object);
        list(self.schema, "enum")
            .chain(items.into_iter().flat_map(|items| list(items, "enum")))
            .filter_map(Value::as_str)
            .collect()
    }

    pub(super) fn word(&self, key: &str) -> Option<&str> {
        text(self.schema, key)
    }

    /// Whether a number lies between the bounds.
    pub(super) fn admits(&self, number: i64) -> bool {
        let bound = |key: &str| self.schema.get(key).and_then(Value::as_i64);
        bound("minimum").is_none_or(|least| number >= least) && bound("maximum").is_none_or(|most| number <= most)
    }
}

/// A schema behind one reference within the same document, past one choice between it and null.
fn plain<'s>(said: &'s Map<String, Value>, root: &'s Value) -> &'s Map<String, Value> {
    let schema = behind(said, root);
    let choice = list(schema, "anyOf").chain(list(schema, "oneOf")).filter_map(Value::as_object);
    let real: Vec<_> = choice.filter(|one| kind(one) != Some("null")).collect();
    match real.as_slice() {
        [one] => behind(one, root),
        _ => schema,
    }
}

fn behind<'s>(schema: &'s Map<String, Value>, root: &'s Value) -> &'s Map<String, Value> {
    text(schema, "$ref")
        .and_then(|reference| reference.strip_prefix('#'))
        .and_then(|pointer| root.pointer(pointer))
        .and_then(Value::as_object)
        .unwrap_or(schema)
}

/// The type; of several, the first that is not null.
fn kind(schema: &Map<String, Value>) -> Option<&str> {
    match schema.get("type")? {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => None,
    }
}

fn text<'s>(schema: &'s Map<String, Value>, key: &str) -> Option<&'s str> {
    schema.get(key).and_then(Value::as_str)
}

fn list<'s>(schema: &'s Map<String, Value>, key: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}
