//! The plan a foreign client follows: what each server offers when asked directly, and what to call.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::clients::{Client, Transport};
use super::{Server, Stage};
use crate::gateway::Gateway;
use crate::probe::Probe;

const DIRECT: Duration = Duration::from_secs(30);

/// What each server offers to a client that declares no capability; the gateway must offer at least that.
pub(crate) fn ask_directly(stage: &Stage) -> Result<Vec<Value>> {
    stage.servers.iter().map(|server| ask(server).with_context(|| format!("server {}", server.name))).collect()
}

fn ask(server: &Server) -> Result<Value> {
    let mut probe = Probe::start(&mut server.command(), DIRECT)?;
    let mut names = |method: &str, key: &str, field: &str| -> Result<Vec<Value>> {
        Ok(probe.list(method, key)?.iter().map(|item| item[field].clone()).collect())
    };
    let (tool, arguments, expect) = &server.call;
    let offer = json!({
        "name": server.name,
        "tools": names("tools/list", "tools", "name")?,
        "prompts": names("prompts/list", "prompts", "name")?,
        "resources": names("resources/list", "resources", "uri")?,
        "templates": names("resources/templates/list", "resourceTemplates", "uriTemplate")?,
        "call": { "tool": tool, "arguments": arguments, "expect": expect },
    });
    probe.close();
    Ok(offer)
}

/// Writes the plan of one client over one transport.
pub(crate) fn write(
    stage: &Stage,
    offers: &[Value],
    client: &Client,
    transport: Transport,
    binary: &Path,
    gateway: &Gateway,
) -> Result<PathBuf> {
    let path = if transport == Transport::Sse { "/sse" } else { "/mcp" };
    let steps = 3;
    let plan = json!({
        "transport": transport.name(),
        "mode": client.mode,
        "command": [binary, "up", "--config", stage.config_path(), "--stdio"],
        "url": gateway.url(path),
        "folder": stage.path(),
        "check_seconds": 30,
        "total_seconds": 120,
        "servers": offers,
        "prompt": {
            "server": "everything", "name": "simple-prompt", "arguments": {}, "expect": "simple prompt without arguments",
        },
        "resource": { "uri": "demo://resource/static/document/architecture.md", "expect": "Everything Server" },
        "progress": {
            "server": "everything", "tool": "trigger-long-running-operation",
            "arguments": { "duration": 0.3, "steps": steps }, "steps": steps, "expect": "completed",
        },
    });
    let path = stage.path().join(format!("plan-{}-{}.json", client.name, transport.name()));
    fs::write(&path, serde_json::to_string_pretty(&plan)?)?;
    Ok(path)
}
