//! The clients that are let loose on scripted servers: how each is started, and how it tells what it got.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use serde_json::{Value, json};

use super::targets::beside_modules;
use super::wire::Talk;
use crate::peers::{self, Peer};
use crate::places;

/// Where the server is.
pub(crate) enum Where<'a> {
    /// To be started.
    Command(Vec<String>),
    /// At an address.
    Url(&'a str),
}

/// A client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guest {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    make: Make,
}

#[derive(Clone, Copy, Debug)]
enum Make {
    Ours,
    Python(Peer, &'static str),
    TypeScript(Peer, &'static str),
}

/// Every client, ours first.
pub(crate) const ALL: [Guest; 5] = [
    Guest { name: "toolbay-client", make: Make::Ours },
    Guest { name: "ts1-client", make: Make::TypeScript(Peer::TypeScript1, "call_ts1.mjs") },
    Guest { name: "ts2-client", make: Make::TypeScript(Peer::TypeScript2, "call_ts2.mjs") },
    Guest { name: "py1-client", make: Make::Python(Peer::Python1, "call_v1.py") },
    Guest { name: "py2-client", make: Make::Python(Peer::Python2, "call_v2.py") },
];

impl Guest {
    /// Whether it is ours.
    pub(crate) fn is_ours(self) -> bool {
        matches!(self.make, Make::Ours)
    }

    /// Whether it knows this way to introduce a request.
    pub(crate) fn speaks(self, talk: Talk) -> bool {
        let handshake_only = match self.make {
            Make::Ours => false,
            Make::Python(peer, _) | Make::TypeScript(peer, _) => matches!(peer, Peer::Python1 | Peer::TypeScript1),
        };
        talk == Talk::Handshake || !handshake_only
    }

    /// The command that connects, lists, and calls the tool `t`.
    pub(crate) fn command(self, binary: &Path, to: &Where<'_>) -> Result<Command> {
        let plan = match to {
            Where::Command(words) => json!({ "command": words }),
            Where::Url(url) => json!({ "url": url }),
        };
        let mut command = match self.make {
            Make::Ours => {
                let mut command = Command::new(binary);
                command.args(["call", "t"]);
                match to {
                    Where::Command(words) => command.args(["--json", "--"]).args(words),
                    Where::Url(url) => command.args(["--url", url, "--json"]),
                };
                return Ok(command);
            }
            Make::Python(peer, script) => {
                let mut command = Command::new(peers::python(peer)?);
                command.arg("-B").arg(places::root().join("interop/faults").join(script));
                command
            }
            Make::TypeScript(peer, script) => {
                let mut command = Command::new(peers::node()?);
                command.arg(beside_modules(peer, script)?);
                command
            }
        };
        command.arg(plan.to_string());
        Ok(command)
    }

    /// The result or the error in what it printed.
    pub(crate) fn read(self, succeeded: bool, stdout: &str, stderr: &str) -> (Option<String>, Option<String>) {
        let said = || stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
        if self.is_ours() {
            let result = stdout.trim();
            return if succeeded { (Some(result.to_owned()), None) } else { (None, Some(said())) };
        }
        let last = stdout.lines().rev().find(|line| line.starts_with("{\"ok\""));
        let Some(last) = last else { return (None, Some(format!("it broke: {}", said()))) };
        // The result stays text: a number that we read would be a number that we changed.
        let outcome: Value = serde_json::from_str(last).unwrap_or_default();
        if last.starts_with("{\"ok\": true") || last.starts_with("{\"ok\":true") {
            (Some(last.to_owned()), None)
        } else {
            (None, outcome["error"].as_str().map(str::to_owned))
        }
    }
}
