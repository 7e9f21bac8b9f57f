//! OpenAI, Responses.

use serde_json::{Value, json};

use super::{
    judge::{Step, answered, list, must, names, text},
    script::{Draft, Ending, Say, cut, written},
};

pub(super) fn tools(body: &Value) -> Vec<String> {
    list(body, "tools").iter().map(|tool| text(tool, "name").to_owned()).collect()
}

pub(super) fn check(body: &Value) -> Result<(), String> {
    names(&tools(body), 64, "-")?;
    for tool in list(body, "tools") {
        let parameters = &tool["parameters"];
        must(parameters["type"] == "object", "schema must be a JSON Schema of 'type: \"object\"'")?;
        must(parameters["properties"].is_object(), "object schema missing properties")?;
    }
    must(body["store"] == false, "this service stores nothing")?;
    let mut steps = Vec::new();
    let mut thought = false;
    for item in list(body, "input") {
        let id = text(item, "call_id").to_owned();
        match (text(item, "type"), steps.last_mut()) {
            ("function_call", Some(Step::Calls(ids))) => ids.push(id),
            ("function_call", _) => steps.push(Step::Calls(vec![id])),
            ("function_call_output", Some(Step::Results(ids))) => ids.push(id),
            ("function_call_output", _) => steps.push(Step::Results(vec![id])),
            ("reasoning", _) => must(item["encrypted_content"].is_string(), "reasoning without encrypted_content")?,
            (_, _) => steps.push(Step::Words),
        }
        let result = text(item, "type") == "function_call_output" || text(item, "role") == "user";
        must(!(thought && result), "Item of type 'reasoning' was provided without its required following item")?;
        thought = text(item, "type") == "reasoning";
    }
    answered(&steps)
}

fn items(draft: &Draft<'_>) -> Vec<Value> {
    let item = |(at, say): (usize, &Say)| match say {
        Say::Text(words) => {
            let content = json!([{"type": "output_text", "text": words, "annotations": [], "logprobs": []}]);
            json!({
                "type": "message", "id": draft.id("msg_", at), "status": "completed", "role": "assistant", "content": content,
            })
        }
        Say::Thought(thought) => json!({
            "type": "reasoning", "id": draft.id("rs_", at), "summary": [{"type": "summary_text", "text": thought}],
            "encrypted_content": draft.seal(at),
        }),
        Say::Intent { .. } | Say::Garbled { .. } => {
            let (name, arguments) = written(say);
            json!({
                "type": "function_call", "id": draft.id("fc_", at), "call_id": draft.id("call_", at), "name": name,
                "arguments": arguments, "status": "completed",
            })
        }
    };
    draft.says.iter().enumerate().map(item).collect()
}

fn response(draft: &Draft<'_>, status: &str, output: Vec<Value>) -> Value {
    let [input, cached, said] = draft.usage;
    let why = match draft.ending {
        Ending::Length => json!({"reason": "max_output_tokens"}),
        Ending::Refused => json!({"reason": "content_filter"}),
        Ending::Strange => json!({"reason": "tired"}),
        _ => Value::Null,
    };
    json!({
        "id": draft.id("resp_", 0), "object": "response", "created_at": 1, "model": draft.model, "status": status,
        "output": output, "error": null, "incomplete_details": if status == "incomplete" { why } else { Value::Null },
        "instructions": null, "metadata": {}, "parallel_tool_calls": true, "temperature": 1.0, "top_p": 1.0,
        "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": input, "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
            "output_tokens": said, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": input + said,
        },
    })
}

fn status(draft: &Draft<'_>) -> &'static str {
    match draft.ending {
        Ending::Length | Ending::Refused | Ending::Strange => "incomplete",
        _ => "completed",
    }
}

pub(super) fn whole(draft: &Draft<'_>) -> Value {
    response(draft, status(draft), items(draft))
}

pub(super) fn stream(draft: &Draft<'_>) -> Vec<Value> {
    let mut begun = response(draft, "in_progress", vec![]);
    begun["usage"] = Value::Null;
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    for (at, (item, say)) in items(draft).into_iter().zip(draft.says).enumerate() {
        let mut started = item.clone();
        match say {
            Say::Text(_) => (started["content"], started["status"]) = (json!([]), "in_progress".into()),
            Say::Thought(_) => started["summary"] = json!([]),
            Say::Intent { .. } | Say::Garbled { .. } => {
                (started["arguments"], started["status"]) = ("".into(), "in_progress".into());
            }
        }
        events.push(json!({"type": "response.output_item.added", "output_index": at, "item": started}));
        events.extend(parts(at, &item, say));
        events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    let kind = format!("response.{}", status(draft));
    events.push(json!({"type": kind, "response": whole(draft)}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    events
}

fn parts(at: usize, item: &Value, say: &Say) -> Vec<Value> {
    let id = &item["id"];
    let event = |kind: &str, more: Value| {
        let mut event = json!({"type": format!("response.{kind}"), "item_id": id, "output_index": at});
        more.as_object().into_iter().flatten().for_each(|(name, value)| event[name] = value.clone());
        event
    };
    match say {
        Say::Text(text) => {
            let part = |text: &str| json!({"content_index": 0, "part": {"type": "output_text", "text": text, "annotations": []}});
            let delta =
                |piece: &&str| event("output_text.delta", json!({"content_index": 0, "delta": piece, "logprobs": []}));
            let mut events = vec![event("content_part.added", part(""))];
            events.extend(cut(text).iter().map(delta));
            events.push(event("output_text.done", json!({"content_index": 0, "text": text, "logprobs": []})));
            events.push(event("content_part.done", part(text)));
            events
        }
        Say::Thought(text) => {
            let part = |text: &str| json!({"summary_index": 0, "part": {"type": "summary_text", "text": text}});
            let delta =
                |piece: &&str| event("reasoning_summary_text.delta", json!({"summary_index": 0, "delta": piece}));
            let mut events = vec![event("reasoning_summary_part.added", part(""))];
            events.extend(cut(text).iter().map(delta));
            events.push(event("reasoning_summary_text.done", json!({"summary_index": 0, "text": text})));
            events.push(event("reasoning_summary_part.done", part(text)));
            events
        }
        Say::Intent { .. } | Say::Garbled { .. } => {
            let (name, arguments) = written(say);
            let delta = |piece: &&str| event("function_call_arguments.delta", json!({"delta": piece}));
            let mut events: Vec<Value> = cut(&arguments).iter().map(delta).collect();
            events.push(event("function_call_arguments.done", json!({"arguments": arguments, "name": name})));
            events
        }
    }
}
