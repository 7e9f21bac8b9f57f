//! Foreign clients with our server.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::plan;
use super::report::{Missing, Report};
use super::stage::Stage;
use crate::gateway::{Gateway, Ready};
use crate::peers::Peer;

const UP: Duration = Duration::from_secs(30);

struct Client {
    name: &'static str,
    peer: Peer,
    script: &'static str,
    mode: &'static str,
    revision: &'static str,
    transports: &'static [&'static str],
    missing: Missing,
}

const CLIENTS: [Client; 6] = [
    client("py1", Peer::Python1, "client_v1.py", "", "2025-11-25", &["stdio", "http", "sse"]),
    client("py2", Peer::Python2, "client_v2.py", "auto", "2026-07-28", &["stdio", "http"]),
    client("py2-legacy", Peer::Python2, "client_v2.py", "legacy", "2025-11-25", &["stdio", "http"]),
    client("ts1", Peer::TypeScript1, "client_v1.mjs", "", "2025-11-25", &["stdio", "http", "sse"]),
    client("ts2", Peer::TypeScript2, "client_v2.mjs", "auto", "2026-07-28", &["stdio", "http"]),
    client("ts2-legacy", Peer::TypeScript2, "client_v2.mjs", "legacy", "2025-11-25", &["stdio", "http"]),
];

const fn client(
    name: &'static str,
    peer: Peer,
    script: &'static str,
    mode: &'static str,
    revision: &'static str,
    transports: &'static [&'static str],
) -> Client {
    Client { name, peer, script, mode, revision, transports, missing: &[] }
}

/// Each client over each transport that it speaks.
pub(crate) fn run(stage: &Stage, binary: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Report>> {
    let server = Gateway::start(binary, &["serve", "everything", "--faults"], Ready::Accepting, UP)?;
    let mut reports = Vec::new();
    for client in &CLIENTS {
        for transport in client.transports {
            let pair = format!("{} → ours, {transport}", client.name);
            if !wanted(&pair) {
                continue;
            }
            let mut job = plan::ours();
            job["transport"] = json!(transport);
            job["mode"] = json!(client.mode);
            job["command"] = json!([binary, "serve", "everything", "--faults"]);
            job["url"] = json!(server.url(if *transport == "sse" { "/sse" } else { "/mcp" }));
            let path = stage.plan(&pair, &job)?;
            let mut command = stage.script(client.peer, "clients", client.script)?;
            // HTTP+SSE belongs to the oldest revision; any that begins with a handshake may be agreed on there.
            let revision = if *transport == "sse" { "202" } else { client.revision };
            reports.push(Report::of(pair, revision, &mut command, &path, client.missing)?);
        }
    }
    server.end();
    Ok(reports)
}
