use std::{path::PathBuf, sync::Arc};

use serde_json::{Map, Value, json};

use super::*;
use crate::{
    model::Wire,
    toolbox::{Hints, Tool, ToolId},
    transcript::Written,
};

fn tool(schema: Value) -> Arc<Tool> {
    let id = ToolId { server: "s".into(), name: "t".into() };
    Arc::new(Tool { id, public: "s__t".into(), description: "does".into(), schema, hints: Hints::default() })
}

fn compiled(wire: Wire, schema: Value) -> Compiled {
    compile(wire, "s__t", &tool(schema))
}

/// What a provider refuses in a schema, found without the compiler's own rules.
fn refused(wire: Wire, schema: &Value, at: &str, root: bool) -> Vec<String> {
    let mut found = vec![];
    let mut no = |what: &str| found.push(format!("{at}: {what}"));
    let Value::Object(object) = schema else { return vec![format!("{at}: no object")] };
    if root {
        for keyword in ["anyOf", "oneOf", "allOf", "enum", "not"] {
            if object.contains_key(keyword) {
                no(keyword);
            }
        }
        if object.get("type") != Some(&json!("object")) || !object.get("properties").is_some_and(Value::is_object) {
            no("no object at the root");
        }
        if !jsonschema::draft202012::meta::is_valid(schema) {
            no("no JSON Schema");
        }
    }
    if ["$ref", "$dynamicRef", "$defs", "definitions"].iter().any(|keyword| object.contains_key(*keyword)) {
        no("references");
    }
    let array = object.get("type") == Some(&json!("array"));
    if array && !object.contains_key("items") && !object.contains_key("prefixItems") {
        no("an array without items");
    }
    const GEMINI: [&str; 16] = [
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "oneOf",
        "properties",
        "additionalProperties",
        "required",
    ];
    if wire == Wire::Gemini {
        object.keys().filter(|keyword| !GEMINI.contains(&keyword.as_str())).for_each(|keyword| no(keyword));
        if object.get("type").is_some_and(Value::is_array) {
            no("several types");
        }
        let plain = |values: &Vec<Value>| values.iter().all(|value| value.is_string() || value.is_number());
        if !object.get("enum").and_then(Value::as_array).is_none_or(plain) {
            no("an enumeration of more than texts and numbers");
        }
    }
    if wire == Wire::Ollama && object.get("type").is_some_and(|name| !name.is_string()) {
        no("several types");
    }
    let name_fits = |name: &str| match wire {
        Wire::Anthropic => name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c)),
        Wire::Gemini => name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
        Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Ollama => true,
    };
    for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if !name_fits(name) {
            found.push(format!("{at}: a property {name:?}"));
        }
        found.extend(refused(wire, property, &format!("{at}/{name}"), false));
    }
    for keyword in ["items", "not", "contains"] {
        if let Some(below) = object.get(keyword).filter(|below| below.is_object()) {
            found.extend(refused(wire, below, &format!("{at}/{keyword}"), false));
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for below in object.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            found.extend(refused(wire, below, &format!("{at}/{keyword}"), false));
        }
    }
    found
}

/// Compiles for every wire; each takes it, in bounds, and says so where the model is told less.
fn taken(schema: &Value) -> Vec<Compiled> {
    let all = Wire::ALL.map(|wire| {
        let compiled = compiled(wire, schema.clone());
        let shown = &compiled.defined().schema;
        assert_eq!(refused(wire, shown, "", true), [""; 0], "{wire}: {:.400}", schema.to_string());
        assert!(shown.to_string().len() < 2_000_000, "{wire}");
        assert!(compiled.losses().len() <= 60, "{wire}");
        compiled
    });
    all.into()
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({"type": "string"}), |inner, _| json!({"type": "object", "properties": {"a": inner}}))
}

fn hostile() -> Vec<Value> {
    let wide: Map<String, Value> = (0..1_000).map(|at| (format!("p{at}"), json!({"type": "string"}))).collect();
    let fan: Map<String, Value> = (0..12)
        .map(|at| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            (format!("d{at}"), json!({"type": "object", "properties": {"a": next, "b": next, "c": next}}))
        })
        .chain([("d12".into(), json!({"type": "string"}))])
        .collect();
    vec![
        Value::Null,
        json!(true),
        json!([]),
        json!({}),
        json!({"type": "string"}),
        json!({"type": ["object", "null"]}),
        json!({"type": "object", "properties": 5, "required": "a", "description": 7}),
        json!({"type": "object", "properties": {"a": true, "b": false, "c": 3, "d": null, "e": []}}),
        json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                         {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}]}),
        json!({"oneOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}], "$defs": {"x": {"type": "object", "properties": {"q": {"type": "string"}}}}}),
        json!({"allOf": [{"anyOf": [{"required": ["a"]}]}, {"properties": {"a": {"type": "number"}}}], "type": "object"}),
        json!({"type": "object", "not": {"required": ["x"]}, "if": {}, "then": {"required": ["y"]}, "enum": [{}]}),
        json!({"$ref": "#"}),
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"type": "object", "properties": {"a": {"$ref": "http://169.254.169.254/x"}, "b": {"$ref": 7}, "c": {"$ref": "#/nowhere"}}}),
        json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}},
               "$defs": {"node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": fan}),
        json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": ["integer", "string"]},
               "c": {"type": "int"}, "d": {"type": [7]}, "e": {"type": []}}}),
        json!({"type": "object", "properties": {"a": {"const": "x"}, "b": {"const": {"deep": 1}}, "c": {"enum": []},
               "d": {"enum": [null, true, "x", 1]}, "e": {"enum": "x"}, "f": {"const": null}}}),
        json!({"type": "object", "properties": {"a": {"type": "number", "exclusiveMinimum": true, "minimum": "3", "multipleOf": 0},
               "b": {"type": "string", "pattern": "(?=x)[", "minLength": -1, "format": 9}}}),
        json!({"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "array", "items": [{"type": "string"}]},
               "c": {"prefixItems": [{"type": "string"}, true]}, "d": {"items": false}}}),
        json!({"type": "object", "properties": {"größe": {"type": "string"}, "a/b~c": {"type": "string"}, "": {"type": "string"},
               "x".repeat(300): {"type": "string"}}, "required": ["größe", "größe", 5]}),
        json!({"type": "object", "additionalProperties": {"type": "array"}, "patternProperties": {"^x": true},
               "dependentRequired": {"a": ["b"]}, "unevaluatedProperties": false, "x-vendor": {"deep": [1]}}),
        json!({"type": "object", "properties": wide}),
        json!({"type": "object", "properties": {"big": {"type": "string", "description": "x".repeat(2_000_000)}}}),
        json!({"type": "object", "properties": {"many": {"enum": (0..50_000).collect::<Vec<_>>()}}}),
        nested(60),
        nested(110),
    ]
}

#[test]
fn whatever_a_server_writes_every_wire_takes_the_tool() {
    for schema in hostile() {
        for compiled in taken(&schema) {
            // Nothing goes in silence: what is not shown as it was is told.
            if !schema.is_object() || schema.to_string().len() > 256 * 1024 {
                assert_eq!(compiled.severity(), Some(Severity::NotPortable));
                assert!(compiled.defined().description.starts_with("does\nIt takes a JSON object"));
            }
        }
    }
}

#[test]
fn a_root_that_chooses_is_folded_and_its_branches_are_enforced_here() {
    let schema = json!({"anyOf": [
        {"type": "object", "properties": {"id": {"type": "string"}, "all": {"type": "boolean"}}, "required": ["id", "all"]},
        {"type": "object", "properties": {"name": {"type": "string"}, "all": {"type": "boolean"}}, "required": ["name", "all"]},
    ]});
    for compiled in taken(&schema) {
        let shown = &compiled.defined().schema;
        assert_eq!(shown["required"], json!(["all"]));
        assert_eq!(shown["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "all", "name"]);
        assert!(compiled.losses().iter().any(|loss| loss.what == "root anyOf folded; branches enforced here"));
        assert!(compiled.defined().description.contains("id and all; or name and all"));
        let written = |arguments: Value| Written::Object(arguments.as_object().unwrap().clone());
        assert!(compiled.arguments(&written(json!({"name": "x", "all": true}))).is_ok());
        assert!(compiled.arguments(&written(json!({"all": true}))).is_err());
    }
}

#[test]
fn a_property_that_a_wire_cannot_name_comes_back_under_its_own_name() {
    let inner =
        json!({"type": "object", "properties": {"größe in mm": {"type": "integer"}}, "required": ["größe in mm"]});
    let schema =
        json!({"type": "object", "properties": {"teile": {"type": "array", "items": inner}}, "required": ["teile"]});
    for compiled in taken(&schema) {
        let item = &compiled.defined().schema["properties"]["teile"]["items"];
        let shown = item["properties"].as_object().unwrap().keys().next().unwrap().clone();
        assert_eq!(item["required"], json!([shown]));
        let written = json!({"teile": [{shown: 4}]}).as_object().unwrap().clone();
        let own = compiled.arguments(&Written::Object(written)).unwrap();
        assert_eq!(Value::Object(own), json!({"teile": [{"größe in mm": 4}]}));
    }
}

#[test]
fn texts_are_taken_for_what_the_schema_says_where_that_makes_them_fit() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}, "on": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "number"}}, "id": {"type": "string"}}, "required": ["n"]});
    let compiled = compiled(Wire::Ollama, schema);
    let read = |arguments: Value| compiled.arguments(&Written::Object(arguments.as_object().unwrap().clone()));
    let meant = read(json!({"n": "10", "on": "true", "list": "[1, 2]", "id": 7})).unwrap();
    assert_eq!(Value::Object(meant), json!({"n": 10, "on": true, "list": [1, 2], "id": "7"}));
    assert_eq!(
        Value::Object(read(json!({"n": 1, "id": "10"})).unwrap()),
        json!({"n": 1, "id": "10"}),
        "it fits as it is"
    );
    let wrong = read(json!({"n": "ten"})).unwrap_err();
    assert!(wrong.contains("`n`") && wrong.contains("integer"), "{wrong}");
    let whole = compiled.arguments(&Written::Unreadable("{\"n\": 3".into())).unwrap_err();
    assert!(whole.contains("no JSON object"), "{whole}");
    assert!(
        compiled.arguments(&Written::Unreadable("\"{\\\"n\\\": 3}\"".into())).is_ok(),
        "a text that holds the object"
    );
}

#[test]
fn a_schema_that_cannot_be_checked_against_refuses_no_call() {
    for schema in [json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}}}), Value::Null] {
        let compiled = compiled(Wire::OpenAiChat, schema);
        assert!(compiled.unchecked().is_some());
        assert!(compiled.arguments(&Written::Object(Map::from_iter([("a".into(), json!(1))]))).is_ok());
    }
}

#[test]
fn names_are_what_each_wire_takes_whatever_a_server_calls_its_tools() {
    let names = ["", "9lives", "-x", "weather.get", "天气", "a b/c", &"long".repeat(60)];
    for wire in Wire::ALL {
        let longest = match wire {
            Wire::Anthropic => 128,
            Wire::Gemini => 63,
            Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Ollama => 64,
        };
        for own in names {
            let id = ToolId { server: "s".into(), name: own.into() };
            let name = name_of(wire, own, &id);
            assert!((1..=longest).contains(&name.len()), "{wire}: {name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{wire}: {name}");
            assert!(wire != Wire::Gemini || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'), "{name}");
            assert_eq!(name, name_of(wire, own, &id));
        }
    }
}

/// Arguments that fit a schema, as far as a simple reading of it goes.
fn example(schema: &Value, seed: &mut u64) -> Value {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let dice = (*seed >> 33) as usize;
    if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
        return values[dice % values.len()].clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => json!(dice % 10),
        Some("boolean") => json!(dice.is_multiple_of(2)),
        Some("array") => {
            let item = schema.get("items").cloned().unwrap_or(json!({}));
            (0..dice % 3).map(|_| example(&item, seed)).collect()
        }
        Some("object") => {
            let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
            let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            let mut object = Map::new();
            for (name, property) in properties {
                let value = example(property, seed);
                if required.contains(&json!(name)) || !(*seed >> 40).is_multiple_of(3) {
                    object.insert(name.clone(), value);
                }
            }
            Value::Object(object)
        }
        _ => json!("x"),
    }
}

#[test]
fn what_fits_a_schema_fits_what_is_shown_of_it_or_the_loss_is_told() {
    let mut schemas = hostile();
    schemas.extend(of_corpora());
    let (mut seed, mut tried) = (7, 0);
    for schema in schemas.iter().filter(|schema| schema.is_object() && schema.to_string().len() < 100_000) {
        let linear = jsonschema::PatternOptions::regex();
        let Ok(own) = jsonschema::options().with_pattern_options(linear).build(schema) else { continue };
        for compiled in taken(schema) {
            let arguments = example(schema, &mut seed);
            if !arguments.is_object() || !own.is_valid(&arguments) || !compiled.renames.is_empty() {
                continue;
            }
            tried += 1;
            let shown = &compiled.defined().schema;
            let kept = jsonschema::is_valid(shown, &arguments);
            assert!(kept || compiled.severity() >= Some(Severity::Note), "{arguments}: {schema} is shown as {shown}");
            assert!(compiled.arguments(&Written::Object(arguments.as_object().unwrap().clone())).is_ok());
        }
    }
    assert!(tried > 50);
}

/// The input schemas of real servers, where the corpora lie beside the clone.
fn of_corpora() -> Vec<Value> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora"));
    let place = std::env::var_os("TOOLBAY_CORPORA").map_or(beside, PathBuf::from).join("tool-retrieval");
    let mut schemas = vec![];
    for corpus in ["livemcp", "seal", "ace-en", "ace-zh", "stabletoolbench"] {
        let Ok(text) = std::fs::read_to_string(place.join(corpus).join("tools.jsonl")) else {
            println!("skipped: {corpus} is not at {}", place.display());
            continue;
        };
        let tools = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        schemas.extend(tools.filter_map(|mut tool| tool.get_mut("input_schema").map(Value::take)));
    }
    schemas
}
