//! An answer as each revision writes it.

use serde_json::json;
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision, exchange::Outcome, raw::Object, types::relay::conform_result,
};

/// A result that says the same as text and as an object.
pub(crate) fn result(text: &str, structured: &Raw, revision: Revision) -> Outcome {
    let mut result = texts(text, structured.as_bytes().len());
    result.put("structuredContent", structured);
    conformed(result, revision)
}

/// A result by which the model learns what it has to do otherwise.
// spec: 2025-11-25 server/tools, errors of input are results
pub(crate) fn flawed(what: &str, revision: Revision) -> Outcome {
    let mut result = texts(what, 0);
    result.put_value("isError", &true);
    conformed(result, revision)
}

fn texts(text: &str, more: usize) -> Object {
    let mut result = Object::with_capacity(text.len() * 2 + more + 96);
    result.put_value("content", &json!([{"type": "text", "text": text}]));
    result
}

fn conformed(result: Object, revision: Revision) -> Outcome {
    conform_result(&Method::ToolsCall, &result.finish(), Revision::LATEST, revision).map_err(ErrorObject::from)
}
