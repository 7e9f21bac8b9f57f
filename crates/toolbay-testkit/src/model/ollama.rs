//! Ollama, chat.

use serde_json::{Value, json};

use super::{
    judge::{Step, answered, list, must, text},
    script::{Draft, Ending, Say, cut, object},
};

pub(super) use super::openai_chat::tools;

pub(super) fn check(body: &Value) -> Result<(), String> {
    must(body["stream"].is_boolean(), "a stream is the default: say whether you want one")?;
    let mut steps = Vec::new();
    for message in list(body, "messages") {
        must(message["content"].is_string(), "json: cannot unmarshal content: it must be a string")?;
        let calls = list(message, "tool_calls");
        let objects = calls.iter().all(|call| call["function"]["arguments"].is_object());
        must(objects, "json: cannot unmarshal arguments: they must be an object")?;
        match (text(message, "role"), steps.last_mut()) {
            ("tool", Some(Step::Results(names))) => names.push(text(message, "tool_name").to_owned()),
            ("tool", _) => steps.push(Step::Results(vec![text(message, "tool_name").to_owned()])),
            (_, _) if calls.is_empty() => steps.push(Step::Words),
            (_, _) => {
                steps.push(Step::Calls(calls.iter().map(|call| text(&call["function"], "name").to_owned()).collect()));
            }
        }
    }
    answered(&steps)
}

fn line(draft: &Draft<'_>, message: Value) -> Value {
    json!({"model": draft.model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false})
}

fn end(draft: &Draft<'_>, message: Value) -> Value {
    let reason = match draft.ending {
        Ending::Length => "length",
        Ending::Strange => "tired",
        _ => "stop",
    };
    let mut end = line(draft, message);
    let more = json!({
        "done": true, "done_reason": reason, "total_duration": 1, "load_duration": 1, "prompt_eval_count": draft.usage[0],
        "prompt_eval_duration": 1, "eval_count": draft.usage[2], "eval_duration": 1,
    });
    more.as_object().into_iter().flatten().for_each(|(name, value)| end[name] = value.clone());
    end
}

fn call(say: &Say) -> Value {
    let (name, arguments) = object(say);
    json!({"function": {"name": name, "arguments": arguments}})
}

pub(super) fn whole(draft: &Draft<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": ""});
    let (mut words, mut thoughts, mut calls) = (String::new(), String::new(), vec![]);
    for say in draft.says {
        match say {
            Say::Text(text) => words.push_str(text),
            Say::Thought(text) => thoughts.push_str(text),
            Say::Intent { .. } | Say::Garbled { .. } => calls.push(call(say)),
        }
    }
    message["content"] = words.into();
    if !thoughts.is_empty() {
        message["thinking"] = thoughts.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    end(draft, message)
}

pub(super) fn stream(draft: &Draft<'_>) -> Vec<Value> {
    let mut lines = Vec::new();
    let message = |name: &str, value: Value| {
        let mut message = json!({"role": "assistant", "content": ""});
        message[name] = value;
        line(draft, message)
    };
    for say in draft.says {
        match say {
            Say::Text(text) => lines.extend(cut(text).iter().map(|piece| message("content", json!(piece)))),
            Say::Thought(text) => lines.extend(cut(text).iter().map(|piece| message("thinking", json!(piece)))),
            Say::Intent { .. } | Say::Garbled { .. } => lines.push(message("tool_calls", json!([call(say)]))),
        }
    }
    lines.push(end(draft, json!({"role": "assistant", "content": ""})));
    lines
}
