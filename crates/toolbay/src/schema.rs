//! Schemas from types, in the plain form that picky hosts take: an object at the root, no type arrays for what may be
//! left out, nothing behind references that need not be.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};
use toolbay_protocol::{
    Raw,
    types::{FieldSchema, RequestedSchema},
};

/// Whose schema it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// What is taken: a member that may be `null` may as well be left out, so `null` is not mentioned.
    Input,
    /// What is given: `null` is a value like others.
    Output,
}

/// The schema of arguments: always an object.
///
/// # Panics
/// Where the type is written as anything but an object: a tool's arguments have names.
pub(crate) fn of_input<A: JsonSchema>(whose: &str) -> Map<String, Value> {
    let mut schema = generate::<A>(Side::Input);
    let kind = schema.get("type").cloned();
    match kind.as_ref().and_then(Value::as_str) {
        Some("object") => {}
        None => {
            schema.insert("type".into(), "object".into());
        }
        Some(other) => panic!(
            "the arguments of {whose} are written as {other}, but must be an object: take a struct with named fields"
        ),
    }
    schema
}

/// The schema of a result.
pub(crate) fn of_output<T: JsonSchema>() -> Raw {
    Raw::of(&generate::<T>(Side::Output))
}

/// The schema of a tool without arguments (spec: server/tools).
pub(crate) fn of_nothing() -> Map<String, Value> {
    let members = [("type", Value::from("object")), ("additionalProperties", Value::from(false))];
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The form that a type describes (spec: client/elicitation): a flat object of simple fields.
pub(crate) fn of_form<T: JsonSchema>() -> Result<RequestedSchema, String> {
    let mut schema = generate::<T>(Side::Input);
    schema.retain(|key, _| matches!(key.as_str(), "type" | "properties" | "required"));
    schema.entry("properties").or_insert_with(|| Map::new().into());
    for field in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        name_choices(field.1);
    }
    let form: RequestedSchema = Raw::of(&schema).read().map_err(|flaw| flaw.to_string())?;
    let odd = form.properties.iter().find(|(_, field)| matches!(field, FieldSchema::Unknown(_)));
    match odd {
        Some((name, _)) => Err(format!("field `{name}` is no text, number, truth value or choice")),
        None => Ok(form),
    }
}

/// Choices whose docs stand beside them have titles in a form.
fn name_choices(field: &mut Value) {
    let choices = field.get_mut("oneOf").and_then(Value::as_array_mut);
    let mut titled = false;
    for choice in choices.into_iter().flatten().filter_map(Value::as_object_mut) {
        let shown = choice.remove("title").or_else(|| choice.get("description").cloned());
        let shown = shown.or_else(|| choice.get("const").cloned()).unwrap_or_default();
        choice.retain(|key, _| key == "const");
        choice.insert("title".into(), shown);
        titled = true;
    }
    if titled && let Some(field) = field.as_object_mut() {
        field.insert("type".into(), "string".into());
    }
}

fn generate<T: JsonSchema>(side: Side) -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut value = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut value, side);
    match value {
        Value::Object(mut map) => {
            if map.get("title").and_then(Value::as_str) == Some(&*T::schema_name()) {
                map.remove("title");
            }
            map
        }
        // `true`: anything at all.
        _ => Map::new(),
    }
}

/// Formats that say no more than the Rust type's name.
const NOISE: [&str; 14] = [
    "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64", "uint128", "uint",
    "float", "double",
];

fn tidy(value: &mut Value, side: Side) {
    match value {
        Value::Object(map) => {
            if map.get("format").and_then(Value::as_str).is_some_and(|format| NOISE.contains(&format)) {
                map.remove("format");
            }
            if side == Side::Input {
                forget_null(map);
            }
            for (key, inner) in map.iter_mut() {
                match (key.as_str(), inner) {
                    // What stands there is data, not a schema.
                    ("const" | "enum" | "default" | "examples", _) => {}
                    // The names there are the author's own.
                    ("properties" | "patternProperties" | "$defs" | "dependentSchemas", Value::Object(named)) => {
                        named.values_mut().for_each(|inner| tidy(inner, side));
                    }
                    (_, inner) => tidy(inner, side),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| tidy(item, side)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Takes `null` out of what a member may be.
fn forget_null(map: &mut Map<String, Value>) {
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(Value::Array(kinds)) = map.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            map.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum")
        && values.len() > 1
    {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(options)) = map.get_mut("anyOf") else { return };
    options.retain(|option| option.get("type").is_none_or(|kind| kind != "null"));
    if options.len() == 1
        && let Some(Value::Object(only)) = options.pop()
    {
        map.remove("anyOf");
        for (key, value) in only {
            map.entry(key).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(dead_code, reason = "only their schemas are looked at")]
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    struct Inner {
        at: i64,
    }

    /// What is said of it.
    #[derive(JsonSchema)]
    struct Args {
        /// Which one.
        name: String,
        limit: Option<u32>,
        inner: Option<Inner>,
    }

    #[test]
    fn schemas_are_plain() {
        let schema = Value::Object(of_input::<Args>("x"));
        let expected = json!({
            "type": "object",
            "description": "What is said of it.",
            "properties": {
                "name": {"type": "string", "description": "Which one."},
                "limit": {"type": "integer", "minimum": 0},
                "inner": {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]},
            },
            "required": ["name"],
        });
        assert_eq!(schema, expected);
    }

    #[derive(JsonSchema)]
    struct Odd {
        #[schemars(rename = "enum")]
        choice: Option<u32>,
        default: Option<u32>,
    }

    #[test]
    fn names_that_schemas_know_too_are_names() {
        let schema = Value::Object(of_input::<Odd>("x"));
        let plain = json!({"type": "integer", "minimum": 0});
        assert_eq!(schema["properties"], json!({"enum": plain, "default": plain}));
    }

    #[test]
    #[should_panic(expected = "take a struct with named fields")]
    fn arguments_without_names_are_refused_at_once() {
        of_input::<Vec<String>>("tool `x`");
    }
}
