use serde_json::{Value, json};
use toolbay_protocol::Raw;

use super::{
    schema::{flaw, schema_flaw},
    text::mended,
};

#[test]
fn half_characters_are_replaced_and_whole_ones_are_not() {
    for (text, expected) in [
        (r#""plain \n \u0041""#, None),
        (r#""\ud83d\ude00""#, None),
        (r#""\\ud800""#, None),
        (r#""a\ud800b""#, Some(r#""a\ufffdb""#)),
        (r#""\ude00\uD83D""#, Some(r#""\ufffd\ufffd""#)),
        (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
        (r#""\ud800"#, Some(r#""\ufffd"#)),
    ] {
        assert_eq!(mended(text.as_bytes()), expected.map(|text| text.as_bytes().to_vec()), "{text}");
    }
}

#[test]
fn a_schema_that_hurts_is_told_from_one_that_is_only_odd() {
    let check = |schema: Value, says: Option<&str>| {
        let flaw = flaw(&Raw::of(&schema));
        assert!(flaw.as_deref().zip(says).is_some_and(|(flaw, says)| flaw.contains(says)) || flaw.as_deref() == says);
    };
    check(
        json!({"type": "object", "properties": {"kind": {"type": ["string", "null"]}, "any": {"type": "any"}}}),
        None,
    );
    check(json!({"properties": {"type": {"const": {"type": "odd"}}}, "default": {"$ref": "http://x.test/"}}), None);
    // A tree is about parts of itself.
    check(json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}), None);
    check(json!({"$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/a"}), None);
    check(
        json!({"$id": "https://x.test/s", "$defs": {"t": {"$id": "t", "type": "null"}}, "items": {"$ref": "t"}}),
        None,
    );
    check(json!({"items": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}), None);
    check(json!({"items": {"$ref": "#/missing"}}), None);
    check(json!({"$ref": "#"}), Some("without end"));
    check(json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}), Some("without end"));
    check(json!({"$defs": {"a": {"$anchor": "me", "not": {"$ref": "#me"}}}}), Some("without end"));
    check(json!({"items": {"$ref": "http://169.254.169.254/latest"}}), Some("169.254"));
    check(json!({"items": {"$ref": "file:///etc/passwd#/a"}}), Some("nothing is fetched"));
    check(json!({"properties": {"x": {"type": "strnig"}}}), Some("strnig"));
    check(json!({"properties": {"x": {"type": 7}}}), Some("7"));
    check(json!({"properties": {"x": "string"}}), Some("must stand"));
}

/// A chain of schemas in which each refers twice to the next, under a keyword.
fn doubled(links: usize, keyword: &str) -> Value {
    let link = |place: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", place + 1)});
        let both = match keyword {
            "properties" => json!({"left": next, "right": next}),
            _ => json!([next, next]),
        };
        (format!("d{place}"), json!({keyword: both}))
    };
    let mut all: serde_json::Map<_, _> = (0..links).map(link).collect();
    all.insert(format!("d{links}"), json!({"type": "object"}));
    json!({"$defs": all, "$ref": "#/$defs/d0"})
}

#[test]
fn what_references_double_without_bound_is_told_unless_it_is_about_parts() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let told = flaw(&Raw::of(&doubled(40, keyword)));
        assert!(told.is_some_and(|told| told.contains("unfolds to more than 100000")), "{keyword}");
        assert_eq!(flaw(&Raw::of(&doubled(8, keyword))), None, "{keyword}");
    }
    assert_eq!(flaw(&Raw::of(&doubled(40, "properties"))), None);
}

#[test]
fn what_is_deeper_than_a_stack_is_told_to_whoever_checks_values() {
    let chain = |links: usize, keyword: &str| {
        let link = |place: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", place + 1)});
            let within = match keyword {
                "properties" => json!({"next": next}),
                "items" => next,
                _ => json!([next]),
            };
            (format!("d{place}"), json!({keyword: within}))
        };
        let mut all: serde_json::Map<_, _> = (0..links).map(link).collect();
        all.insert(format!("d{links}"), json!({"type": "object"}));
        json!({"$defs": all, "$ref": "#/$defs/d0"})
    };
    for keyword in ["allOf", "properties", "items"] {
        let told = schema_flaw(&chain(5_000, keyword));
        assert!(told.is_some_and(|told| told.contains("more than 256 deep")), "{keyword}");
        assert_eq!(schema_flaw(&chain(60, keyword)), None, "{keyword}");
    }
    let tree = json!({"$defs": {"t": {"properties": {"next": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"});
    assert_eq!(schema_flaw(&tree), None);
}

#[test]
fn many_references_take_no_more_time_than_few() {
    let all: serde_json::Map<_, _> = (0..20_000)
        .map(|place| (format!("d{place}"), json!({"allOf": [{"$ref": format!("#/$defs/d{}", place + 1)}]})))
        .collect();
    assert_eq!(flaw(&Raw::of(&json!({"$defs": all}))), None);
}
