//! The servers: how each is started, over what, and what it does not offer.

use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::scripts::{self, Missing};
use crate::child::{self, Guard};
use crate::interop_sdk::Stage;
use crate::peers::{self, Peer};
use crate::places;

const UP: Duration = Duration::from_secs(60);

/// A foreign server over one transport.
pub(super) struct Server {
    name: &'static str,
    what: What,
    transport: &'static str,
    /// The revision that it and the bay must agree on.
    pub(super) revision: &'static str,
    missing: Missing,
}

#[derive(Clone, Copy)]
enum What {
    Everything,
    Script(Peer, &'static str),
    /// An example of the TypeScript SDK v1, and the variable that names its port.
    Example(&'static str, &'static str, fn() -> Vec<Value>),
}

const PY1: What = What::Script(Peer::Python1, "server_v1.py");
const PY2: What = What::Script(Peer::Python2, "server_v2.py");
const TS1: What = What::Script(Peer::TypeScript1, "server_v1.mjs");
const TS2: What = What::Script(Peer::TypeScript2, "server_v2.mjs");

const SIMPLE: What = What::Example("simpleStreamableHttp.js", "MCP_PORT", scripts::simple);

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

const OF_EVERYTHING: Missing = &[("meta", "no tool of it tells what `_meta` it was given")];
const NO_TASKS: &str = "its SDK begins no tasks by itself";
const OF_TS: Missing = &[("task", NO_TASKS)];
const OF_PY1: Missing = &[("task", NO_TASKS), ("update", "its FastMCP declares no subscriptions")];
const OF_PY2: Missing = &[("task", NO_TASKS), ("url", "its resolvers ask for no URL")];

/// All of them.
pub(super) const SERVERS: [Server; 14] = [
    server("everything", What::Everything, "stdio", OLD, OF_EVERYTHING),
    server("everything", What::Everything, "sse", OLD, OF_EVERYTHING),
    server("everything", What::Everything, "http", OLD, OF_EVERYTHING),
    server("py1", PY1, "stdio", OLD, OF_PY1),
    server("py1", PY1, "sse", OLD, OF_PY1),
    server("py1", PY1, "http", OLD, OF_PY1),
    server("ts1", TS1, "stdio", OLD, OF_TS),
    server("ts1", TS1, "sse", OLD, OF_TS),
    server("ts1", TS1, "http", OLD, OF_TS),
    server("ts1 example simpleStreamableHttp", SIMPLE, "http", OLD, &[]),
    server("py2", PY2, "stdio", NEW, OF_PY2),
    server("py2", PY2, "http", NEW, OF_PY2),
    server("ts2", TS2, "stdio", NEW, OF_TS),
    server("ts2", TS2, "http", NEW, OF_TS),
];

const fn server(
    name: &'static str,
    what: What,
    transport: &'static str,
    revision: &'static str,
    missing: Missing,
) -> Server {
    Server { name, what, transport, revision, missing }
}

/// A server that can be reached.
pub(super) struct Reached {
    /// How a client reaches it: members of a plan.
    pub(super) plan: Value,
    /// How a configuration names it.
    pub(super) entry: Value,
    _running: Option<Guard>,
}

impl Server {
    /// What it is, and over what.
    pub(super) fn title(&self) -> String {
        format!("{}, {}", self.name, self.transport)
    }

    /// Whether it is reached over this transport.
    pub(super) fn is_over(&self, transport: &str) -> bool {
        self.transport == transport
    }

    /// What is said to it.
    pub(super) fn script(&self) -> Vec<Value> {
        let mut script = match self.what {
            What::Everything => scripts::everything(),
            What::Script(..) => scripts::scripts(),
            What::Example(_, _, script) => script(),
        };
        script.retain(|job| !self.missing.iter().any(|(feature, _)| job["feature"] == *feature));
        script
    }

    /// Why it is not asked for a feature; none where it is.
    pub(super) fn lacks(&self, feature: &str) -> Option<&'static str> {
        if self.script().iter().any(|job| job["feature"] == feature) {
            return None;
        }
        let known = self.missing.iter().find(|(name, _)| *name == feature);
        Some(known.map_or("there is none of it in the example", |(_, why)| why))
    }

    /// From which level on lines of log are wanted of it.
    pub(super) fn level(&self) -> &'static str {
        match self.what {
            // The levels of its lines are left to chance.
            What::Everything => "debug",
            What::Script(..) | What::Example(..) => "warning",
        }
    }

    /// Starts it where it listens; one over stdio is started by whoever reaches it.
    pub(super) fn start(&self, stage: &Stage) -> Result<Reached> {
        let port = places::free_port()?;
        let mut command = match self.what {
            What::Everything => {
                let mut node = Command::new(peers::node()?);
                let package =
                    peers::folder(Peer::NpmServers)?.join("node_modules/@modelcontextprotocol/server-everything");
                let mode = if self.transport == "http" { "streamableHttp" } else { self.transport };
                node.arg(package.join("dist/index.js")).arg(mode).env("PORT", port.to_string());
                node
            }
            What::Script(peer, script) => {
                let mut command = stage.script(peer, "servers", script)?;
                command.arg(self.transport).arg(port.to_string());
                command
            }
            What::Example(script, variable, _) => {
                let modules = peers::folder(Peer::TypeScript1)?.join("node_modules/@modelcontextprotocol");
                let mut node = Command::new(peers::node()?);
                node.arg(modules.join("sdk/dist/esm/examples/server").join(script)).env(variable, port.to_string());
                node
            }
        };
        if self.transport == "stdio" {
            let word = |word: &std::ffi::OsStr| word.to_string_lossy().into_owned();
            let args: Vec<String> = command.get_args().map(word).collect();
            let program = word(command.get_program());
            let whole: Vec<&String> = std::iter::once(&program).chain(&args).collect();
            let plan = json!({"transport": "stdio", "command": whole});
            return Ok(Reached { plan, entry: json!({"command": program, "args": args}), _running: None });
        }
        let sse = self.transport == "sse";
        let url = format!("http://127.0.0.1:{port}/{}", if sse { "sse" } else { "mcp" });
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut guard = Guard::spawn(self.name, quiet)?;
        let accepts = child::wait_until(UP, || {
            TcpStream::connect(("127.0.0.1", port)).is_ok() || !matches!(guard.exited(), Ok(None))
        });
        if !accepts || guard.exited()?.is_some() {
            bail!("it does not listen on {port}");
        }
        let plan = json!({"transport": self.transport, "url": url});
        let entry = if sse { json!({"type": "sse", "url": url}) } else { json!({"url": url}) };
        Ok(Reached { plan, entry, _running: Some(guard) })
    }
}
