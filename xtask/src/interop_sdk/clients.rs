//! Foreign clients with our server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::json;

use super::plan;
use super::report::{Missing, Report};
use super::stage::Stage;
use crate::child;
use crate::gateway::{Gateway, Ready};
use crate::peers::Peer;
use crate::places;

const UP: Duration = Duration::from_secs(90);
const BUILD: Duration = Duration::from_secs(30 * 60);

struct Client {
    name: &'static str,
    program: Program,
    mode: &'static str,
    revision: &'static str,
    transports: &'static [&'static str],
    missing: Missing,
}

#[derive(Clone, Copy)]
enum Program {
    Script(Peer, &'static str),
    /// The crate `interop/sdk/rmcp`, which cargo fetches and builds.
    Rmcp,
}

const PY1: Program = Program::Script(Peer::Python1, "client_v1.py");
const PY2: Program = Program::Script(Peer::Python2, "client_v2.py");
const TS1: Program = Program::Script(Peer::TypeScript1, "client_v1.mjs");
const TS2: Program = Program::Script(Peer::TypeScript2, "client_v2.mjs");

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";
const BOTH: &[&str] = &["stdio", "http"];
const ALL: &[&str] = &["stdio", "http", "sse"];

const CLIENTS: [Client; 8] = [
    client("py1", PY1, "", OLD, ALL),
    client("py2", PY2, "auto", NEW, BOTH),
    client("py2-legacy", PY2, "legacy", OLD, BOTH),
    client("ts1", TS1, "", OLD, ALL),
    client("ts2", TS2, "auto", NEW, BOTH),
    client("ts2-legacy", TS2, "legacy", OLD, BOTH),
    client("rmcp", Program::Rmcp, "auto", NEW, BOTH),
    client("rmcp-legacy", Program::Rmcp, "legacy", OLD, BOTH),
];

const fn client(
    name: &'static str,
    program: Program,
    mode: &'static str,
    revision: &'static str,
    transports: &'static [&'static str],
) -> Client {
    Client { name, program, mode, revision, transports, missing: &[] }
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
            let mut command = match client.program {
                Program::Script(peer, script) => stage.script(peer, "clients", script)?,
                Program::Rmcp => Command::new(rmcp()?),
            };
            // HTTP+SSE belongs to the oldest revision; any that begins with a handshake may be agreed on there.
            let revision = if *transport == "sse" { "202" } else { client.revision };
            reports.push(Report::of(pair, revision, &mut command, &path, client.missing)?);
        }
    }
    server.end();
    Ok(reports)
}

/// Built into the cache: it is no part of our workspace.
fn rmcp() -> Result<PathBuf> {
    let target = places::cache()?.join("peers/rmcp-target");
    let mut cargo = places::cargo();
    cargo.args(["build", "--locked", "--manifest-path", "interop/sdk/rmcp/Cargo.toml", "--target-dir"]).arg(&target);
    let built = child::capture("cargo build", &mut cargo, BUILD)?;
    if !built.status.success() {
        bail!("the client of rmcp cannot be built:\n{}", built.stderr.trim());
    }
    Ok(target.join("debug/interop-rmcp"))
}
