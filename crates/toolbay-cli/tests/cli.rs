//! The command as people and scripts use it.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};

use command::{SOON, run, toolbay};

#[tokio::test]
async fn embedded_servers_are_useful_without_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("note.txt"), "ahoy").unwrap();
    let (code, out, err) = run(folder.path(), &["call", "time__get_current_time", "timezone=Asia/Shanghai"]).await;
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Asia/Shanghai") && out.contains("+08:00"), "{out}");
    let (code, out, err) = run(folder.path(), &["call", "filesystem__read_text_file", "path=note.txt"]).await;
    assert!(code == 0 && out.contains("ahoy"), "{out} {err}");
    let (code, _, err) = run(folder.path(), &["call", "filesystem__read_text_file", "path=../../etc/passwd"]).await;
    assert_eq!(code, 1, "{err}");
    let (code, out, _) = run(folder.path(), &["list", "tools", "--json"]).await;
    let list: Value = serde_json::from_str(&out).unwrap();
    let names: Vec<_> = list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(code == 0 && names.contains(&"time__convert_time"), "{names:?}");
}

#[tokio::test]
async fn one_server_started_by_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let this = env!("CARGO_BIN_EXE_toolbay");
    let (code, out, err) = run(folder.path(), &["list", "tools", "--", this, "serve", "time"]).await;
    assert!(code == 0 && out.contains("get_current_time"), "{out} {err}");
    let args = [
        "call",
        "convert_time",
        "--json",
        r#"{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}"#,
    ];
    let (code, out, err) = run(folder.path(), &[&args[..], &["--", this, "serve", "time"]].concat()).await;
    assert!(code == 0 && out.contains("21:00"), "{out} {err}");
}

#[tokio::test]
async fn every_failure_has_its_code_and_says_whose_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let check = async |args: &[&str], code: i32, says: &str| {
        let (got, out, err) = run(folder.path(), args).await;
        assert!(got == code && (out.contains(says) || err.contains(says)), "{args:?}: {got} {out} {err}");
    };
    check(&["call", "nowhere"], 5, "nowhere").await;
    check(&["read", "nowhere://x"], 5, "nowhere://x").await;
    check(&["list", "--config", "missing.json"], 3, "missing.json").await;
    check(&["list", "--", "no-such-command-at-all"], 4, "no-such-command-at-all").await;
    check(&["list", "--url", "http://127.0.0.1:9/mcp"], 4, "127.0.0.1:9").await;
    check(&["call", "x", "nopair"], 2, "nopair").await;
    check(&["up", "--listen", "0.0.0.0:0"], 2, "--open").await;
    check(&["no-such-subcommand"], 2, "no-such-subcommand").await;
    std::fs::write(folder.path().join("bad.json"), "{\n  \"mcpServers\": [\n").unwrap();
    check(&["list", "--config", "bad.json"], 3, "bad.json:").await;
}

#[tokio::test]
async fn a_server_that_fails_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let this = env!("CARGO_BIN_EXE_toolbay");
    let config = json!({"mcpServers": {
        "clock": {"command": this, "args": ["serve", "time"]},
        "absent": {"command": "no-such-command-at-all"},
        "brief": {"command": "sh", "args": ["-c", "echo it is monday >&2; exit 3"]},
        "noisy": {"command": "sh", "args": ["-c", format!("echo starting up; exec {this} serve time")]},
        "unset": {"command": "${NO_SUCH_VARIABLE_AT_ALL}"},
        "off": {"command": "x", "disabled": true}
    }});
    std::fs::write(folder.path().join(".mcp.json"), config.to_string()).unwrap();
    let mut up = toolbay(folder.path(), &["up", "--listen", "127.0.0.1:0", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (events, endpoint) = until_ready(&mut up).await;
    let last = |server: &str| events.iter().rev().find(|event| event["server"] == server).unwrap().clone();
    assert_eq!(last("clock")["state"], "ready");
    assert_eq!(last("noisy")["state"], "ready");
    for (server, says) in
        [("absent", "no-such-command-at-all"), ("brief", "it is monday"), ("unset", "NO_SUCH_VARIABLE_AT_ALL")]
    {
        let event = last(server);
        assert!(event["state"] == "failed" && event["reason"].as_str().unwrap().contains(says), "{event}");
    }
    assert_eq!(last("off")["state"], "disabled");
    let (code, out, err) = run(folder.path(), &["list", "tools", "--url", &endpoint]).await;
    assert!(code == 0 && out.contains("clock__get_current_time") && out.contains("noisy__"), "{out} {err}");
    end(up).await;
}

/// Reads the events of `up --json` until it is ready; these and the endpoint.
async fn until_ready(up: &mut Child) -> (Vec<Value>, String) {
    let mut lines = BufReader::new(up.stdout.take().unwrap()).lines();
    let mut events = vec![];
    loop {
        let line = timeout(SOON, lines.next_line()).await.expect("it is ready in time").unwrap().expect("it goes on");
        let event: Value = serde_json::from_str(&line).unwrap();
        if event["event"] == "ready" {
            return (events, event["endpoints"]["http"].as_str().unwrap().to_owned());
        }
        events.push(event);
    }
}

/// Ends it as a service manager would.
async fn end(mut up: Child) {
    let id = up.id().unwrap().to_string();
    Command::new("kill").args(["-TERM", &id]).status().await.unwrap();
    let status = timeout(SOON, up.wait()).await.expect("it ends when it is told to").unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn up_on_stdio_speaks_both_eras_and_ends_with_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let mut up = toolbay(folder.path(), &["up", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = up.stdin.take().unwrap();
    let mut lines = BufReader::new(up.stdout.take().unwrap()).lines();
    let modern = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}
    });
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}
        }}),
        json!({"jsonrpc": "2.0", "id": "two", "method": "tools/list", "params": {"_meta": modern}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}),
    ];
    for message in &messages {
        stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    stdin.write_all(b"this is no message\n").await.unwrap();
    let mut answers = vec![];
    while answers.len() < 4 {
        let line = timeout(SOON, lines.next_line()).await.expect("it answers").unwrap().unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        // Changes of lists may be told of in between.
        if message.get("method").is_none() {
            answers.push(message);
        }
    }
    let by_id = |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(by_id(json!(1))["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(by_id(json!("two"))["result"]["resultType"], "complete");
    assert!(by_id(json!(3))["result"]["tools"].as_array().unwrap().len() > 2);
    assert!(answers.iter().any(|answer| answer["error"]["code"] == -32700));
    drop(stdin);
    let status = timeout(SOON, up.wait()).await.expect("it ends with its input").unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn a_foreign_host_is_turned_away() {
    let folder = tempfile::tempdir().unwrap();
    let mut up = toolbay(folder.path(), &["up", "--listen", "127.0.0.1:0", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (_, endpoint) = until_ready(&mut up).await;
    let address = endpoint.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let status = async |head: &str| {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let request = format!(
            "POST /mcp HTTP/1.1\r\n{head}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(SOON, stream.read_to_string(&mut answer)).await.expect("it answers").unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(status("Host: evil.example").await, "421");
    assert_eq!(status(&format!("Host: {address}\r\nOrigin: http://evil.example")).await, "403");
    assert_eq!(status(&format!("Host: {address}")).await, "400");
    end(up).await;
}

#[tokio::test]
async fn up_on_stdio_keeps_to_the_limit_of_a_message_that_the_configuration_sets() {
    let folder = tempfile::tempdir().unwrap();
    let config = json!({"limits": {"requestBytes": 2048}, "mcpServers": {}});
    std::fs::write(folder.path().join("toolbay.json"), config.to_string()).unwrap();
    let mut up = toolbay(folder.path(), &["up", "--stdio", "--config", "toolbay.json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = up.stdin.take().unwrap();
    let mut lines = BufReader::new(up.stdout.take().unwrap()).lines();
    let long = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"long": "x".repeat(3000)}});
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    stdin.write_all(format!("{long}\n{ping}\n").as_bytes()).await.unwrap();
    let mut said = vec![];
    while said.len() < 2 {
        let line = timeout(SOON, lines.next_line()).await.expect("it answers").unwrap().unwrap();
        said.push(line);
    }
    let all = said.join("\n");
    assert!(all.contains("2048 bytes") && all.contains("limit `request_bytes`") && all.contains("\"id\":2"), "{all}");
    drop(stdin);
    timeout(SOON, up.wait()).await.expect("it ends with its input").unwrap();
}
