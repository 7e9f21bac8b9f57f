//! What an `up` shows of its tools, as its configuration says, and as it says it anew.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;

use std::path::Path;

use serde_json::{Value, json};
use tokio::process::Child;

use command::THIS;

async fn run(folder: &Path, args: &[&str]) -> String {
    let (code, out, err) = command::run(folder, args).await;
    assert_eq!(code, 0, "{args:?}: {err}");
    out
}

/// One that runs, and its address.
async fn up(folder: &Path) -> (Child, String) {
    let mut child = command::up(folder).spawn().unwrap();
    let (endpoints, _) = command::ready(&mut child).await;
    (child, command::address(&endpoints, "http"))
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
