//! The foreign clients: how each is started, and what it reported.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::Stage;
use crate::child;
use crate::peers::{self, Peer};
use crate::places;

/// A client stops by itself after 120 s; this is for one that does not.
const LIMIT: Duration = Duration::from_secs(150);

/// How a client reaches the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// The client starts `toolbay up --stdio`.
    Stdio,
    /// Streamable HTTP at `/mcp`.
    Http,
    /// The older HTTP+SSE at `/sse`.
    Sse,
}

impl Transport {
    /// Its name on the command line and in plans.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// Which script, in which environment.
pub(crate) struct Client {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it speaks.
    pub(crate) transports: &'static [Transport],
    /// How it negotiates, where it can be told.
    pub(crate) mode: &'static str,
    /// The revision that it and the gateway must agree on.
    revision: &'static str,
    peer: Peer,
    script: &'static str,
}

use Transport::{Http, Sse, Stdio};

const NEWEST: &str = "2026-07-28";
/// The newest revision that begins with a handshake.
const HANDSHAKE: &str = "2025-11-25";

/// All of them. The new SDKs run twice: choosing the era themselves, and held to the handshake.
pub(crate) const CLIENTS: [Client; 6] = [
    Client {
        name: "py1",
        peer: Peer::Python1,
        script: "client_v1.py",
        mode: "",
        revision: HANDSHAKE,
        transports: &[Stdio, Http, Sse],
    },
    Client {
        name: "py2",
        peer: Peer::Python2,
        script: "client_v2.py",
        mode: "auto",
        revision: NEWEST,
        transports: &[Stdio, Http],
    },
    Client {
        name: "py2-legacy",
        peer: Peer::Python2,
        script: "client_v2.py",
        mode: "legacy",
        revision: HANDSHAKE,
        transports: &[Stdio, Http],
    },
    Client {
        name: "ts1",
        peer: Peer::TypeScript1,
        script: "client_v1.mjs",
        mode: "",
        revision: HANDSHAKE,
        transports: &[Stdio, Http, Sse],
    },
    Client {
        name: "ts2",
        peer: Peer::TypeScript2,
        script: "client_v2.mjs",
        mode: "auto",
        revision: NEWEST,
        transports: &[Stdio, Http],
    },
    Client {
        name: "ts2-legacy",
        peer: Peer::TypeScript2,
        script: "client_v2.mjs",
        mode: "legacy",
        revision: HANDSHAKE,
        transports: &[Stdio, Http],
    },
];

/// One line of a client's report.
pub(crate) struct Check {
    /// What was checked.
    pub(crate) name: String,
    /// Whether it held.
    pub(crate) held: bool,
    /// What was seen.
    pub(crate) detail: String,
}

/// A client's whole report.
pub(crate) struct Outcome {
    /// Every check, in order.
    pub(crate) checks: Vec<Check>,
    /// What the client wrote to stderr.
    pub(crate) stderr: String,
    /// From start to end.
    pub(crate) took: Duration,
}

impl Outcome {
    /// How many checks held.
    pub(crate) fn held(&self) -> usize {
        self.checks.iter().filter(|check| check.held).count()
    }

    /// The checks that did not hold.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.held)
    }

    /// Whether all held.
    pub(crate) fn passed(&self) -> bool {
        self.held() == self.checks.len()
    }

    /// The revision that was agreed on, as the client tells it after the server's name.
    pub(crate) fn revision(&self) -> String {
        let connect = self.checks.iter().find(|check| check.name == "connect" && check.held);
        connect.and_then(|check| check.detail.rsplit(", ").next()).unwrap_or("-").to_owned()
    }
}

/// Lets a client follow a plan.
pub(crate) fn run(client: &Client, transport: Transport, stage: &Stage, plan: &Path) -> Result<Outcome> {
    let mut command = if client.script.ends_with(".py") { python(client)? } else { node(client, stage)? };
    let started = Instant::now();
    let run = child::capture(client.name, command.arg(plan).current_dir(stage.path()), LIMIT)?;
    let mut checks: Vec<Check> = run.stdout.lines().map(read).collect::<Result<_>>()?;
    // A report that does not come to its end is a failure, whatever it says.
    if !checks.iter().any(|check| check.name == "disconnect") && checks.iter().all(|check| check.held) {
        let detail = format!("the client ended early ({})", run.status);
        checks.push(Check { name: "disconnect".to_owned(), held: false, detail });
    }
    let mut outcome = Outcome { checks, stderr: run.stderr, took: started.elapsed() };
    let agreed = outcome.revision();
    // HTTP+SSE belongs to the oldest revision; a server there may agree on any that begins with a handshake.
    let fits = agreed == client.revision || (transport == Transport::Sse && agreed != "-");
    let detail = format!("agreed on {agreed} where both sides know {}", client.revision);
    outcome.checks.push(Check { name: "revision".to_owned(), held: fits, detail });
    Ok(outcome)
}

fn read(line: &str) -> Result<Check> {
    let value: Value = serde_json::from_str(line).with_context(|| format!("a client printed `{line}`"))?;
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    Ok(Check { name: text("check"), held: value["ok"] == true, detail: text("detail") })
}

fn python(client: &Client) -> Result<Command> {
    let mut command = Command::new(peers::python(client.peer)?);
    command.arg("-B").arg(places::root().join("interop/clients/py").join(client.script));
    Ok(command)
}

/// Node looks for modules beside the script, so the scripts are laid beside the fetched modules.
fn node(client: &Client, stage: &Stage) -> Result<Command> {
    let folder = stage.path().join(format!("{:?}", client.peer));
    if !folder.exists() {
        fs::create_dir(&folder)?;
        let scripts = places::root().join("interop/clients/ts");
        for script in fs::read_dir(&scripts)? {
            let script = script?;
            fs::copy(script.path(), folder.join(script.file_name()))?;
        }
        std::os::unix::fs::symlink(peers::folder(client.peer)?.join("node_modules"), folder.join("node_modules"))?;
    }
    let mut command = Command::new(peers::node()?);
    command.arg(folder.join(client.script));
    Ok(command)
}
