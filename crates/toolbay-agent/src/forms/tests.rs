use serde_json::{Map, Value, json};

use super::*;

fn form(properties: Value, required: &[&str]) -> Form {
    Form::read(&json!({"type": "object", "properties": properties, "required": required})).unwrap()
}

fn typed(schema: Value, text: &str) -> Result<Option<Value>, String> {
    form(json!({"f": schema}), &["f"]).fields[0].typed(text)
}

#[test]
fn what_is_typed_becomes_a_value_of_its_kind() {
    let titled = json!({"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]});
    let old = json!({"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"]});
    let several = json!({"type": "array", "items": {"anyOf": [
        {"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]}, "maxItems": 2});
    for (schema, text, expected) in [
        (json!({"type": "string"}), " Ann ", json!("Ann")),
        (json!({"type": "integer"}), "7", json!(7)),
        (json!({"type": "number"}), "2.5", json!(2.5)),
        (json!({"type": "boolean"}), "Yes", json!(true)),
        (json!({"type": "string", "enum": ["2", "1"]}), "1", json!("1")),
        (titled.clone(), "blue", json!("b")),
        (titled, "1", json!("r")),
        (old, "Blue", json!("b")),
        (several.clone(), "Red, 2, r", json!(["r", "b"])),
        (json!({"type": "string", "format": "email"}), "a@b.example", json!("a@b.example")),
        (json!({"type": "string", "format": "date"}), "2026-11-30", json!("2026-11-30")),
        (json!({"type": "string", "default": "x"}), "", json!("x")),
    ] {
        assert_eq!(typed(schema.clone(), text), Ok(Some(expected)), "{schema} {text}");
    }
}

#[test]
fn what_does_not_fit_is_told_so_that_it_can_be_mended() {
    for (schema, text, why) in [
        (json!({"type": "string"}), "", "needed"),
        (json!({"type": "string", "minLength": 3}), "ab", "at least 3 characters"),
        (json!({"type": "integer"}), "2.5", "whole number"),
        (json!({"type": "integer", "maximum": 9}), "10", "at most 9"),
        (json!({"type": "number"}), "NaN", "type a number"),
        (json!({"type": "boolean"}), "maybe", "yes or no"),
        (json!({"type": "string", "enum": ["r", "b"]}), "green", "none of r, b"),
        (
            json!({"type": "array", "items": {"type": "string", "enum": ["r"]}, "minItems": 1}),
            ",",
            "at least 1 choices",
        ),
        (json!({"type": "string", "format": "email"}), "ann", "mail address"),
        (json!({"type": "string", "format": "uri"}), "no uri", "URI"),
        (json!({"type": "string", "format": "date-time"}), "tomorrow", "moment"),
    ] {
        let told = typed(schema.clone(), text).unwrap_err();
        assert!(told.contains(why), "{schema} {text}: {told}");
    }
}

#[test]
fn a_form_is_sent_whole_or_not_at_all() {
    let form = form(json!({"name": {"type": "string"}, "copy": {"type": "boolean", "default": false}}), &["name"]);
    let content = |value: Value| value.as_object().cloned().unwrap_or_default();
    let full = form.complete(content(json!({"name": "t"})));
    assert_eq!(Value::Object(full.clone()), json!({"name": "t", "copy": false}));
    assert_eq!(form.check(&full), Ok(()));
    for (wrong, field) in [(json!({}), "name"), (json!({"name": 1}), "name"), (json!({"name": "t", "x": 1}), "x")] {
        assert_eq!(form.check(&content(wrong)).unwrap_err().field, field);
    }
    assert!(Form::read(&json!({"type": "object", "properties": {"o": {"type": "object"}}})).is_err());
    assert!(Form::read(&json!({"type": "object", "properties": {}, "required": ["x"]})).is_err());
    assert_eq!(Form::read(&json!({"type": "object", "properties": {}})).unwrap().check(&Map::new()), Ok(()));
}

#[test]
fn a_form_that_asks_for_secrets_is_noticed() {
    let form = form(
        json!({"user": {"type": "string"}, "api_key": {"type": "string"}, "spin": {"type": "string"},
        "q": {"type": "string", "title": "Your password"}}),
        &[],
    );
    let names: Vec<_> = form.secrets().map(|field| field.name.as_str()).collect();
    assert!(names.contains(&"api_key") && names.contains(&"q") && names.len() == 2, "{names:?}");
}

#[test]
fn an_address_shows_the_host_that_is_asked() {
    let page = Page::read("https://ID.example.com:8443/a?b=https://bank.com").unwrap();
    assert_eq!((page.host.as_str(), page.warnings.len()), ("id.example.com:8443", 0));
    assert_eq!(Page::read("https://xn--pple-43d.com/").unwrap().warnings.len(), 1);
    assert_eq!(Page::read("http://example.com/").unwrap().warnings.len(), 1);
    assert_eq!(Page::read("http://localhost:1/").unwrap().warnings.len(), 0);
    for wrong in ["https://bank.com@evil.example/", "file:///etc/passwd", "javascript:alert(1)", "https://a b/", "x"] {
        assert!(Page::read(wrong).is_err(), "{wrong}");
    }
}
