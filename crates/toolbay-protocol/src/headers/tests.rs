use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::number::{Decimal, Integer, same};
use super::*;

fn lookup<'h>(sent: &'h [(&'h str, &'h str)]) -> impl FnMut(&str) -> Vec<&'h [u8]> {
    move |name| {
        let same_name = |pair: &&(&str, &str)| pair.0.eq_ignore_ascii_case(name);
        sent.iter().filter(same_name).map(|(_, value)| value.as_bytes()).collect()
    }
}

fn encoding(text: &str, expected: &str) {
    assert_eq!(encode(text), expected);
    assert_eq!(decode(expected.as_bytes()).unwrap(), text);
}

#[test]
fn values_are_wrapped_only_when_they_must_be() {
    encoding("us-west1", "us-west1");
    encoding("", "");
    encoding("a\tb c", "a\tb c");
    encoding("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=");
    encoding(" padded ", "=?base64?IHBhZGRlZCA=?=");
    encoding("line1\nline2", "=?base64?bGluZTEKbGluZTI=?=");
    encoding("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
    encoding("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?=");
    encoding("=?BASE64?YQ==?=", "=?BASE64?YQ==?=");
    encoding("=?base64?open", "=?base64?open");
}

#[test]
fn received_values_are_read_strictly() {
    let check = |value: &[u8], expected: Result<&str, Reason>| {
        assert_eq!(decode(value).as_deref(), expected.as_deref(), "{value:?}");
    };
    check(b" \ta ", Ok("a"));
    check(b"=?base64??=", Ok(""));
    check(b"=?base64?=", Ok("=?base64?="));
    check(b"=?base64?YQ?=", Err(Reason::BadBase64));
    check(b"=?base64?YR==?=", Err(Reason::BadBase64));
    check(b"=?base64?Y Q==?=", Err(Reason::BadBase64));
    check(b"=?base64?-_-_?=", Err(Reason::BadBase64));
    check(b"=?base64?/w==?=", Err(Reason::NotUtf8));
    check(b"caf\xc3\xa9", Err(Reason::InvalidCharacters));
    check(b"a\x0bb", Err(Reason::InvalidCharacters));
    check(b"a\n", Err(Reason::InvalidCharacters));
}

const CALL: Mirrored<'_> = Mirrored { version: "2026-07-28", method: "tools/call", name: Some("añadir") };
const GOOD: [(&str, &str); 3] =
    [("mcp-protocol-version", "2026-07-28"), ("MCP-METHOD", "tools/call"), ("Mcp-Name", "=?base64?YcOxYWRpcg==?=")];

#[test]
fn a_client_sends_what_a_server_accepts() {
    let headers = CALL.headers();
    let sent: Vec<_> = headers.iter().map(|header| (&*header.name, &*header.value)).collect();
    assert_eq!(sent.len(), 3);
    assert_eq!(check_request(&CALL, lookup(&sent)), Ok(()));
    assert_eq!(check_request(&CALL, lookup(&GOOD)), Ok(()));
}

#[test]
fn standard_headers_must_be_there_once_and_equal() {
    let check = |at: usize, value: Option<&str>, reason: Reason| {
        let mut sent = GOOD.to_vec();
        match value {
            Some(value) => sent[at].1 = value,
            None => drop(sent.remove(at)),
        }
        assert_eq!(check_request(&CALL, lookup(&sent)).unwrap_err().reason, reason);
    };
    check(0, None, Reason::Missing);
    check(0, Some("2025-11-25"), Reason::Differs);
    check(1, None, Reason::Missing);
    check(1, Some("Tools/Call"), Reason::Differs);
    // Only names may be wrapped.
    check(1, Some("=?base64?dG9vbHMvY2FsbA==?="), Reason::Differs);
    check(2, None, Reason::Missing);
    check(2, Some("añadir"), Reason::InvalidCharacters);
    check(2, Some("=?base64?!?="), Reason::BadBase64);
    let twice = [GOOD[0], GOOD[1], GOOD[2], GOOD[1]];
    assert_eq!(check_request(&CALL, lookup(&twice)).unwrap_err().reason, Reason::Repeated);
    let list = Mirrored { method: "tools/list", name: None, ..CALL };
    assert_eq!(check_request(&list, lookup(&[GOOD[0], ("Mcp-Method", "tools/list")])), Ok(()));
}

#[test]
fn a_notification_needs_no_headers_but_may_not_contradict_them() {
    let body = Mirrored { method: "notifications/cancelled", name: None, ..CALL };
    assert_eq!(check_notification(&body, lookup(&[])), Ok(()));
    assert_eq!(check_notification(&body, lookup(&GOOD)).unwrap_err().reason, Reason::Differs);
}

#[test]
fn a_mismatch_says_what_to_do_and_keeps_secrets() {
    let plan = plan(json!({"token": {"type": "string", "x-mcp-header": "Token"}}));
    let mismatch = plan.check(Some(br#"{"token":"hunter2"}"#), lookup(&[("Mcp-Param-Token", "other")])).unwrap_err();
    assert_eq!(
        mismatch.to_string(),
        "Header mismatch: Mcp-Param-Token does not match params.arguments.token in the body"
    );
}

fn plan(properties: Value) -> HeaderPlan {
    HeaderPlan::of(&json!({"type": "object", "properties": properties})).unwrap()
}

fn everything() -> HeaderPlan {
    plan(json!({
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry"},
        "where": {"type": "object", "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}},
    }))
}

fn sends(arguments: &str, expected: &[(&str, &str)]) {
    let headers = everything().headers(Some(arguments.as_bytes())).unwrap();
    let sent: Vec<_> = headers.iter().map(|header| (&*header.name, &*header.value)).collect();
    assert_eq!(sent, expected, "{arguments}");
    assert_eq!(everything().check(Some(arguments.as_bytes()), lookup(&sent)), Ok(()), "{arguments}");
}

#[test]
fn arguments_are_mirrored_by_their_exact_path() {
    sends("{}", &[]);
    sends("null", &[]);
    sends(r#"{"region":null,"zone":"not here","where":"nor here"}"#, &[]);
    sends(r#"{"region":"","dry":false}"#, &[("Mcp-Param-Region", ""), ("Mcp-Param-Dry", "false")]);
    sends(r#"{"where":{"zone":"b","more":{}},"count":4.20e1}"#, &[("Mcp-Param-Count", "42"), ("Mcp-Param-Zone", "b")]);
    sends(r#"{"r\u0065gion":"\u00e9"}"#, &[("Mcp-Param-Region", "=?base64?w6k=?=")]);
    // A value of the wrong type is the tool's to refuse.
    sends(r#"{"count":"many","region":1.5}"#, &[("Mcp-Param-Region", "1.5"), ("Mcp-Param-Count", "many")]);
    assert_eq!(everything().headers(None), Ok(vec![]));
}

#[test]
fn what_no_header_can_carry_is_named() {
    let check = |arguments: &str, reason: Reason| {
        let plan = everything();
        assert_eq!(plan.headers(Some(arguments.as_bytes())).unwrap_err().reason, reason, "{arguments}");
        let sent = [("Mcp-Param-Region", "x"), ("Mcp-Param-Count", "9007199254740993")];
        assert!(plan.check(Some(arguments.as_bytes()), lookup(&sent)).is_err(), "{arguments}");
    };
    check(r#"{"region":["x"]}"#, Reason::NotMirrorable);
    check(r#"{"region":"\ud800"}"#, Reason::NotMirrorable);
    check(r#"{"count":9007199254740993}"#, Reason::UnsafeInteger);
    check(r#"{"count":1e400}"#, Reason::UnsafeInteger);
    check(r#"{"region":"x","region":"y"}"#, Reason::RepeatedArgument);
    check(r#"{"where":{"zone":"x","zone":"x"}}"#, Reason::RepeatedArgument);
    check(r#"["x"]"#, Reason::BadArguments);
    check("{", Reason::BadArguments);
}

#[test]
fn parameter_headers_are_checked_against_the_arguments() {
    let check = |arguments: &str, sent: &[(&str, &str)], expected: Result<(), Reason>| {
        let found = everything().check(Some(arguments.as_bytes()), lookup(sent)).map_err(|mismatch| mismatch.reason);
        assert_eq!(found, expected, "{arguments} {sent:?}");
    };
    check(r#"{"count":42}"#, &[("mcp-param-count", "42.0")], Ok(()));
    check(r#"{"count":42.0}"#, &[("mcp-param-count", " 42 ")], Ok(()));
    check(r#"{"count":42}"#, &[("mcp-param-count", "43")], Err(Reason::Differs));
    check(r#"{"count":42}"#, &[("mcp-param-count", "042")], Err(Reason::Differs));
    check(r#"{"count":42}"#, &[], Err(Reason::Missing));
    check(r#"{"count":null}"#, &[("mcp-param-count", "42")], Err(Reason::NotInBody));
    check(r#"{"dry":true}"#, &[("mcp-param-dry", "True")], Err(Reason::Differs));
    check(r#"{"region":"a"}"#, &[("mcp-param-region", "=?base64?YQ==?=")], Ok(()));
    check(r#"{"region":"a"}"#, &[("mcp-param-region", "A")], Err(Reason::Differs));
    check(r#"{"region":"a"}"#, &[("mcp-param-region", "a"), ("Mcp-Param-Region", "a")], Err(Reason::Repeated));
    check(r#"{"region":"a"}"#, &[("mcp-param-region", "\u{7f}")], Err(Reason::InvalidCharacters));
    check("{}", &[("mcp-param-unknown", "a")], Ok(()));
}

fn problem(schema: &Value, at: &str, expected: &Rule) {
    let problems = HeaderPlan::of(schema).unwrap_err();
    assert_eq!(problems, [Problem { at: at.to_owned(), rule: expected.clone() }], "{schema}");
    assert!(problems[0].to_string().contains("x-mcp-header"));
}

#[test]
fn each_rule_for_annotations_is_kept() {
    let one = |property: Value| json!({"type": "object", "properties": {"a": property}});
    let at = "/properties/a";
    problem(&one(json!({"type": "string", "x-mcp-header": 1})), at, &Rule::Text);
    problem(&one(json!({"type": "string", "x-mcp-header": ""})), at, &Rule::NotEmpty);
    for name in ["a b", "a:b", "é", "a\r\nb", "a\u{0}"] {
        problem(&one(json!({"type": "string", "x-mcp-header": name})), at, &Rule::Token { found: name.to_owned() });
    }
    for kind in [json!("number"), json!("object"), json!("array"), json!("null"), json!(["string", "null"])] {
        let rule = Rule::Primitive { found: kind.to_string() };
        problem(&one(json!({"type": kind, "x-mcp-header": "A"})), at, &rule);
    }
    problem(&one(json!({"x-mcp-header": "A"})), at, &Rule::Primitive { found: "none".to_owned() });
    problem(&json!({"type": "string", "x-mcp-header": "A"}), "", &Rule::OnProperty);
    let twice = json!({"properties": {
        "a": {"type": "string", "x-mcp-header": "Same"},
        "b": {"properties": {"c/d": {"type": "string", "x-mcp-header": "sAME"}}},
    }});
    problem(&twice, "/properties/b/properties/c~1d", &Rule::Unique { first: "/properties/a".to_owned() });
}

#[test]
fn only_properties_lead_to_an_annotation() {
    let leaf = json!({"type": "string", "x-mcp-header": "A"});
    let inside = json!({"properties": {"b": leaf}});
    let check = |schema: Value, at: &str, through: &str| {
        problem(&schema, at, &Rule::Reachable { through: through.to_owned() });
    };
    for keyword in ["items", "not", "if", "then", "else", "contains", "additionalProperties", "propertyNames"] {
        check(json!({"properties": {"a": {keyword: leaf}}}), &format!("/properties/a/{keyword}"), keyword);
        check(json!({keyword: inside}), &format!("/{keyword}/properties/b"), keyword);
    }
    for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        check(json!({"properties": {"a": {keyword: [leaf]}}}), &format!("/properties/a/{keyword}"), keyword);
    }
    for keyword in ["$defs", "definitions", "patternProperties", "dependentSchemas"] {
        check(json!({keyword: {"x": leaf}}), &format!("/{keyword}/x"), keyword);
    }
    let by_reference = json!({"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": leaf}});
    check(by_reference, "/$defs/x", "$defs");
}

#[test]
fn data_and_names_are_no_annotations() {
    let schema = json!({
        "properties": {
            "x-mcp-header": {"type": "string"},
            "a": {"type": "object", "default": {"x-mcp-header": "A"}, "enum": [{"x-mcp-header": "A"}]},
        },
        "examples": [{"x-mcp-header": "A"}],
    });
    assert_eq!(HeaderPlan::of(&schema), Ok(HeaderPlan::default()));
}

#[test]
fn a_schema_as_text_is_parsed_only_when_it_may_annotate() {
    assert_eq!(HeaderPlan::of_json(b"not even JSON"), Ok(HeaderPlan::default()));
    assert_eq!(HeaderPlan::of_json(b"x-mcp-header").unwrap_err()[0].rule, Rule::Json);
    let hidden = br#"{"properties":{"a":{"type":"string","x\u002dmcp-header":"A"}}}"#;
    let plan = HeaderPlan::of_json(hidden).unwrap();
    assert_eq!(plan.params(), [Param { header: "Mcp-Param-A".into(), path: vec!["a".into()], kind: Kind::String }]);
}

#[test]
fn a_schema_of_any_depth_is_walked_within_bounds() {
    let deep = (0..300).fold(json!({"type": "string", "x-mcp-header": "A"}), |inner, _| json!({"items": inner}));
    let problems = HeaderPlan::of(&deep).unwrap_err();
    assert!(matches!(problems[..], [Problem { rule: Rule::Depth { .. }, .. }]));
    let many: HashMap<_, _> = (0..1000).map(|at| (at.to_string(), json!({"x-mcp-header": ""}))).collect();
    assert!(HeaderPlan::of(&json!({"properties": many})).unwrap_err().len() <= 32);
    let of = |count: usize| {
        let named = |at: usize| (format!("p{at}"), json!({"type": "string", "x-mcp-header": format!("P{at}")}));
        HeaderPlan::of(&json!({"properties": (0..count).map(named).collect::<serde_json::Map<_, _>>()}))
    };
    assert_eq!(of(64).unwrap().params().len(), 64);
    assert!(matches!(of(20_000).unwrap_err()[0].rule, Rule::Many { limit: 64 }));
}

#[test]
fn numbers_are_compared_exactly() {
    for (left, right) in [("42", "42.0"), ("4.2e1", "42"), ("0", "-0.0e9"), ("1E+2", "100"), ("120", "12e1")] {
        assert!(same(left, right), "{left} = {right}");
    }
    for (left, right) in [
        ("9007199254740992", "9007199254740993"),
        ("1", "-1"),
        ("1", "01"),
        ("1", "+1"),
        ("1", "1."),
        ("1", ".1e1"),
        ("1", "1e"),
        ("1", " 1"),
        ("1e99999999999999999999", "1e99999999999999999998"),
    ] {
        assert!(!same(left, right), "{left} ≠ {right}");
    }
    let integer = |text: &str| Decimal::parse(text).unwrap().integer();
    assert_eq!(integer("-9007199254740991"), Some(Integer::Safe(-9_007_199_254_740_991)));
    assert_eq!(integer("9007199254740992"), Some(Integer::Unsafe));
    assert_eq!(integer("1e999999"), Some(Integer::Unsafe));
    assert_eq!(integer("1.5"), None);
    assert_eq!(integer("0e7"), Some(Integer::Safe(0)));
}

proptest! {
    #[test]
    fn every_text_survives_its_header(text in any::<String>()) {
        let value = encode(&text).into_owned();
        prop_assert!(value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')));
        prop_assert_eq!(decode(value.as_bytes()).unwrap(), text);
    }

    #[test]
    fn what_is_mirrored_matches(text in any::<String>(), number in -(1_i64 << 53) + 1..1 << 53, dry in any::<bool>()) {
        let arguments = json!({"region": text, "count": number, "dry": dry, "where": {"zone": text}}).to_string();
        let headers = everything().headers(Some(arguments.as_bytes())).unwrap();
        let sent: Vec<_> = headers.iter().map(|header| (&*header.name, &*header.value)).collect();
        prop_assert_eq!(sent.len(), 4);
        prop_assert_eq!(everything().check(Some(arguments.as_bytes()), lookup(&sent)), Ok(()));
    }
}
