//! Gemini, generateContent.

use serde_json::{Value, json};

use super::{
    judge::{Step, answered, list, must, names, text},
    script::{Draft, Ending, Say, cut, object},
};

pub(super) fn tools(body: &Value) -> Vec<String> {
    let declared = list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations"));
    declared.map(|tool| text(tool, "name").to_owned()).collect()
}

pub(super) fn check(body: &Value) -> Result<(), String> {
    names(&tools(body), 64, "-.:")?;
    let starts = |name: &String| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    must(tools(body).iter().all(starts), "a function's name must begin with a letter or an underscore")?;
    for tool in list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations")) {
        // Google reads both spellings, and its own client writes the second.
        let names = ["parametersJsonSchema", "parameters_json_schema", "parameters"];
        let schema = names.iter().find_map(|name| tool.get(name));
        let object = |schema: &Value| text(schema, "type").eq_ignore_ascii_case("object");
        must(schema.is_some_and(object), &format!("parameters must be of type object: {tool}"))?;
    }
    let mut steps = Vec::new();
    for content in list(body, "contents") {
        let parts = list(content, "parts");
        must(matches!(text(content, "role"), "user" | "model"), "Please use a valid role: user, model")?;
        must(!parts.is_empty(), "contents.parts must not be empty")?;
        let of = |name: &str| -> Vec<String> {
            parts.iter().filter_map(|part| Some(text(part.get(name)?, "name").to_owned())).collect()
        };
        let (calls, results) = (of("functionCall"), of("functionResponse"));
        steps.push(match (calls.is_empty(), results.is_empty()) {
            (false, _) => Step::Calls(calls),
            (_, false) => Step::Results(results),
            (true, true) => Step::Words,
        });
        for part in parts {
            if let Some(response) = part.get("functionResponse") {
                must(response["response"].is_object(), "function_response.response must be an object")?;
            }
        }
    }
    answered(&steps)
}

/// The calls of a conversation, each with the signature it carries.
pub(super) fn signed(body: &Value) -> Vec<(String, Option<String>)> {
    let parts = list(body, "contents").iter().flat_map(|content| list(content, "parts"));
    let call = |part: &Value| {
        let call = part.get("functionCall")?;
        Some((key(text(call, "name"), &call["args"]), part["thoughtSignature"].as_str().map(str::to_owned)))
    };
    parts.filter_map(call).collect()
}

/// By what a call is known, where there are no ids.
pub(super) fn key(name: &str, arguments: &Value) -> String {
    format!("{name} {arguments}")
}

fn parts(draft: &Draft<'_>) -> Vec<Value> {
    let mut signed = false;
    let part = |(at, say): (usize, &Say)| match say {
        Say::Text(text) => json!({"text": text}),
        Say::Thought(thought) => json!({"text": thought, "thought": true}),
        Say::Intent { .. } | Say::Garbled { .. } => {
            let (name, arguments) = object(say);
            let mut part = json!({"functionCall": {"name": name, "args": arguments}});
            // The first call of a turn is signed.
            if !std::mem::replace(&mut signed, true) {
                part["thoughtSignature"] = draft.seal(at).into();
            }
            part
        }
    };
    draft.says.iter().enumerate().map(part).collect()
}

fn chunk(draft: &Draft<'_>, parts: Value, stop: Option<&str>) -> Value {
    let [input, cached, output] = draft.usage;
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(stop) = stop {
        candidate["finishReason"] = stop.into();
    }
    json!({
        "candidates": [candidate], "modelVersion": draft.model, "responseId": draft.id("r", 0),
        "usageMetadata": {
            "promptTokenCount": input, "cachedContentTokenCount": cached, "candidatesTokenCount": output,
            "totalTokenCount": input + output,
        },
    })
}

fn stop(draft: &Draft<'_>) -> &'static str {
    match draft.ending {
        Ending::Length => "MAX_TOKENS",
        Ending::Refused => "SAFETY",
        Ending::Strange => "OTHER",
        _ => "STOP",
    }
}

pub(super) fn whole(draft: &Draft<'_>) -> Value {
    chunk(draft, parts(draft).into(), Some(stop(draft)))
}

pub(super) fn stream(draft: &Draft<'_>) -> Vec<Value> {
    let mut chunks = Vec::new();
    for part in parts(draft) {
        match part["text"].as_str() {
            Some(words) => chunks.extend(cut(words).into_iter().map(|piece| {
                let mut part = part.clone();
                part["text"] = piece.into();
                chunk(draft, json!([part]), None)
            })),
            None => chunks.push(chunk(draft, json!([part]), None)),
        }
    }
    chunks.push(chunk(draft, json!([{"text": ""}]), Some(stop(draft))));
    chunks
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let name = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    json!({"error": {"code": status, "message": message, "status": name}})
}
