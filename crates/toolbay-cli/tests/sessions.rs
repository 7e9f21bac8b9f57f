//! Two devices of one user at a program that has a folder for each.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};

use command::{SOON, THIS, end, finished, toolbay};

/// The command, with a folder of its own for what it keeps and what it makes for a while.
fn here(mut command: Command, folder: &Path) -> Command {
    command.env("XDG_STATE_HOME", folder.join("state")).env("TMPDIR", folder.join("tmp")).env_remove("SESSION_DIR");
    command
}

async fn run(folder: &Path, args: &[&str]) -> Value {
    let (code, out, err) = finished(here(toolbay(folder, args), folder)).await;
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

/// One that runs, and where.
async fn up(folder: &Path) -> (Child, String) {
    let mut child = here(command::up(folder), folder).spawn().unwrap();
    let (endpoints, _) = command::ready(&mut child).await;
    let endpoint = command::address(&endpoints, "http");
    (child, endpoint.trim_start_matches("http://").trim_end_matches("/mcp").to_owned())
}

/// Which files a device finds in its folder.
async fn files(address: &str, device: &str) -> String {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "files__list_directory", "arguments": {"path": "."}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        }},
    });
    let body = body.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: files__list_directory\r\nToolbay-Client: {device}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer)).await.expect("it answers").unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("\"isError\":true"), "{answer}");
    answer
}

async fn sessions(folder: &Path) -> Vec<(u64, String, PathBuf)> {
    let all = run(folder, &["session", "list", "--json"]).await;
    let one = |session: &Value| {
        let device = session["client"]["device"].as_str().unwrap().to_owned();
        (session["number"].as_u64().unwrap(), device, PathBuf::from(session["folder"].as_str().unwrap()))
    };
    all["sessions"].as_array().unwrap().iter().map(one).collect()
}

fn house(keeps: Value) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("tmp")).unwrap();
    let server = json!({
        "command": THIS, "args": ["serve", "filesystem", "${SESSION_DIR}"], "isolation": "per-device", "sessionDir": keeps,
    });
    let config = json!({"mcpServers": {"files": server}});
    fs::write(home.path().join("toolbay.json"), config.to_string()).unwrap();
    home
}

/// Waits until what `home` runs removed a folder.
async fn gone(home: &Path, folder: &Path) {
    let gone = async {
        while folder.exists() {
            run(home, &["status", "--json"]).await;
        }
    };
    timeout(SOON, gone).await.expect("it is removed");
}

#[tokio::test]
async fn each_device_has_a_folder_that_goes_with_its_session() {
    let home = house(Value::Null);
    let folder = home.path();
    let (child, address) = up(folder).await;
    for device in ["laptop", "phone"] {
        files(&address, device).await;
    }
    let all = sessions(folder).await;
    assert_eq!(all.iter().map(|(_, device, _)| device.as_str()).collect::<Vec<_>>(), ["laptop", "phone"]);
    for (_, device, own) in &all {
        assert_eq!(fs::metadata(own).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(own.join(format!("of-{device}")), "x").unwrap();
    }
    let (laptop, phone) = (files(&address, "laptop").await, files(&address, "phone").await);
    assert!(laptop.contains("of-laptop") && !laptop.contains("of-phone"), "{laptop}");
    assert!(phone.contains("of-phone") && !phone.contains("of-laptop"), "{phone}");
    let status = run(folder, &["status", "--json"]).await;
    assert_eq!(status["servers"][0]["devices"], 2);

    let cleared = run(folder, &["session", "clear", &all[0].0.to_string(), "--json"]).await;
    assert_eq!(cleared["cleared"], json!([all[0].0]));
    gone(folder, &all[0].2).await;
    assert!(!files(&address, "laptop").await.contains("of-laptop"), "it begins anew");
    assert!(files(&address, "phone").await.contains("of-phone"));
    end(child).await;
    assert_eq!(fs::read_dir(folder.join("tmp")).unwrap().count(), 0, "nothing is left behind");
}

#[tokio::test]
async fn a_folder_that_is_to_be_kept_is_there_again() {
    let home = house("keep".into());
    let folder = home.path();
    let (child, address) = up(folder).await;
    files(&address, "laptop").await;
    let own = sessions(folder).await.remove(0).2;
    assert!(own.starts_with(folder.join("state/toolbay/sessions")), "{own:?}");
    fs::write(own.join("kept"), "x").unwrap();
    run(folder, &["session", "clear", "--all", "--json"]).await;
    assert!(files(&address, "laptop").await.contains("kept"));
    assert!(!files(&address, "phone").await.contains("kept"));
    end(child).await;
    let (child, address) = up(folder).await;
    assert!(files(&address, "laptop").await.contains("kept"));
    end(child).await;
}
