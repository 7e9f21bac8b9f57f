//! What is said to each kind of server: an entry for each feature, or why there is none.

use serde_json::{Value, json};

/// In the order of the columns.
pub(super) const FEATURES: [&str; 21] = [
    "tools",
    "prompts",
    "resources",
    "templates",
    "call",
    "structured",
    "meta",
    "isError",
    "unknown",
    "progress",
    "log",
    "cancel",
    "elicit",
    "url",
    "sample",
    "roots",
    "read",
    "update",
    "prompt",
    "complete",
    "task",
];

/// What is not there to be tried, and why.
pub(super) type Missing = &'static [(&'static str, &'static str)];

fn tool(name: &str, arguments: Value) -> Value {
    json!(["tools/call", {"name": name, "arguments": arguments}])
}

fn lists() -> Vec<Value> {
    vec![
        json!({"feature": "tools", "list": "tools/list"}),
        json!({"feature": "prompts", "list": "prompts/list"}),
        json!({"feature": "resources", "list": "resources/list"}),
        json!({"feature": "templates", "list": "resources/templates/list"}),
    ]
}

/// The servers of `interop/sdk/servers`: the same names in each SDK.
pub(super) fn scripts() -> Vec<Value> {
    let meta =
        json!({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor/y": {"x": [1]}});
    let greet = json!({"type": "ref/prompt", "name": "greet"});
    let mut script = lists();
    script.extend([
        json!({"feature": "call", "calls": [tool("echo", json!({"text": "ahoy \u{e9}\u{1f600}"}))]}),
        json!({"feature": "structured", "calls": [tool("add", json!({"left": 2, "right": 3.5}))]}),
        json!({"feature": "meta", "calls": [["tools/call", {"name": "meta", "arguments": {}, "_meta": meta}]]}),
        json!({"feature": "isError", "calls": [tool("sad", json!({})), tool("add", json!({"left": "two"}))]}),
        json!({"feature": "unknown", "calls": [
            tool("nope", json!({})), ["prompts/get", {"name": "nope"}], ["resources/read", {"uri": "interop://nope"}],
        ]}),
        json!({"feature": "progress", "calls": [tool("progress", json!({}))]}),
        json!({"feature": "log", "calls": [tool("log", json!({}))]}),
        json!({"feature": "cancel", "cancel": {
            "call": tool("slow", json!({"ms": 60_000})), "then": tool("stops", json!({})), "counts": true,
        }}),
        json!({"feature": "elicit", "calls": [tool("ask", json!({}))]}),
        json!({"feature": "url", "calls": [tool("visit", json!({}))]}),
        json!({"feature": "sample", "calls": [tool("sample", json!({}))]}),
        json!({"feature": "roots", "calls": [tool("roots", json!({}))]}),
        json!({"feature": "read", "calls": [
            ["resources/read", {"uri": "interop://watched"}], ["resources/read", {"uri": "interop://item/7"}],
        ]}),
        json!({"feature": "update", "watch": {"uri": "interop://watched", "trigger": tool("touch", json!({}))}}),
        json!({"feature": "prompt", "calls": [
            ["prompts/get", {"name": "greet", "arguments": {"name": "ann"}}], ["prompts/get", {"name": "greet"}],
        ]}),
        json!({"feature": "complete", "calls": [
            ["completion/complete", {"ref": greet, "argument": {"name": "name", "value": "an"}}],
        ]}),
    ]);
    script
}

/// The reference server of the protocol's own project.
pub(super) fn everything() -> Vec<Value> {
    let document = "demo://resource/static/document/architecture.md";
    let dynamic = "demo://resource/dynamic/text/1";
    let updates = tool("toggle-subscriber-updates", json!({}));
    let logging = tool("toggle-simulated-logging", json!({}));
    let department = json!({"type": "ref/prompt", "name": "completable-prompt"});
    let template = json!({"type": "ref/resource", "uri": "demo://resource/dynamic/text/{resourceId}"});
    let mut script = lists();
    script.extend([
        json!({"feature": "call", "calls": [
            tool("echo", json!({"message": "ahoy \u{e9}\u{1f600}"})), tool("get-sum", json!({"a": 2, "b": 3.5})),
            tool("get-tiny-image", json!({})), tool("get-resource-links", json!({"count": 3})),
            tool("get-annotated-message", json!({"messageType": "error", "includeImage": true})),
        ]}),
        json!({"feature": "structured", "calls": [tool("get-structured-content", json!({"location": "New York"}))]}),
        json!({"feature": "isError", "calls": [tool("get-sum", json!({"a": "two"}))]}),
        json!({"feature": "unknown", "calls": [
            tool("nope", json!({})), ["prompts/get", {"name": "nope"}], ["resources/read", {"uri": "nope://x"}],
        ]}),
        json!({"feature": "progress", "calls": [
            tool("trigger-long-running-operation", json!({"duration": 0.3, "steps": 3})),
        ]}),
        json!({"feature": "log", "outside": {"trigger": logging, "off": logging}}),
        json!({"feature": "cancel", "cancel": {
            "call": tool("trigger-long-running-operation", json!({"duration": 20, "steps": 100})),
            "then": tool("echo", json!({"message": "still here"})),
        }}),
        json!({"feature": "elicit", "calls": [tool("trigger-elicitation-request", json!({}))]}),
        json!({"feature": "url", "calls": [tool("trigger-url-elicitation", json!({"url": "https://example.invalid/page"}))]}),
        json!({"feature": "sample", "calls": [tool("trigger-sampling-request", json!({"prompt": "Say.", "maxTokens": 10}))]}),
        json!({"feature": "roots", "calls": [tool("get-roots-list", json!({}))]}),
        json!({"feature": "read", "calls": [
            ["resources/read", {"uri": document}], ["resources/read", {"uri": "demo://resource/dynamic/text/none"}],
        ]}),
        json!({"feature": "update", "watch": {"uri": dynamic, "trigger": updates, "off": updates}}),
        json!({"feature": "prompt", "calls": [
            ["prompts/get", {"name": "simple-prompt"}],
            ["prompts/get", {"name": "args-prompt", "arguments": {"city": "Delft", "state": "ZH"}}],
            ["prompts/get", {"name": "args-prompt"}],
        ]}),
        json!({"feature": "complete", "calls": [
            ["completion/complete", {"ref": department, "argument": {"name": "department", "value": "E"}}],
            ["completion/complete", {
                "ref": department, "argument": {"name": "name", "value": ""},
                "context": {"arguments": {"department": "Sales"}},
            }],
            ["completion/complete", {"ref": template, "argument": {"name": "resourceId", "value": "1"}}],
        ]}),
        json!({"feature": "task", "task": tool("simulate-research-query", json!({"topic": "tides"}))}),
    ]);
    script
}

/// An example of the TypeScript SDK v1 that has something of much.
pub(super) fn simple() -> Vec<Value> {
    let mut script = lists();
    // It answers no list of templates.
    script.pop();
    script.extend([
        json!({"feature": "call", "calls": [
            tool("greet", json!({"name": "Ada"})), tool("list-files", json!({"includeDescriptions": true})),
        ]}),
        json!({"feature": "unknown", "calls": [tool("nope", json!({})), ["prompts/get", {"name": "nope"}]]}),
        json!({"feature": "log", "calls": [tool("multi-greet", json!({"name": "Ada"}))]}),
        json!({"feature": "elicit", "calls": [tool("collect-user-info", json!({"infoType": "feedback"}))]}),
        json!({"feature": "read", "calls": [["resources/read", {"uri": "https://example.com/greetings/default"}]]}),
        json!({"feature": "prompt", "calls": [
            ["prompts/get", {"name": "greeting-template", "arguments": {"name": "Ada"}}],
        ]}),
        json!({"feature": "task", "task": tool("delay", json!({"duration": 200}))}),
    ]);
    script
}
