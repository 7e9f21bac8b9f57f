//! OpenAI, Chat Completions.

use serde_json::{Value, json};

use super::{
    judge::{Step, answered, list, must, names, text},
    script::{Draft, Ending, Say, cut, written},
};

pub(super) fn tools(body: &Value) -> Vec<String> {
    list(body, "tools").iter().map(|tool| text(&tool["function"], "name").to_owned()).collect()
}

pub(super) fn check(body: &Value) -> Result<(), String> {
    names(&tools(body), 64, "-")?;
    must(tools(body).len() <= 128, "Invalid 'tools': array too long. Expected at most 128")?;
    for tool in list(body, "tools") {
        let parameters = &tool["function"]["parameters"];
        must(parameters["type"] == "object", "schema must be a JSON Schema of 'type: \"object\"'")?;
        must(parameters["properties"].is_object(), "object schema missing properties")?;
    }
    let mut steps = Vec::new();
    for message in list(body, "messages") {
        let calls = list(message, "tool_calls");
        for call in calls {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            let object = serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
            must(object, "arguments must be a string that holds a JSON object")?;
        }
        match (text(message, "role"), steps.last_mut()) {
            ("tool", Some(Step::Results(ids))) => ids.push(text(message, "tool_call_id").to_owned()),
            ("tool", _) => steps.push(Step::Results(vec![text(message, "tool_call_id").to_owned()])),
            (_, _) if calls.is_empty() => steps.push(Step::Words),
            (_, _) => steps.push(Step::Calls(calls.iter().map(|call| text(call, "id").to_owned()).collect())),
        }
        let role = text(message, "role");
        let parts = list(message, "content");
        let words = message["content"].is_string() || parts.iter().all(|part| part["type"] == "text");
        must(role == "user" || words, "only a user's message may hold pictures")?;
    }
    answered(&steps)
}

fn stop(draft: &Draft<'_>) -> &'static str {
    match draft.ending {
        Ending::Length => "length",
        Ending::Refused => "content_filter",
        Ending::Strange => "tired",
        _ if draft.wants_tools() => "tool_calls",
        _ => "stop",
    }
}

fn usage(draft: &Draft<'_>) -> Value {
    let [input, cached, output] = draft.usage;
    json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": cached},
    })
}

fn joined(draft: &Draft<'_>, pick: fn(&Say) -> Option<&str>) -> Option<String> {
    let words: String = draft.says.iter().filter_map(pick).collect();
    (!words.is_empty()).then_some(words)
}

fn words(say: &Say) -> Option<&str> {
    if let Say::Text(text) = say { Some(text) } else { None }
}

fn thoughts(say: &Say) -> Option<&str> {
    if let Say::Thought(text) = say { Some(text) } else { None }
}

fn calls<'d>(draft: &'d Draft<'_>) -> impl Iterator<Item = (String, &'d str, String)> {
    let calls = draft.says.iter().filter(|say| matches!(say, Say::Intent { .. } | Say::Garbled { .. }));
    calls.enumerate().map(|(at, say)| {
        let (name, arguments) = written(say);
        (draft.id("call_", at), name, arguments)
    })
}

pub(super) fn whole(draft: &Draft<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": joined(draft, words), "refusal": null});
    if let Some(thoughts) = joined(draft, thoughts) {
        message["reasoning_content"] = thoughts.into();
    }
    let calls: Vec<Value> = calls(draft)
        .map(|(id, name, arguments)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
        .collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({
        "id": draft.id("chatcmpl-", 0), "object": "chat.completion", "created": 1, "model": draft.model,
        "choices": [{"index": 0, "message": message, "finish_reason": stop(draft), "logprobs": null}],
        "usage": usage(draft),
    })
}

pub(super) fn stream(draft: &Draft<'_>) -> Vec<Value> {
    let event = |choices: Value| {
        json!({
            "id": draft.id("chatcmpl-", 0), "object": "chat.completion.chunk", "created": 1, "model": draft.model,
            "choices": choices,
        })
    };
    let delta = |delta: Value| event(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
    let pieces = |text: Option<String>, name: &str| -> Vec<Value> {
        cut(&text.unwrap_or_default()).iter().map(|piece| delta(json!({name: piece}))).collect()
    };
    events.extend(pieces(joined(draft, thoughts), "reasoning_content"));
    events.extend(pieces(joined(draft, words), "content"));
    for (at, (id, name, arguments)) in calls(draft).enumerate() {
        let function = json!({"name": name, "arguments": ""});
        events.push(delta(json!({"tool_calls": [{"index": at, "id": id, "type": "function", "function": function}]})));
        for piece in cut(&arguments) {
            events.push(delta(json!({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})));
        }
    }
    events.push(event(json!([{"index": 0, "delta": {}, "finish_reason": stop(draft)}])));
    let mut last = event(json!([]));
    last["usage"] = usage(draft);
    events.push(last);
    events
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        401 => ("invalid_request_error", "invalid_api_key"),
        404 => ("invalid_request_error", "model_not_found"),
        429 => ("requests", "rate_limit_exceeded"),
        500.. => ("server_error", "server_error"),
        _ => ("invalid_request_error", "invalid_value"),
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}
