//! Two devices of one user in front of `toolbay up` with the real `@modelcontextprotocol/server-memory` behind it: neither
//! ever sees an entity of the other, in either era, whichever way a device is stated.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::args::Args;
use crate::gateway::{self, Gateway, Ready};
use crate::peers::{self, Peer};
use crate::places::Scratch;
use crate::table::Table;
use crate::tally::Tally;

const UP: Duration = Duration::from_secs(60);
const ANSWER: Duration = Duration::from_secs(60);
const NEWEST: &str = "2026-07-28";
const HANDSHAKE: &str = "2025-11-25";

/// How a client says which device it is.
#[derive(Clone, Copy, Debug)]
enum Way {
    Header,
    Meta,
    /// Not at all: its session stands in for it.
    Session,
}

/// Plays each pair of devices.
pub(crate) fn run(args: Args) -> Result<Tally> {
    args.finish()?;
    let binary = gateway::binary()?;
    let scratch = Scratch::new("devices")?;
    let script =
        peers::folder(Peer::NpmServers)?.join("node_modules/@modelcontextprotocol/server-memory/dist/index.js");
    let memory = json!({
        "command": peers::node()?, "args": [script], "isolation": "per-device",
        "env": {"MEMORY_FILE_PATH": "${SESSION_DIR}/memory.jsonl"},
    });
    let config = scratch.path().join("toolbay.json");
    std::fs::write(&config, json!({"mcpServers": {"memory": memory}}).to_string())?;
    let gateway = Gateway::start(&binary, &["up", "--config", &config.to_string_lossy()], Ready::Announced, UP)?;

    let mut table = Table::new(&["revision", "stated in", "first sees", "second sees", "result"]);
    let mut tally = Tally::default();
    let ways = [
        (NEWEST, Way::Header),
        (NEWEST, Way::Meta),
        (HANDSHAKE, Way::Header),
        (HANDSHAKE, Way::Meta),
        (HANDSHAKE, Way::Session),
    ];
    for (round, (revision, way)) in ways.into_iter().enumerate() {
        let devices = [format!("laptop-{round}"), format!("phone-{round}")];
        let seen = play(gateway.port, revision, way, &devices).with_context(|| format!("{revision}, {way:?}"))?;
        let expected = devices.map(|device| vec![format!("of {device}")]);
        let held = seen == expected;
        tally += Tally::one(held);
        let shown = seen.map(|names| names.join(", "));
        let result = if held { "apart" } else { "NOT APART" };
        table.row([vec![revision.to_owned(), format!("{way:?}")], shown.to_vec(), vec![result.to_owned()]].concat());
    }
    let left = gateway.end();
    tally += Tally::one(left.is_empty());
    table.print();
    left.iter().for_each(|one| println!("  left behind after TERM: {} {}", one.pid, one.command));
    println!("  devices: {}", tally.line());
    Ok(tally)
}

/// Each device writes an entity down, then both read all that there is: the names that each sees.
fn play(port: u16, revision: &'static str, way: Way, devices: &[String; 2]) -> Result<[Vec<String>; 2]> {
    let mut clients = vec![];
    for device in devices {
        clients.push(Client::open(port, revision, way, device)?);
    }
    for (client, device) in clients.iter().zip(devices) {
        let entity = json!({"name": format!("of {device}"), "entityType": "mark", "observations": [device]});
        client.call("memory__create_entities", &json!({"entities": [entity]}))?;
    }
    let mut seen = [vec![], vec![]];
    for (client, seen) in clients.iter().zip(&mut seen) {
        let result = client.call("memory__read_graph", &json!({}))?;
        let text = result["content"][0]["text"].as_str().context("the graph is no text")?;
        let graph: Value = serde_json::from_str(text)?;
        let entities = graph["entities"].as_array().context("the graph has no entities")?;
        seen.extend(entities.iter().map(|entity| entity["name"].as_str().unwrap_or("?").to_owned()));
    }
    Ok(seen)
}

struct Client {
    port: u16,
    revision: &'static str,
    way: Way,
    device: String,
    session: Option<String>,
}

impl Client {
    fn open(port: u16, revision: &'static str, way: Way, device: &str) -> Result<Self> {
        let mut client = Self { port, revision, way, device: device.to_owned(), session: None };
        if revision == HANDSHAKE {
            let mut params = json!({
                "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": device, "version": "1"},
            });
            if matches!(way, Way::Meta) {
                params["_meta"] = json!({"io.toolbay/client": device});
            }
            let (head, _) = client.post(
                "initialize",
                "",
                &json!({
                    "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params
                }),
            )?;
            let named = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned));
            client.session = Some(named.context("it opens no session")?);
            client.post(
                "notifications/initialized",
                "",
                &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            )?;
        }
        Ok(client)
    }

    fn call(&self, tool: &str, arguments: &Value) -> Result<Value> {
        let mut params = json!({"name": tool, "arguments": arguments});
        if self.revision == NEWEST {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": NEWEST, "io.modelcontextprotocol/clientCapabilities": {},
            });
            if matches!(self.way, Way::Meta) {
                params["_meta"]["io.toolbay/client"] = self.device.clone().into();
            }
        }
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (_, body) = self.post("tools/call", tool, &message)?;
        // Whether as one event or as it is, the answer is the last JSON object.
        let answer = body.lines().rev().find_map(|line| {
            serde_json::from_str::<Value>(line.strip_prefix("data:").unwrap_or(line).trim())
                .ok()
                .filter(Value::is_object)
        });
        let answer = answer.with_context(|| format!("there is no answer in {body:?}"))?;
        match answer.get("result") {
            Some(result) if result["isError"] != true => Ok(result.clone()),
            Some(_) | None => bail!("{tool} failed: {answer}"),
        }
    }

    fn post(&self, method: &str, name: &str, message: &Value) -> Result<(String, String)> {
        let (port, body) = (self.port, message.to_string());
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            body.len()
        );
        let mut field = |name: &str, value: &str| head.push_str(&format!("{name}: {value}\r\n"));
        if method != "initialize" {
            field("MCP-Protocol-Version", self.revision);
        }
        if self.revision == NEWEST {
            field("Mcp-Method", method);
            field("Mcp-Name", name);
        }
        if let Some(session) = &self.session {
            field("Mcp-Session-Id", session);
        }
        if matches!(self.way, Way::Header) {
            field("Toolbay-Client", &self.device);
        }
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("it does not answer in HTTP")?;
        let status = head.split(' ').nth(1).unwrap_or_default();
        if !status.starts_with('2') {
            bail!("{method}: {status}: {body}");
        }
        Ok((head.to_owned(), body.to_owned()))
    }
}
