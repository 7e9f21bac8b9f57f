//! The schema of a tool that a wire cannot be told of by one.

use serde_json::{Value, json};

/// How much of a schema is told in words.
const EXCERPT: usize = 2_000;

/// A schema that takes any object.
pub(super) fn schema() -> Value {
    json!({"type": "object", "properties": {}})
}

/// What is added to the description then.
pub(super) fn words(own: &Value) -> String {
    if own.is_null() {
        return "It takes a JSON object; its server does not say of what.".to_owned();
    }
    let text = own.to_string();
    let cut = &text[..text.floor_char_boundary(EXCERPT)];
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("It takes a JSON object that fits this JSON Schema: {cut}{more}")
}
