//! Anthropic, Messages.

use serde_json::{Value, json};

use super::{
    judge::{Step, answered, list, must, names, schema, text},
    script::{Draft, Ending, Say, cut, object, written},
};

pub(super) fn tools(body: &Value) -> Vec<String> {
    list(body, "tools").iter().map(|tool| text(tool, "name").to_owned()).collect()
}

pub(super) fn check(body: &Value) -> Result<(), String> {
    must(body["max_tokens"].as_u64().is_some_and(|most| most > 0), "max_tokens: Field required")?;
    names(&tools(body), 128, "-")?;
    list(body, "tools").iter().try_for_each(|tool| schema(&tool["input_schema"]))?;
    let marks = body.to_string().matches("\"cache_control\"").count();
    must(marks <= 4, "A maximum of 4 blocks with cache_control may be provided")?;
    let mut steps = Vec::new();
    let mut last = "assistant";
    for message in list(body, "messages") {
        let (role, blocks) = (text(message, "role"), list(message, "content"));
        must(role != last, "roles must alternate between \"user\" and \"assistant\"")?;
        must(!blocks.is_empty(), "content must not be empty")?;
        last = role;
        let of = |kind: &str, id: &str| -> Vec<String> {
            blocks.iter().filter(|block| block["type"] == kind).map(|block| text(block, id).to_owned()).collect()
        };
        for block in blocks.iter().filter(|block| block["type"] == "text") {
            must(!text(block, "text").trim().is_empty(), "text content blocks must be non-empty")?;
        }
        let (calls, results) = (of("tool_use", "id"), of("tool_result", "tool_use_id"));
        let first = blocks.iter().take_while(|block| block["type"] == "tool_result").count();
        must(first == results.len(), "tool_result blocks must come before all others")?;
        steps.push(match (calls.is_empty(), results.is_empty()) {
            (false, _) => Step::Calls(calls),
            (_, false) => Step::Results(results),
            (true, true) => Step::Words,
        });
    }
    must(last == "user", "the conversation must end with a user message")?;
    answered(&steps)
}

pub(super) fn whole(draft: &Draft<'_>) -> Value {
    message(draft, blocks(draft), json!(stop(draft)), draft.usage[2])
}

fn message(draft: &Draft<'_>, content: Vec<Value>, stop: Value, output: u64) -> Value {
    let [input, cached, _] = draft.usage;
    json!({
        "id": draft.id("msg_", 0), "type": "message", "role": "assistant", "model": draft.model, "content": content,
        "stop_reason": stop, "stop_sequence": null,
        "usage": {
            "input_tokens": input - cached, "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached,
            "output_tokens": output,
        },
    })
}

fn blocks(draft: &Draft<'_>) -> Vec<Value> {
    let block = |(at, say): (usize, &Say)| match say {
        Say::Text(text) => json!({"type": "text", "text": text}),
        Say::Thought(thought) => json!({"type": "thinking", "thinking": thought, "signature": draft.seal(at)}),
        Say::Intent { .. } | Say::Garbled { .. } => {
            let (name, input) = object(say);
            json!({"type": "tool_use", "id": draft.id("toolu_", at), "name": name, "input": input})
        }
    };
    draft.says.iter().enumerate().map(block).collect()
}

fn stop(draft: &Draft<'_>) -> &'static str {
    match draft.ending {
        Ending::Length => "max_tokens",
        Ending::Refused => "refusal",
        Ending::Paused => "pause_turn",
        Ending::Strange => "tired",
        _ if draft.wants_tools() => "tool_use",
        _ => "end_turn",
    }
}

pub(super) fn stream(draft: &Draft<'_>) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "message_start", "message": message(draft, vec![], Value::Null, 1)}),
        json!({"type": "ping"}),
    ];
    for ((at, say), mut block) in draft.says.iter().enumerate().zip(blocks(draft)) {
        let deltas: Vec<Value> = match say {
            Say::Text(text) => {
                block["text"] = "".into();
                cut(text).iter().map(|text| json!({"type": "text_delta", "text": text})).collect()
            }
            Say::Thought(thought) => {
                (block["thinking"], block["signature"]) = ("".into(), "".into());
                let thoughts =
                    cut(thought).into_iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
                thoughts.chain([json!({"type": "signature_delta", "signature": draft.seal(at)})]).collect()
            }
            Say::Intent { .. } | Say::Garbled { .. } => {
                block["input"] = json!({});
                let (_, arguments) = written(say);
                // An empty object is told as no text at all.
                let arguments = if arguments == "{}" { String::new() } else { arguments };
                let pieces = cut(&arguments);
                let pieces = if pieces.is_empty() { vec![""] } else { pieces };
                pieces.iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect()
            }
        };
        events.push(json!({"type": "content_block_start", "index": at, "content_block": block}));
        events.extend(
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": at, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": at}));
    }
    let delta = json!({"stop_reason": stop(draft), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": draft.usage[2]}}));
    events.push(json!({"type": "message_stop"}));
    events
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}
