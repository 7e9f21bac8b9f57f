//! Looking at an `up` that runs, and having it read its configuration anew.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;

use std::{os::unix::fs::PermissionsExt as _, path::Path, process::Stdio};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};

use command::{SOON, THIS, run, toolbay};

/// One that runs, and what it said until it was ready.
struct Up {
    child: Child,
    endpoint: String,
    said: Vec<Value>,
}

impl Up {
    async fn start(folder: &Path) -> Self {
        let mut child = command::up(folder).spawn().unwrap();
        let (endpoints, said) = command::ready(&mut child).await;
        let endpoint = command::address(&endpoints, "http");
        Self { child, endpoint, said }
    }

    async fn signal(&self, name: &str) {
        let id = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args([name, &id]).status().await.unwrap().success());
    }

    async fn end(self) {
        command::end(self.child).await;
    }

    /// What a page beside the endpoint says: status and body.
    async fn page(&self, path: &str) -> (u16, String) {
        let address = self.endpoint.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(SOON, stream.read_to_string(&mut answer)).await.expect("it answers").unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }
}

fn write(folder: &Path, servers: &Value) {
    let config = json!({"mcpServers": servers, "limits": {"restartPause": 0.2}});
    std::fs::write(folder.join("toolbay.json"), config.to_string()).unwrap();
}

async fn status(folder: &Path) -> Value {
    let (code, out, err) = run(folder, &["status", "--json"]).await;
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

fn server<'s>(status: &'s Value, name: &str) -> &'s Value {
    status["servers"].as_array().unwrap().iter().find(|server| server["server"] == name).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn status_logs_and_pages_show_how_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (code, _, err) = run(folder, &["status"]).await;
    assert!(code == 4 && err.contains("no `toolbay up` of yours runs"), "{code} {err}");
    let clock = json!({"command": THIS, "args": ["serve", "time"]});
    let brief = json!({"command": "sh", "args": ["-c", "echo it is monday >&2; exit 3"]});
    write(folder, &json!({"clock": clock, "brief": brief, "off": {"command": "x", "disabled": true}}));
    let up = Up::start(folder).await;

    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let socket = folder.join(format!("toolbay/{}.sock", up.child.id().unwrap()));
    assert_eq!((mode(&folder.join("toolbay")), mode(&socket)), (0o700, 0o600));

    let args = ["call", "clock__get_current_time", "timezone=UTC", "--url", &up.endpoint];
    let (code, _, err) = run(folder, &args).await;
    assert_eq!(code, 0, "{err}");
    let all = status(folder).await;
    let clock = server(&all, "clock");
    assert!(clock["state"] == "ready" && clock["calls"] == 1 && clock["errors"] == 0, "{clock}");
    assert!(clock["p50"].as_f64().is_some_and(|millis| millis > 0.0) && clock["p95"].is_number(), "{clock}");
    assert!(clock["processes"].as_array().unwrap().len() == 1 && clock["tools"] == 2, "{clock}");
    let brief = server(&all, "brief");
    // It may or may not have been tried again by now.
    assert!(brief["state"] != "ready" && brief["restarts"].is_u64(), "{brief}");
    assert!(brief["lastError"].as_str().unwrap().contains("it is monday"), "{brief}");
    assert_eq!(server(&all, "off")["state"], "disabled");
    let (code, out, _) = run(folder, &["status"]).await;
    assert!(code == 0 && out.contains("clock") && out.contains("last error: brief"), "{out}");

    let (code, out, _) = run(folder, &["logs", "brief"]).await;
    assert!(code == 0 && out.contains("it is monday"), "{out}");
    let (code, _, err) = run(folder, &["logs", "brif"]).await;
    assert!(code == 5 && err.contains("did you mean \"brief\""), "{code} {err}");

    assert_eq!(up.page("/healthz").await, (200, "ok\n".into()));
    let (code, metrics) = up.page("/metrics").await;
    assert!(code == 200 && metrics.contains("toolbay_calls_total{server=\"clock\",outcome=\"done\"} 1"), "{metrics}");
    assert!(metrics.contains("toolbay_servers{phase=\"disabled\"} 1"), "{metrics}");
    assert_eq!(up.page("/elsewhere").await.0, 404);
    up.end().await;
    assert!(!socket.exists());
}

#[tokio::test]
async fn it_is_not_ready_while_a_server_is_undecided() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &json!({}));
    let up = Up::start(folder).await;
    assert_eq!(up.page("/readyz").await, (200, r#"{"ready":true,"undecided":[]}"#.into()));
    write(folder, &json!({"mute": {"command": "sleep", "args": ["60"], "startupTimeout": 3}}));
    let (code, out, err) = run(folder, &["reload"]).await;
    assert!(code == 0 && out.contains("mute: added"), "{out} {err}");
    let (code, body) = up.page("/readyz").await;
    assert_eq!((code, body.as_str()), (503, r#"{"ready":false,"undecided":[{"server":"mute","phase":"connecting"}]}"#));
    // In the end it is decided that it fails.
    let decided = async { while up.page("/readyz").await.0 != 200 {} };
    timeout(SOON, decided).await.expect("it is given up in time");
    let metrics = up.page("/metrics").await.1;
    assert_eq!(number(&metrics, "toolbay_servers{phase=\"failed\"}"), 1, "{metrics}");
    up.end().await;
}

/// What `/metrics` says of one line.
fn number(metrics: &str, line: &str) -> u64 {
    let found = metrics.lines().find_map(|there| there.strip_prefix(line)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("no {line}: {metrics}")).parse().unwrap()
}

#[tokio::test]
async fn a_server_that_fails_is_counted_and_keeps_nobody_from_being_ready() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let clock = json!({"command": THIS, "args": ["serve", "time"]});
    write(folder, &json!({"clock": clock, "brief": {"command": "sh", "args": ["-c", "exit 3"]}}));
    let up = Up::start(folder).await;
    // However often it is tried and fails, it is decided how it does.
    let restarts = "toolbay_server_restarts_total{server=\"brief\"}";
    let before = number(&up.page("/metrics").await.1, restarts);
    timeout(SOON, async {
        loop {
            assert_eq!(up.page("/healthz").await.0, 200);
            assert_eq!(up.page("/readyz").await, (200, r#"{"ready":true,"undecided":[]}"#.into()));
            let metrics = up.page("/metrics").await.1;
            for (phase, count) in [("ready", 1), ("failed", 1), ("connecting", 0), ("disabled", 0)] {
                assert_eq!(number(&metrics, &format!("toolbay_servers{{phase=\"{phase}\"}}")), count, "{metrics}");
            }
            if number(&metrics, restarts) >= before + 2 {
                break;
            }
        }
    })
    .await
    .expect("it is tried again and again");

    // One that is lost later: failed until it is back, and its calls with it.
    let all = status(folder).await;
    let process = server(&all, "clock")["processes"][0].to_string();
    assert!(Command::new("kill").args(["-KILL", &process]).status().await.unwrap().success());
    let (ready, failed) = ("toolbay_servers{phase=\"ready\"}", "toolbay_servers{phase=\"failed\"}");
    let wait = async |line: &str, count: u64| {
        let until = async { while number(&up.page("/metrics").await.1, line) != count {} };
        timeout(SOON, until).await.unwrap_or_else(|_| panic!("{line} never becomes {count}"));
    };
    wait("toolbay_server_restarts_total{server=\"clock\"}", 1).await;
    wait(ready, 1).await;
    wait(failed, 1).await;
    assert_eq!(up.page("/readyz").await.0, 200);
    let args = ["call", "clock__get_current_time", "timezone=UTC", "--url", &up.endpoint];
    assert_eq!(run(folder, &args).await.0, 0);
    let (code, _, err) = run(folder, &["call", "brief__any", "--url", &up.endpoint]).await;
    assert!(code != 0 && err.contains("brief"), "{code} {err}");
    let metrics = up.page("/metrics").await.1;
    assert_eq!(number(&metrics, "toolbay_calls_total{server=\"clock\",outcome=\"done\"}"), 1);
    assert!(number(&metrics, "toolbay_requests_total{outcome=\"failed\"}") >= 1, "{metrics}");
    up.end().await;
}

#[tokio::test]
async fn lines_are_followed_as_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &json!({"brief": {"command": "sh", "args": ["-c", "echo started as $$ >&2; exit 3"]}}));
    let up = Up::start(folder).await;
    let mut logs = toolbay(folder, &["logs", "brief", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(logs.stdout.take().unwrap()).lines();
    // It is started again and again, as another process each time.
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 3 {
        let line = timeout(SOON, lines.next_line()).await.expect("it goes on").unwrap().unwrap();
        if line.contains("started as") {
            seen.insert(line);
        }
    }
    up.end().await;
    // Whoever follows is told of the end.
    let status = timeout(SOON, logs.wait()).await.expect("it ends with what it follows").unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn a_changed_configuration_is_taken_on_while_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let clock = |timeout: u64| json!({"command": THIS, "args": ["serve", "time"], "timeout": timeout});
    let files = json!({"command": THIS, "args": ["serve", "filesystem", "."]});
    write(folder, &json!({"clock": clock(9), "files": files, "gone": clock(9)}));
    let up = Up::start(folder).await;
    let processes = |all: &Value, name: &str| server(all, name)["processes"].clone();
    let before = status(folder).await;
    write(folder, &json!({"clock": clock(8), "files": {"command": THIS, "args": ["serve", "time"]}, "new": clock(9)}));
    let (code, out, err) = run(folder, &["reload"]).await;
    assert_eq!(code, 0, "{err}");
    for says in [
        "clock: adjusted: timeout (live)",
        "files: restarted: args (server restarts)",
        "new: added",
        "gone: removed; it ends when its calls in flight have",
    ] {
        assert!(out.contains(says), "{says}: {out}");
    }
    let after = loop {
        let all = status(folder).await;
        if all["ready"] == true {
            break all;
        }
    };
    assert_eq!(processes(&before, "clock"), processes(&after, "clock"));
    assert_ne!(processes(&before, "files"), processes(&after, "files"));
    assert!(server(&after, "gone").is_null() && server(&after, "new")["state"] == "ready", "{after}");

    // A file that cannot be read changes nothing.
    std::fs::write(folder.join("toolbay.json"), "{ \"mcpServers\": [").unwrap();
    let (code, _, err) = run(folder, &["reload"]).await;
    assert!(code == 3 && err.contains("nothing was changed") && err.contains("toolbay.json"), "{code} {err}");
    assert_eq!(processes(&status(folder).await, "clock"), processes(&after, "clock"));

    // A server that cannot be started as it is written goes on as it was.
    write(folder, &json!({"clock": {"command": "${NO_SUCH_VARIABLE_AT_ALL}"}, "new": clock(9)}));
    let (code, out, _) = run(folder, &["reload"]).await;
    assert!(code == 3 && out.contains("clock: goes on as it was") && out.contains("files: removed"), "{code} {out}");

    // A signal says the same.
    write(folder, &json!({"clock": clock(8)}));
    up.signal("-HUP").await;
    loop {
        let all = status(folder).await;
        if server(&all, "new").is_null() {
            assert_eq!(processes(&all, "clock"), processes(&after, "clock"));
            break;
        }
    }
    up.end().await;
}

#[tokio::test]
async fn a_folder_that_others_can_enter_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("toolbay")).unwrap();
    std::fs::set_permissions(folder.join("toolbay"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, _, err) = run(folder, &["status"]).await;
    assert!(code == 4 && err.contains("mode 0700"), "{code} {err}");
}

/// A server of 2025-11-25 with three tools: one is sound, one refers to the network, one nests 400 levels deep.
const POISONED: &str = r##"
deep=$(printf '{"a":%.0s' $(seq 400))0$(printf '}%.0s' $(seq 400))
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) said='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) said='"result":{"tools":[{"name":"good","inputSchema":{"type":"object","$defs":{"a":{}},"properties":{"a":{"$ref":"#/$defs/a"}}}},{"name":"far","inputSchema":{"type":"object","properties":{"x":{"$ref":"http://127.0.0.1:9/"}}}},{"name":"abyss","inputSchema":{"type":"object","properties":{"x":'$deep'}}}]}' ;;
    *'"id"'*) said='"error":{"code":-32601,"message":"what?"}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$said"
done
"##;

#[tokio::test]
async fn a_poisonous_tool_is_named_by_up_and_by_status() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &json!({"odd": {"command": "sh", "args": ["-c", POISONED]}}));
    let up = Up::start(folder).await;
    let all = status(folder).await;
    let odd = server(&all, "odd");
    assert!(odd["state"] == "ready" && odd["tools"] == 1, "{odd}");
    for (name, says) in [("far", "nothing is fetched"), ("abyss", "limit `depth`")] {
        let names = |text: &Value| text.as_str().is_some_and(|text| text.contains(name) && text.contains(says));
        assert!(odd["notes"].as_array().unwrap().iter().any(names), "{name}: {odd}");
        let told = up.said.iter().any(|event| event["event"] == "report" && names(&event["message"]));
        assert!(told, "{name}: {:?}", up.said);
    }
    let (code, out, err) = run(folder, &["list", "tools", "--url", &up.endpoint, "--json"]).await;
    assert!(code == 0 && out.contains("odd__good") && out.contains("\"#/$defs/a\""), "{out} {err}");
    assert!(!out.contains("far") && !out.contains("abyss"), "{out}");
    up.end().await;
}

#[tokio::test]
async fn a_circuit_that_is_open_and_a_server_at_rest_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let limits = json!({"circuitFailures": 1, "circuitPause": 600});
    let brief = json!({"command": "sh", "args": ["-c", "exit 3"], "limits": limits});
    let later = json!({"command": THIS, "args": ["serve", "time"], "start": "on-demand", "limits": {"idleStop": 600}});
    write(folder, &json!({"brief": brief, "later": later}));
    let up = Up::start(folder).await;
    let all = status(folder).await;
    let circuit = &server(&all, "brief")["circuit"];
    assert_eq!(circuit["state"], "open", "{circuit}");
    assert!(circuit["secondsLeft"].as_u64().is_some_and(|left| (500..=600).contains(&left)), "{circuit}");
    let later = server(&all, "later");
    assert!(later["state"] == "resting" && later["processes"] == json!([]), "{later}");
    let (code, out, _) = run(folder, &["status"]).await;
    assert!(code == 0 && out.contains("failed, circuit open for ") && out.contains("resting"), "{out}");
    let (code, out, err) =
        run(folder, &["call", "later__get_current_time", "timezone=UTC", "--url", &up.endpoint]).await;
    assert_eq!(code, 0, "it is started by the call that needs it: {out} {err}");
    let all = status(folder).await;
    assert_eq!(server(&all, "later")["state"], "ready");
    assert!(up.page("/metrics").await.1.contains("toolbay_servers{phase=\"resting\"} 0"));
    up.end().await;
}
