//! What a service says, as the result of a tool.

use serde_json::{Value, json};
use toolbay_protocol::{
    Raw,
    raw::{Kind, Object},
    scan::Limits,
};
use toolbay_transport::http::client::Answer;

/// The result that an answer is: an HTTP error is an error of the tool.
pub(super) fn of(answer: &Answer, place: &str) -> Raw {
    if !answer.status.is_success() {
        let said = answer.excerpt();
        let said = if said.is_empty() { said } else { format!(" and says: {said}") };
        return error(&format!("{place} answers HTTP {}{said}", answer.status));
    }
    match answer.text() {
        Some(text) => of_text(text),
        None => {
            let kind = if answer.kind.is_empty() { "unknown media type" } else { &answer.kind };
            error(&format!("{place} answers with {} bytes that are no text ({kind})", answer.body.len()))
        }
    }
}

/// The result that a text is: a JSON object is structured content as well.
pub(super) fn of_text(text: &str) -> Raw {
    let json = Raw::parse(text.trim().to_owned().into(), Limits::DEFAULT).ok();
    match &json {
        Some(json) => of_json(json),
        None => written(text, None),
    }
}

/// The result that a JSON value is.
pub(super) fn of_json(json: &Raw) -> Raw {
    match json.kind() {
        Kind::Object => written(json.as_str(), Some(json)),
        // A text is what it says.
        _ => written(&json.as_text().unwrap_or_else(|| json.as_str().into()), None),
    }
}

/// A failure that the model is to read.
pub(super) fn error(what: &str) -> Raw {
    Raw::of(&json!({"content": [{"type": "text", "text": what}], "isError": true}))
}

fn written(text: &str, structured: Option<&Raw>) -> Raw {
    let mut result = Object::with_capacity(text.len() * 2 + 64);
    result.put_value("content", &Value::from(vec![json!({"type": "text", "text": text})]));
    if let Some(structured) = structured {
        result.put("structuredContent", structured);
    }
    result.finish()
}
