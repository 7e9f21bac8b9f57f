//! Each example, run as its readers would run it.
#![allow(clippy::unwrap_used, reason = "these are tests, helpers included")]

use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::json;
use toolbay::{
    client::{ClientError, Started, command},
    prelude::*,
    protocol::Revision,
    types::{Dict, ElicitResult},
};

/// Where cargo puts an example; `cargo test` builds them all before it runs this, `cargo test --test` does not.
fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION)
}

fn start<const N: usize>(name: &str, args: [&str; N]) -> toolbay::client::ServerCommand {
    command(example(name), args)
}

#[tokio::test]
async fn minimal_adds() {
    let client = Client::connect(start("minimal", [])).await.unwrap();
    assert_eq!(client.call("add", &json!({"left": 1, "right": 2})).await.unwrap().texts(), "3");
    client.close().await;
}

#[tokio::test]
async fn ops_demo_answers_in_lines_that_people_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("orders.db");
    for _ in 0..2 {
        let client = Client::connect(start("ops-demo", [file.to_str().unwrap()])).await.unwrap();
        let ask = async |arguments| client.call("query_orders", &arguments).await.unwrap().texts();
        let pending = "2 pending orders\nSO-1025 | 上海临港 | ¥899.00 | pending | 2026-11-24\n\
                       SO-1024 | 杭州云栖 | ¥2680.00 | pending | 2026-11-23";
        assert_eq!(ask(json!({})).await, pending);
        assert_eq!(ask(json!({"status": "pending", "limit": 2})).await, pending);
        assert!(ask(json!({"limit": -7})).await.starts_with("1 pending orders\nSO-1025"));
        assert!(ask(json!({"limit": 1000})).await.starts_with("2 pending"));
        assert!(ask(json!({"status": "lost"})).await.contains("pending, shipped, cancelled"));
        let policy = client.read("file://policy/order-policy.md").await.unwrap();
        assert_eq!(policy.contents[0].mime_type.as_deref(), Some("text/markdown"));
        let report = client.prompt("weekly_report", &json!({"week": "2026-W48"})).await.unwrap();
        assert!(report.messages[0].content.as_text().unwrap().contains("query_orders"));
        client.close().await;
    }
}

#[test]
fn ops_client_prints_orders_and_policy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("orders.db");
    let run = Command::new(example("ops-client")).arg(example("ops-demo")).arg(file).output().unwrap();
    let said = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    for part in ["query_orders: Lists orders", "SO-1024 | 杭州云栖", "# Orders", "2026-W48"] {
        assert!(said.contains(part), "{said}");
    }
}

#[tokio::test]
async fn asks_the_user_acts_only_on_a_yes() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = Client::builder("test", "1")
            .revision(revision)
            .on_form(|_| async { ElicitResult::accept(Dict::new()) })
            .connect(start("asks-the-user", []))
            .await
            .unwrap();
        let yes = json!({"action": "accept", "content": {"name": "users", "backup": true}});
        let dropped = client.call("drop_table", &json!({"table": "users"})).answer("decision", &yes).await.unwrap();
        assert_eq!(dropped.texts(), "dropped users; copy: users.bak");
        let no = json!({"action": "decline"});
        let kept = client.call("drop_table", &json!({"table": "users"})).answer("decision", &no).await.unwrap();
        assert!(kept.failed() && kept.texts().contains("said no"));
        client.close().await;
    }
}

/// An example that listens, ended when it is dropped.
struct Listening(Child, String);

impl Listening {
    fn start(name: &str) -> Self {
        let mut child =
            Command::new(example(name)).arg("127.0.0.1:0").stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        let (said, hear) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stderr).lines();
            said.send(lines.next().unwrap().unwrap()).unwrap();
            // Read to its end, so that it can go on writing.
            lines.for_each(drop);
        });
        let line = hear.recv_timeout(Duration::from_secs(30)).expect("is the example built? cargo build --examples");
        let address = line.trim().rsplit([' ', '/']).find(|part| part.contains("127.0.0.1")).unwrap();
        Self(child, format!("http://{address}/mcp"))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[tokio::test]
async fn inside_axum_serves_beside_other_routes() {
    let app = Listening::start("inside-axum");
    for revision in [Revision::V2025_06_18, Revision::LATEST] {
        let client = Client::builder("test", "1").revision(revision).connect(app.1.clone()).await.unwrap();
        assert_eq!(client.call("weather", &json!({"city": "Wien"})).await.unwrap().texts(), "It rains in Wien.");
        client.close().await;
    }
}

#[tokio::test]
async fn each_user_sees_and_calls_their_own_tools() {
    let app = Listening::start("per-user-tools");
    let user = |token: &'static str| {
        let url = app.1.parse().unwrap();
        let mut target = toolbay::transport::http::client::Target::new(url);
        target.headers.insert("authorization", token.parse().unwrap());
        if token.ends_with("boss") {
            target.headers.insert("x-desk", "7".parse().unwrap());
        }
        Client::connect(target)
    };
    let boss = user("Bearer of-the-boss").await.unwrap();
    assert_eq!(boss.tools().all().await.unwrap().len(), 2);
    assert_eq!(boss.call("who", &()).await.unwrap().texts(), "boss, at desk 7");
    let guest = user("Bearer of-the-guest").await.unwrap();
    assert_eq!(guest.tools().all().await.unwrap().len(), 1);
    assert!(matches!(guest.call("restart", &()).await, Err(ClientError::Refused(error)) if error.code == -32602));
    assert!(user("Bearer of-nobody").await.is_err());
}

#[tokio::test]
async fn long_job_goes_on_behind_its_call() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client =
            Client::builder("test", "1").revision(revision).tasks().connect(start("long-job", [])).await.unwrap();
        let started = client.call("render", &json!({"scenes": 3})).start().await.unwrap();
        let Started::Task(task) = started else { panic!("it is a task") };
        assert_eq!(task.result().await.unwrap().texts(), "3 scenes are rendered");
        client.close().await;
    }
    let client = Client::connect(start("long-job", [])).await.unwrap();
    let mut told = 0;
    let call = client.call("render", &json!({"scenes": 3})).on_progress(|_| told += 1);
    assert_eq!(call.await.unwrap().texts(), "3 scenes are rendered");
    assert_eq!(told, 3);
    client.close().await;
}
