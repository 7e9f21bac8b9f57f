//! What providers take of the tools there are.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;

use std::path::Path;

use serde_json::{Value, json};

use command::THIS;

fn write(folder: &Path, schema: &Value) {
    let tool = json!({"name": "odd", "description": "does", "transport": "rest", "url": "http://127.0.0.1:9/call",
        "category": "other", "enabled": true, "expires_at": null, "inputSchema": schema});
    let clock = json!({"clock": {"command": THIS, "args": ["serve", "time"]}});
    let config = json!({"mcpServers": clock, "tools": [tool]});
    std::fs::write(folder.join("toolbay.json"), config.to_string()).unwrap();
}

#[tokio::test]
async fn each_loss_is_told_with_its_place_and_its_providers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let of = |name: &str| json!({"type": "object", "properties": {name: {"type": "string", "pattern": "^a"}}, "required": [name]});
    write(folder, &json!({"type": "object", "anyOf": [of("id"), of("größe")]}));
    let (code, out, err) = command::run(folder, &["lint"]).await;
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("lossy         /anyOf: root anyOf folded; branches enforced here (everywhere)"), "{out}");
    assert!(out.contains("shown as `gr") && out.contains("(anthropic, gemini)"), "{out}");
    assert!(out.contains("3 tools: ") && out.contains(" 0 not portable"), "{out}");

    let (code, out, err) = command::run(folder, &["lint", "odd", "--wire", "gemini", "--json"]).await;
    assert_eq!(code, 0, "{err}");
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((told["wires"].clone(), told["tools"].as_array().unwrap().len()), (json!(["gemini"]), 1), "{told}");
    assert_eq!(told["tools"][0]["severity"], "lossy");

    let (code, _, err) = command::run(folder, &["lint", "nobody"]).await;
    assert_eq!(code, 5, "{err}");
}

#[tokio::test]
async fn a_tool_that_no_schema_tells_of_is_not_portable() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let many: Vec<String> = (0..30_000).map(|at| format!("choice-{at:05}")).collect();
    write(folder, &json!({"type": "object", "properties": {"choice": {"type": "string", "enum": many}}}));
    let (code, out, err) = command::run(folder, &["lint"]).await;
    assert_eq!(code, 6, "{out}{err}");
    assert!(out.contains("not portable") && err.contains("one tool is not portable"), "{out}{err}");
}
