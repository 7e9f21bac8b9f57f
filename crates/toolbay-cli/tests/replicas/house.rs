//! Processes: replicas with one configuration, and the servers behind them.

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::{Child, Command},
    time::timeout,
};
use toolbay::{
    client::ClientBuilder,
    types::{Dict, ElicitResult},
    {Client, Raw},
};

pub(crate) const SOON: Duration = Duration::from_secs(30);
pub(crate) const THIS: &str = env!("CARGO_BIN_EXE_toolbay");
/// A key as `openssl rand -hex 32` makes them.
pub(crate) const KEY: &str = "9f1c0d5e7a3b48f2a6d4e9b01c2f3a4d5e6f708192a3b4c5d6e7f8091a2b3c4d";

pub(crate) fn toolbay(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(THIS);
    command.args(args).current_dir(folder).env("XDG_CONFIG_HOME", folder).env("XDG_RUNTIME_DIR", folder);
    command.env_remove("TOOLBAY_STATE_KEY").stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Reads lines until one says where the process listens, and the rest for as long as it writes.
async fn address(output: impl AsyncRead + Unpin + Send + 'static, find: impl Fn(&str) -> Option<String>) -> String {
    let mut lines = BufReader::new(output).lines();
    let found = loop {
        let line = timeout(SOON, lines.next_line()).await.expect("it says in time where it listens").unwrap();
        if let Some(found) = find(&line.expect("it says where it listens")) {
            break found;
        }
    };
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    found.trim_start_matches("http://").trim_end_matches("/mcp").to_owned()
}

/// A server over HTTP that all replicas share.
pub(crate) struct Shared {
    _child: Child,
    pub(crate) url: String,
}

impl Shared {
    /// Each feature once, in the newest revision.
    pub(crate) async fn everything(folder: &Path) -> Self {
        let mut command = toolbay(folder, &["serve", "everything", "--faults", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let says = |line: &str| line.strip_prefix("endpoint ").map(str::to_owned);
        let address = address(child.stderr.take().unwrap(), says).await;
        Self { _child: child, url: format!("http://{address}/mcp") }
    }
}

/// Replicas of one configuration.
pub(crate) struct Replicas {
    _children: Vec<Child>,
    pub(crate) addresses: Vec<String>,
}

impl Replicas {
    /// One for each key, or for none.
    pub(crate) async fn start(folder: &Path, servers: &Value, keys: &[Option<&str>]) -> Self {
        std::fs::write(folder.join("toolbay.json"), json!({ "mcpServers": servers }).to_string()).unwrap();
        let (mut children, mut addresses) = (vec![], vec![]);
        for key in keys {
            let mut command = toolbay(folder, &["up", "--listen", "127.0.0.1:0", "--json"]);
            if let Some(key) = key {
                command.env("TOOLBAY_STATE_KEY", key);
            }
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            let says = |line: &str| {
                let event: Value = serde_json::from_str(line).unwrap();
                (event["event"] == "ready").then(|| event["endpoints"]["http"].as_str().unwrap().to_owned())
            };
            addresses.push(address(child.stdout.take().unwrap(), says).await);
            children.push(child);
        }
        Self { _children: children, addresses }
    }

    /// Two that share a key.
    pub(crate) async fn two(folder: &Path, servers: &Value) -> Self {
        Self::start(folder, servers, &[Some(KEY), Some(KEY)]).await
    }
}

/// A server of 2025-11-25 over stdio, a process for each replica. Its tool asks twice while it runs, and notes in a file
/// that it ran.
pub(crate) fn asks_while_it_runs(folder: &Path) -> Value {
    json!({"command": "sh", "args": ["-c", OLDER], "env": {"RAN": folder.join("ran").to_str().unwrap()}})
}

/// How often that tool ran.
pub(crate) fn ran(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("ran")).unwrap_or_default().lines().count()
}

const OLDER: &str = r##"
ask() {
  form='{"type":"object","properties":{"'$1'":{"type":"string"}}}'
  printf '{"jsonrpc":"2.0","id":"%s","method":"elicitation/create","params":{"message":"%s?","requestedSchema":%s}}\n' "$1" "$1" "$form"
  read -r answer
  answer=$(printf '%s' "$answer" | sed 's/.*"'"$1"'":"\([^"]*\)".*/\1/')
}
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) said='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) said='"result":{"tools":[{"name":"meet","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*)
      echo ran >> "$RAN"
      ask name; name=$answer
      ask color
      said='"result":{"content":[{"type":"text","text":"'$name' likes '$answer'."}]}' ;;
    *'"id"'*) said='"error":{"code":-32601,"message":"what?"}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$said"
done
"##;

/// A client whose user is called Ada and likes blue.
pub(crate) fn ada() -> ClientBuilder {
    Client::builder("ada", "1.0.0").on_form(|form| async move {
        let wanted = format!("{:?}", form.requested_schema);
        let answers = [("name", "Ada"), ("color", "blue")].into_iter().filter(|(key, _)| wanted.contains(key));
        ElicitResult::accept(answers.map(|(key, answer)| (key, Raw::of(&answer))).collect::<Dict<Raw>>())
    })
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}
