//! What is tried with each kind of server: one entry for each feature.

use serde_json::{Value, json};

/// Our reference server, with `--faults`.
pub(crate) fn ours() -> Value {
    json!({
        "list": {
            "tools": ["echo", "add", "test_tool_with_progress"],
            "prompts": ["test_simple_prompt", "test_prompt_with_arguments"],
            "resources": ["test://static-text", "test://watched-resource"],
            "templates": ["test://template/{id}/data"],
        },
        "call": tool("echo", json!({"text": "ahoy"}), "ahoy"),
        "structured": {"name": "add", "arguments": {"left": 2, "right": 3.5}, "equal": {"sum": 5.5}},
        "progress": {"name": "test_tool_with_progress", "arguments": {}, "steps": 2},
        "cancel": {
            "name": "slow", "arguments": {"ms": 60_000, "tag": "never"},
            "then": tool("echo", json!({"text": "still here"}), "still here"),
        },
        "elicit": {
            "name": "test_elicitation", "arguments": {"message": "Who are you?"},
            "content": {"username": "ann", "email": "ann@example.com"}, "expect": "ann@example.com",
        },
        "sample": tool("test_sampling", json!({"prompt": "Say something."}), "a sampled answer"),
        "read": {"uri": "test://template/7/data", "expect": "Data for ID: 7"},
        "update": {"uri": "test://watched-resource", "trigger": tool("test_trigger_resource_update", json!({}), "told")},
        "prompt": {
            "name": "test_prompt_with_arguments", "arguments": {"arg1": "one", "arg2": "two"},
            "expect": "arg1='one', arg2='two'",
        },
        "complete": {
            "prompt": "test_prompt_with_arguments", "argument": "arg1", "typed": "par", "expect": "paris park party",
        },
    })
}

/// The servers of `interop/sdk/servers`: the same names in each SDK.
pub(crate) fn scripts() -> Value {
    json!({
        "list": {
            "tools": ["echo", "add", "ask"], "prompts": ["greet"],
            "resources": ["interop://watched"], "templates": ["interop://item/{id}"],
        },
        "call": tool("echo", json!({"text": "ahoy"}), "ahoy"),
        "structured": {"name": "add", "arguments": {"left": 2, "right": 3.5}, "equal": {"sum": 5.5}},
        "progress": {"name": "progress", "arguments": {}, "steps": 2},
        // The server counts calls that it saw cancelled.
        "cancel": {"name": "slow", "arguments": {"ms": 60_000}, "then": tool("stops", json!({}), "stopped 1")},
        "elicit": {"name": "ask", "arguments": {}, "content": {"name": "ann"}, "expect": "accept ann"},
        "sample": tool("sample", json!({}), "a sampled answer"),
        "read": {"uri": "interop://item/7", "expect": "item 7"},
        "update": {"uri": "interop://watched", "trigger": tool("touch", json!({}), "touched")},
        "prompt": {"name": "greet", "arguments": {"name": "ann"}, "expect": "Greet ann."},
        "complete": {"prompt": "greet", "argument": "name", "typed": "an", "expect": "ann anton"},
    })
}

/// The reference server of the protocol's own project.
pub(crate) fn everything() -> Value {
    let document = "demo://resource/static/document/architecture.md";
    json!({
        "list": {
            "tools": ["echo", "get-structured-content"], "prompts": ["simple-prompt", "completable-prompt"],
            "resources": [document], "templates": ["demo://resource/dynamic/text/{resourceId}"],
        },
        "call": tool("echo", json!({"message": "ahoy"}), "ahoy"),
        "structured": {
            "name": "get-structured-content", "arguments": {"location": "New York"}, "equal": {"humidity": 82},
        },
        "progress": {"name": "trigger-long-running-operation", "arguments": {"duration": 0.3, "steps": 3}, "steps": 2},
        "cancel": {
            "name": "trigger-long-running-operation", "arguments": {"duration": 15, "steps": 2},
            "then": tool("echo", json!({"message": "still here"}), "still here"),
        },
        "elicit": {
            "name": "trigger-elicitation-request", "arguments": {}, "content": {"name": "ann"}, "expect": "ann",
        },
        "sample": tool("trigger-sampling-request", json!({"prompt": "Say.", "maxTokens": 10}), "a sampled answer"),
        "read": {"uri": document, "expect": "Everything Server"},
        "update": {
            "uri": "demo://resource/dynamic/text/1", "trigger": tool("toggle-subscriber-updates", json!({}), "Started"),
        },
        "prompt": {"name": "simple-prompt", "arguments": {}, "expect": "simple prompt without arguments"},
        "complete": {"prompt": "completable-prompt", "argument": "department", "typed": "E", "expect": "Engineering"},
    })
}

fn tool(name: &str, arguments: Value, expect: &str) -> Value {
    json!({"name": name, "arguments": arguments, "expect": expect})
}
