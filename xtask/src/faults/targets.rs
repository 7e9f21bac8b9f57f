//! The servers that are driven: how each is started and what its tools are called.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::link::{Link, START, Web};
use super::pipe::Pipe;
use super::wire::{self, Talk};
use crate::child::{self, Guard};
use crate::peers::{self, Peer};
use crate::places;

/// A call of a tool, and what its answer holds.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The tool.
    pub(crate) tool: &'static str,
    /// Its arguments.
    pub(crate) arguments: Value,
    /// Somewhere in the answer.
    pub(crate) expect: String,
}

impl Call {
    /// The params of `tools/call`.
    pub(crate) fn params(&self) -> Value {
        json!({ "name": self.tool, "arguments": self.arguments })
    }
}

/// What a server offers for the cases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tools {
    /// The argument of `echo`.
    text: &'static str,
    /// A tool that waits, and its argument.
    slow: Option<(&'static str, &'static str, f64)>,
    /// A tool that panics or throws.
    pub(crate) boom: Option<&'static str>,
    /// A tool that tells its progress, and its arguments as JSON.
    pub(crate) progress: Option<(&'static str, &'static str)>,
}

impl Tools {
    /// A call that gives a text back.
    pub(crate) fn echo(&self, text: &str) -> Call {
        Call { tool: "echo", arguments: json!({ self.text: text }), expect: text.to_owned() }
    }

    /// The same with an argument of the wrong type.
    pub(crate) fn wrong(&self) -> Call {
        Call { tool: "echo", arguments: json!({ self.text: { "a": [1] } }), expect: String::new() }
    }

    /// A call that takes so long.
    pub(crate) fn slow(&self, ms: u32) -> Option<Call> {
        let (tool, argument, in_ms) = self.slow?;
        let time = f64::from(ms) * in_ms;
        let time = if in_ms < 1.0 { json!(time) } else { json!(ms) };
        Some(Call { tool, arguments: json!({ argument: time }), expect: String::new() })
    }
}

const OURS: Tools = Tools {
    text: "text",
    slow: Some(("slow", "ms", 1.0)),
    boom: Some("boom"),
    progress: Some(("test_tool_with_progress", "{}")),
};
const PYTHON: Tools = Tools { progress: Some(("progress", "{}")), ..OURS };
const TS2: Tools = Tools { progress: None, ..OURS };
const TS1: Tools = Tools {
    text: "message",
    slow: Some(("trigger-long-running-operation", "duration", 0.001)),
    boom: None,
    progress: Some(("trigger-long-running-operation", r#"{"duration":0.3,"steps":3}"#)),
};

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As a child.
    Stdio,
    /// At a port.
    Http,
}

/// A server to be driven.
pub(crate) struct Target {
    /// Its name on the command line.
    pub(crate) name: String,
    /// How it is reached.
    pub(crate) way: Way,
    /// How requests introduce themselves.
    pub(crate) talk: Talk,
    /// Its tools.
    pub(crate) tools: Tools,
    make: Make,
}

#[derive(Clone, Copy)]
enum Make {
    Ours,
    Everything,
    Python(Peer, &'static str),
    TypeScript2,
}

/// Every server, every way; ours first.
pub(crate) fn all() -> Vec<Target> {
    let both: &[Talk] = &[Talk::Handshake, Talk::Envelope];
    let rows: [(&str, Make, Tools, &[Talk]); 5] = [
        ("toolbay", Make::Ours, OURS, both),
        ("ts1", Make::Everything, TS1, &[Talk::Handshake]),
        ("ts2", Make::TypeScript2, TS2, both),
        ("py1", Make::Python(Peer::Python1, "serve_v1.py"), PYTHON, &[Talk::Handshake]),
        ("py2", Make::Python(Peer::Python2, "serve_v2.py"), PYTHON, both),
    ];
    let mut all = Vec::new();
    for (name, make, tools, talks) in rows {
        for (way, word) in [(Way::Stdio, "stdio"), (Way::Http, "http")] {
            all.extend(talks.iter().map(|talk| {
                let name = format!("{name}-{word}-{}", talk.name());
                Target { name, way, talk: *talk, tools, make }
            }));
        }
    }
    all
}

impl Target {
    fn command(&self, binary: &std::path::Path, port: Option<u16>) -> Result<Command> {
        let port = port.map(|port| port.to_string());
        let way = if port.is_some() { "http" } else { "stdio" };
        let mut command = match self.make {
            Make::Ours => {
                let mut command = Command::new(binary);
                command.args(["serve", "everything", "--faults"]);
                if let Some(port) = port {
                    command.args(["--listen", &format!("127.0.0.1:{port}")]);
                }
                return Ok(command);
            }
            Make::Everything => {
                let mut command = Command::new(peers::node()?);
                let modules = peers::folder(Peer::NpmServers)?.join("node_modules/@modelcontextprotocol");
                command.arg(modules.join("server-everything/dist/index.js"));
                command.arg(if port.is_some() { "streamableHttp" } else { "stdio" });
                if let Some(port) = port {
                    command.env("PORT", port);
                }
                return Ok(command);
            }
            Make::Python(peer, script) => {
                let mut command = Command::new(peers::python(peer)?);
                command.arg("-B").arg(places::root().join("interop/faults").join(script));
                command
            }
            Make::TypeScript2 => {
                let mut command = Command::new(peers::node()?);
                command.arg(beside_modules(Peer::TypeScript2Server, "serve_ts2.mjs")?);
                command
            }
        };
        command.arg(way).args(port);
        Ok(command)
    }

    /// Starts it as a child, not greeted yet.
    pub(crate) fn pipe(&self, binary: &std::path::Path) -> Result<Pipe> {
        Pipe::start(&mut self.command(binary, None)?)
    }

    /// Starts it as a child and greets it.
    pub(crate) fn greeted(&self, binary: &std::path::Path) -> Result<Link> {
        let mut pipe = self.pipe(binary)?;
        if self.talk == Talk::Handshake {
            pipe.line(wire::initialize("\"hello\"").as_bytes())?;
            pipe.answer_to(&json!("hello"), START)?;
            pipe.line(wire::notification(self.talk, "notifications/initialized", json!({})).as_bytes())?;
        }
        Ok(Link::Pipe(Box::new(pipe), self.talk, self.tools.echo("meanwhile")))
    }

    /// Starts it at a port.
    pub(crate) fn house(&self, binary: &std::path::Path) -> Result<House> {
        let port = places::free_port()?;
        let mut command = self.command(binary, Some(port))?;
        let null = std::process::Stdio::null;
        command.stdin(null()).stdout(null()).stderr(null());
        let mut guard = Guard::spawn("the server", &mut command)?;
        let ready = child::wait_until(START, || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() || !matches!(guard.exited(), Ok(None))
        });
        let running = matches!(guard.exited(), Ok(None));
        (ready && running).then_some(()).context("the server does not accept connections")?;
        let web = Web { port, path: "/mcp", session: None, talk: self.talk };
        Ok(House { guard, web })
    }
}

/// A running HTTP server.
pub(crate) struct House {
    /// The process.
    pub(crate) guard: Guard,
    /// How to reach it; no session yet.
    pub(crate) web: Web,
}

/// Node looks for modules beside a script, so the script is laid into the peer's folder.
pub(crate) fn beside_modules(peer: Peer, script: &str) -> Result<PathBuf> {
    let from = places::root().join("interop/faults").join(script);
    let to = peers::folder(peer)?.join(script);
    let text = std::fs::read(&from).with_context(|| from.display().to_string())?;
    if std::fs::read(&to).ok().as_ref() != Some(&text) {
        std::fs::write(&to, text)?;
    }
    Ok(to)
}
