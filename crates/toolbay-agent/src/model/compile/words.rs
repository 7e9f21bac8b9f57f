//! What a wire's schema cannot say, in words for its description.

use serde_json::{Map, Value};

/// How long a constraint may be in words.
const WORDS: usize = 200;

/// A keyword and its value, as a model reads it.
pub(super) fn constraint(keyword: &str, value: &Value) -> String {
    let told = cut(&match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    match keyword {
        "pattern" => format!("must match {told}"),
        "const" => format!("must be {}", cut(&value.to_string())),
        "minLength" => format!("at least {told} characters"),
        "maxLength" => format!("at most {told} characters"),
        "exclusiveMinimum" => format!("more than {told}"),
        "exclusiveMaximum" => format!("less than {told}"),
        "minimum" => format!("at least {told}"),
        "maximum" => format!("at most {told}"),
        "multipleOf" => format!("a multiple of {told}"),
        "minItems" => format!("at least {told} items"),
        "maxItems" => format!("at most {told} items"),
        "uniqueItems" => "no item twice".to_owned(),
        "not" => format!("must not fit {told}"),
        _ => format!("{keyword}: {told}"),
    }
}

/// So many characters of a text, and a mark where there were more.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Adds sentences to the description of a schema.
pub(super) fn describe(schema: &mut Map<String, Value>, told: &[String]) {
    if told.is_empty() {
        return;
    }
    let more = format!("({})", told.join("; "));
    let before = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = if before.is_empty() { more } else { format!("{before} {more}") };
    schema.insert("description".into(), text.into());
}
