//! What an `up` shows of its tools, as its configuration says, and as it says it anew.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

const SOON: Duration = Duration::from_secs(30);
const THIS: &str = env!("CARGO_BIN_EXE_toolbay");

fn toolbay(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(THIS);
    command.args(args).current_dir(folder).env("XDG_CONFIG_HOME", folder).env("XDG_RUNTIME_DIR", folder);
    command.env("XDG_CACHE_HOME", folder).kill_on_drop(true);
    command
}

async fn run(folder: &Path, args: &[&str]) -> String {
    let output = toolbay(folder, args).stdin(Stdio::null()).output();
    let output = timeout(SOON, output).await.expect("it ends").unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert!(output.status.success(), "{args:?}: {}", text(output.stderr));
    text(output.stdout)
}

/// One that runs, and its address.
async fn up(folder: &Path) -> (Child, String) {
    let mut child = toolbay(folder, &["up", "--listen", "127.0.0.1:0", "--json"]);
    let mut child = child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = timeout(SOON, lines.next_line()).await.expect("it is ready in time").unwrap().unwrap();
        let event: Value = serde_json::from_str(&line).unwrap();
        if let Some(endpoint) = event["endpoints"]["http"].as_str() {
            let endpoint = endpoint.to_owned();
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return (child, endpoint);
        }
    }
}

fn write(folder: &Path, more: &Value) {
    let mut config = json!({"mcpServers": {"clock": {"command": THIS, "args": ["serve", "time"]}}});
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    std::fs::write(folder.join("toolbay.json"), config.to_string()).unwrap();
}

async fn exposed(folder: &Path) -> Value {
    let status: Value = serde_json::from_str(&run(folder, &["status", "--json"]).await).unwrap();
    status["exposed"].clone()
}

#[tokio::test]
async fn what_is_shown_is_configured_reloaded_and_seen() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &json!({"expose": "auto"}));
    let (mut child, endpoint) = up(folder).await;
    let list = || async { run(folder, &["list", "--url", &endpoint]).await };
    let shown = exposed(folder).await;
    assert_eq!((&shown["expose"], &shown["shown"], &shown["acquires"]), (&json!("auto"), &json!("all"), &json!(true)));
    assert!(shown["tools"] == 2 && shown["tokens"].as_u64().unwrap() > 50, "{shown}");
    assert!(list().await.contains("clock__get_current_time"));
    let status = run(folder, &["status"]).await;
    assert!(status.contains("2 tools of about") && status.contains("all listed (up to 20000 tokens"), "{status}");

    write(folder, &json!({"expose": "search", "clients": {"mine": {"expose": "all"}}}));
    let said = run(folder, &["reload"]).await;
    assert!(said.contains("tools: adjusted: expose (live), clients (live)"), "{said}");
    let all = list().await;
    assert!(all.contains("search_and_acquire") && !all.contains("clock__get_current_time"), "{all}");
    let status = run(folder, &["status"]).await;
    assert!(status.contains("to be searched for (expose: search); to mine: all listed (expose: all)"), "{status}");
    let found = run(folder, &["call", "search_tools", "query=what time is it", "--url", &endpoint]).await;
    assert!(found.contains("clock__get_current_time"), "{found}");

    write(folder, &json!({"expose": "search", "acquire": {"sources": []}}));
    let said = run(folder, &["reload"]).await;
    assert!(
        said.contains("registries: adjusted: acquire (live)") && said.contains("tools: adjusted: clients"),
        "{said}"
    );
    assert!(!list().await.contains("search_and_acquire"));
    assert_eq!(exposed(folder).await["acquires"], false);
    child.kill().await.unwrap();
}
