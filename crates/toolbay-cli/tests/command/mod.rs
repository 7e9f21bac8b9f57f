//! The command as a test runs it: in a folder of its own, to its end, or as an `up` that goes on.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

/// How long anything may take.
pub(crate) const SOON: Duration = Duration::from_secs(30);
/// The command.
pub(crate) const THIS: &str = env!("CARGO_BIN_EXE_toolbay");

/// The command in a folder, which also holds what is the user's, so that nobody else's is found.
pub(crate) fn toolbay(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(THIS);
    command.args(args).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    command.env("XDG_CONFIG_HOME", folder).env("XDG_RUNTIME_DIR", folder).env("XDG_CACHE_HOME", folder);
    command
}

/// Runs it to its end: exit code, stdout, stderr.
pub(crate) async fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    finished(toolbay(folder, args)).await
}

/// The end of a command: exit code, stdout, stderr.
pub(crate) async fn finished(mut command: Command) -> (i32, String, String) {
    let output = timeout(2 * SOON, command.output()).await.expect("it ends").unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// The endpoints of an `up --json`, and what it said until it was ready; it is read on, so that it can go on writing.
pub(crate) async fn ready(child: &mut Child) -> (Value, Vec<Value>) {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = vec![];
    let endpoints = loop {
        let line = timeout(SOON, lines.next_line()).await.expect("it is ready in time").unwrap().unwrap();
        let event: Value = serde_json::from_str(&line).unwrap();
        if event["event"] == "ready" {
            break event["endpoints"].clone();
        }
        said.push(event);
    };
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (endpoints, said)
}

/// One address among endpoints.
pub(crate) fn address(endpoints: &Value, of: &str) -> String {
    endpoints[of].as_str().unwrap().to_owned()
}

/// `up` in a folder.
pub(crate) fn up(folder: &Path) -> Command {
    let mut command = toolbay(folder, &["up", "--listen", "127.0.0.1:0", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Ends an `up` as its user would.
pub(crate) async fn end(mut child: Child) {
    let id = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
    let status = timeout(SOON, child.wait()).await.expect("it ends when it is told to").unwrap();
    assert!(status.success(), "{status}");
}
