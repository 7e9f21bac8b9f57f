//! Our client with foreign servers.

use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::plan;
use super::report::{Missing, Report};
use super::stage::Stage;
use crate::child::{self, Guard};
use crate::example;
use crate::peers::{self, Peer};
use crate::places;

const UP: Duration = Duration::from_secs(90);

/// What a foreign server is, and what is known to be missing there.
struct Server {
    name: &'static str,
    what: What,
    /// The revision that our client holds to; its own choice otherwise.
    held: Option<&'static str>,
    /// The revision that must be agreed on.
    revision: &'static str,
    transport: &'static str,
    missing: Missing,
}

#[derive(Clone, Copy)]
enum What {
    Everything,
    Script(Peer, &'static str),
}

const PY1: What = What::Script(Peer::Python1, "server_v1.py");
const PY2: What = What::Script(Peer::Python2, "server_v2.py");
const TS2: What = What::Script(Peer::TypeScript2, "server_v2.mjs");

const OLD: Option<&str> = Some("2025-11-25");
const NO_SUBSCRIBE: Missing = &[("update", "the SDK's MCPServer answers no resources/subscribe")];
const STATELESS: &str =
    "the SDK serves older clients without sessions over HTTP, where a server can neither ask nor tell";
const NO_SESSIONS: Missing = &[
    ("cancel", "the SDK serves older clients without sessions over HTTP: a cancellation finds no call"),
    ("elicit", STATELESS),
    ("sample", STATELESS),
    ("update", STATELESS),
];

const SERVERS: [Server; 13] = [
    server("everything", What::Everything, None, "2025-11-25", "stdio", &[]),
    server("everything", What::Everything, None, "2025-11-25", "http", &[]),
    server("everything", What::Everything, None, "202", "sse", &[]),
    server("py1", PY1, None, "2025-11-25", "stdio", &[]),
    server("py1", PY1, None, "2025-11-25", "http", &[]),
    server("py2", PY2, None, "2026-07-28", "stdio", &[]),
    server("py2", PY2, None, "2026-07-28", "http", &[]),
    server("py2-legacy", PY2, OLD, "2025-11-25", "stdio", NO_SUBSCRIBE),
    server("py2-legacy", PY2, OLD, "2025-11-25", "http", NO_SUBSCRIBE),
    server("ts2", TS2, None, "2026-07-28", "stdio", &[]),
    server("ts2", TS2, None, "2026-07-28", "http", &[]),
    server("ts2-legacy", TS2, OLD, "2025-11-25", "stdio", &[]),
    server("ts2-legacy", TS2, OLD, "2025-11-25", "http", NO_SESSIONS),
];

const fn server(
    name: &'static str,
    what: What,
    held: Option<&'static str>,
    revision: &'static str,
    transport: &'static str,
    missing: Missing,
) -> Server {
    Server { name, what, held, revision, transport, missing }
}

/// Our client with each of them.
pub(crate) fn run(stage: &Stage, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Report>> {
    let mut ours = None;
    let mut reports = Vec::new();
    for server in &SERVERS {
        let pair = format!("ours → {}, {}", server.name, server.transport);
        if !wanted(&pair) {
            continue;
        }
        let ours = match &ours {
            Some(ours) => ours,
            None => ours.insert(example::built("interop-client")?),
        };
        let mut job = match server.what {
            What::Everything => plan::everything(),
            What::Script(..) => plan::scripts(),
        };
        for (feature, _) in server.missing {
            job.as_object_mut().expect("a plan is an object").remove(*feature);
        }
        job["transport"] = json!(server.transport);
        job["revision"] = json!(server.held);
        let port = places::free_port()?;
        let running = start(stage, server, port, &mut job)?;
        let path = stage.plan(&pair, &job)?;
        reports.push(Report::of(pair, server.revision, &mut Command::new(ours), &path, server.missing)?);
        drop(running);
    }
    Ok(reports)
}

/// A server that listens is started here; one over stdio is started by our client.
fn start(stage: &Stage, server: &Server, port: u16, job: &mut Value) -> Result<Option<Guard>> {
    let mut command = match server.what {
        What::Everything => {
            let mut node = Command::new(peers::node()?);
            let package = peers::folder(Peer::NpmServers)?.join("node_modules/@modelcontextprotocol/server-everything");
            node.arg(package.join("dist/index.js")).arg(match server.transport {
                "http" => "streamableHttp",
                other => other,
            });
            node.env("PORT", port.to_string());
            node
        }
        What::Script(peer, script) => {
            let mut command = stage.script(peer, "servers", script)?;
            command.arg(server.transport).arg(port.to_string());
            command
        }
    };
    if server.transport == "stdio" {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        job["command"] = words.map(|word| word.to_string_lossy().into_owned()).collect();
        return Ok(None);
    }
    job["url"] = json!(format!("http://127.0.0.1:{port}/{}", if server.transport == "sse" { "sse" } else { "mcp" }));
    let mut guard =
        Guard::spawn(server.name, command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))?;
    let accepts = child::wait_until(UP, || {
        TcpStream::connect(("127.0.0.1", port)).is_ok() || !matches!(guard.exited(), Ok(None))
    });
    if !accepts || guard.exited()?.is_some() {
        bail!("{} over {} does not listen on {port}", server.name, server.transport);
    }
    Ok(Some(guard))
}
