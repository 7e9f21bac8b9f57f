//! The registry by command: in a file, and by way of an `up` that runs.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;

use std::{path::Path, process::Stdio};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::Child,
    sync::mpsc,
    time::timeout,
};
use toolbay_testkit::services::{Ready, Web, map, weather};

use command::{SOON, run};

const EXAMPLE: &str = r#"{"tools":[{"name":"weather_query","description":"查询城市天气信息","transport":"sse","url":"http://mcp-server:8080/sse","category":"weather","enabled":true,"expires_at":null},{"name":"map_search","description":"地图搜索和导航","transport":"rest","url":"http://mcp-server:8081/api/tools/call","category":"map","enabled":true,"expires_at":"2026-04-09T15:30:00"}]}"#;

/// The same, well: stdout as JSON.
async fn json(folder: &Path, args: &[&str]) -> Value {
    let (code, out, err) = run(folder, &[args, &["--json"]].concat()).await;
    assert_eq!(code, 0, "{args:?}: {err}");
    serde_json::from_str(&out).unwrap()
}

/// One that runs, and the lines of its stderr.
struct Up {
    child: Child,
    endpoint: String,
    said: mpsc::UnboundedReceiver<String>,
}

impl Up {
    async fn start(folder: &Path) -> Self {
        let mut child = command::up(folder).stderr(Stdio::piped()).spawn().unwrap();
        let (endpoints, _) = command::ready(&mut child).await;
        let endpoint = command::address(&endpoints, "http");
        let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
        let (tell, said) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok(Some(line)) = errors.next_line().await {
                let _ = tell.send(line);
            }
        });
        Self { child, endpoint, said }
    }

    /// Waits for a line of stderr with these words.
    async fn says(&mut self, words: &str) -> String {
        let said = async {
            loop {
                let line = self.said.recv().await.unwrap();
                if line.contains(words) {
                    return line;
                }
            }
        };
        timeout(SOON, said).await.unwrap_or_else(|_| panic!("nothing is said of {words:?}"))
    }

    async fn tools(&self, folder: &Path) -> Vec<String> {
        let listed = json(folder, &["list", "tools", "--url", &self.endpoint]).await;
        let tools = listed["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    async fn end(self) {
        command::end(self.child).await;
    }
}

/// The example with services of this machine, and a time that lies ahead.
fn example(weather: &Web, map: &Web) -> String {
    EXAMPLE
        .replace("http://mcp-server:8080/sse", &weather.url("/sse"))
        .replace("http://mcp-server:8081/api/tools/call", &map.url("/api/tools/call"))
        .replace("2026-04-09T15:30:00", "2199-04-09T15:30:00")
}

#[tokio::test]
async fn the_example_as_it_stands_goes_through_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = folder.join("toolbay.json");
    let text = || std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, EXAMPLE).unwrap();
    let listed = json(folder, &["tool", "list"]).await;
    let short: Vec<_> =
        listed["tools"].as_array().unwrap().iter().map(|tool| (&tool["name"], &tool["state"])).collect();
    assert_eq!(json!(short), json!([["weather_query", "enabled"], ["map_search", "expired"]]));
    let (code, out, _) = run(folder, &["tool", "list"]).await;
    assert!(code == 0 && out.contains("TRANSPORT") && out.contains("查询城市天气信息"), "{out}");
    assert_eq!(json(folder, &["tool", "disable", "weather_query"]).await["change"], "disabled");
    assert_eq!(json(folder, &["tool", "disable", "weather_query"]).await["change"], "unchanged");
    assert_eq!(text(), EXAMPLE.replacen("\"enabled\":true", "\"enabled\":false", 1));
    assert_eq!(json(folder, &["tool", "enable", "weather_query"]).await["change"], "enabled");
    assert_eq!(text(), EXAMPLE);
    let shown = json(folder, &["tool", "show", "map_search"]).await;
    let entry = shown["tool"].to_string();
    assert_eq!(shown["tool"]["category"], "map");
    assert_eq!(json(folder, &["tool", "add", "--entry", &entry]).await["change"], "unchanged");
    let other = ["tool", "add", "map_search", "--transport", "rest", "--url", "http://127.0.0.1:1/"];
    let (code, _, err) = run(folder, &other).await;
    assert!(code == 2 && err.contains("is taken in the file"), "{code} {err}");
    assert_eq!(json(folder, &[&other[..], &["--replace"]].concat()).await["change"], "replaced");
    assert_eq!(json(folder, &["tool", "show", "map_search"]).await["tool"]["expires_at"], Value::Null);
    assert_eq!(json(folder, &["tool", "remove", "map_search"]).await["change"], "removed");
    let (code, _, err) = run(folder, &["tool", "remove", "wether_query"]).await;
    assert!(code == 5 && err.contains("did you mean \"weather_query\""), "{code} {err}");
    let (code, _, err) = run(folder, &["tool", "add", "x", "--url", "ftp://x/"]).await;
    assert!(code == 2 && err.contains("neither http nor https"), "{code} {err}");
    std::fs::write(&file, "{\"tools\": [\n  oops]}").unwrap();
    let (code, _, err) = run(folder, &["tool", "list"]).await;
    assert!(code == 3 && err.contains("toolbay.json:2:3"), "{code} {err}");
}

#[tokio::test]
async fn an_entry_is_added_where_there_is_no_file_yet() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (code, _, err) = run(folder, &["tool", "list"]).await;
    assert!(code == 3 && err.contains("there is no configuration"), "{code} {err}");
    let add = [
        "tool",
        "add",
        "clock",
        "--ttl",
        "15m",
        "--env",
        "A=${B}",
        "--",
        env!("CARGO_BIN_EXE_toolbay"),
        "serve",
        "time",
    ];
    let (code, out, err) = run(folder, &add).await;
    assert!(code == 0 && out == "clock: added\n", "{out} {err}");
    let entry = json(folder, &["tool", "show", "clock"]).await;
    assert_eq!((&entry["tool"]["args"], &entry["tool"]["env"]), (&json!(["serve", "time"]), &json!({"A": "${B}"})));
    assert_eq!((&entry["state"], entry["tool"]["expires_at"].is_string()), (&json!("enabled"), true));
}

#[tokio::test]
async fn what_is_changed_by_command_socket_or_hand_is_so_where_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (weather, map) = (weather(Ready::Polled(1)), map());
    let file = folder.join("toolbay.json");
    std::fs::write(&file, example(&weather, &map)).unwrap();
    let mut up = Up::start(folder).await;
    let both = ["weather_query", "map_search"];
    assert_eq!(up.tools(folder).await, both);
    let endpoint = up.endpoint.clone();
    let call = ["call", "weather_query", "city=北京", "--url", &endpoint];
    let (code, out, err) = run(folder, &call).await;
    assert!(code == 0 && out.contains("晴"), "{out} {err}");
    let way = ["call", "map_search", "origin=海淀区", "destination=朝阳区", "--url", &endpoint];
    let (code, out, err) = run(folder, &way).await;
    assert!(code == 0 && out.contains("18.5"), "{out} {err}");

    // By command, in the file.
    run(folder, &["tool", "disable", "weather_query"]).await;
    up.says("registry: weather_query: restarted: disabled").await;
    assert_eq!(up.tools(folder).await, ["map_search"]);
    let (code, _, err) = run(folder, &call).await;
    assert!(code != 0 && err.contains("\"weather_query\" is disabled"), "{code} {err}");
    // Over the socket it is so when it is answered.
    let pid = up.child.id().unwrap().to_string();
    assert_eq!(json(folder, &["tool", "enable", "weather_query", "--pid", &pid]).await["change"], "enabled");
    assert_eq!(up.tools(folder).await, both);
    let url = map.url("/api/tools/call");
    let add = ["tool", "add", "atlas", "--transport", "rest", "--url", &url, "--pid", &pid];
    assert_eq!(json(folder, &add).await["change"], "added");
    assert_eq!(up.tools(folder).await, ["weather_query", "map_search", "atlas"]);
    let listed = json(folder, &["tool", "list", "--pid", &pid]).await;
    assert_eq!(listed["tools"].as_array().unwrap().len(), 3);
    let (code, _, err) = run(folder, &["tool", "show", "atlsa", "--pid", &pid]).await;
    assert!(code == 5 && err.contains("did you mean \"atlas\""), "{code} {err}");
    assert_eq!(json(folder, &["tool", "remove", "atlas", "--pid", &pid]).await["change"], "removed");
    assert_eq!(up.tools(folder).await, both);

    // By hand: what does not parse changes nothing, and is told with its place.
    let sound = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, sound.replacen("\"map_search\"", "\n map_search", 1)).unwrap();
    let said = up.says("all goes on as it was").await;
    let status = json(folder, &["status"]).await;
    let fault = status["configFault"].as_str().unwrap();
    let place = fault.split(": ").next().unwrap().rsplit("toolbay.json:").next().unwrap();
    assert!(place.contains(":2") && said.contains(fault), "{fault} {said}");
    let (_, out, _) = run(folder, &["status"]).await;
    assert!(out.contains("the configuration cannot be used"), "{out}");
    assert_eq!(up.tools(folder).await, both);
    std::fs::write(&file, &sound).unwrap();
    up.says("can be used again").await;
    assert_eq!(json(folder, &["status"]).await["configFault"], Value::Null);

    // An entry that goes by itself, out of the file as well.
    let add = ["tool", "add", "brief", "--transport", "rest", "--url", &url, "--ttl", "1s", "--pid", &pid];
    assert_eq!(json(folder, &add).await["change"], "added");
    up.says("the time of brief is over").await;
    assert_eq!(up.tools(folder).await, both);
    assert_eq!(json(folder, &["tool", "list"]).await["tools"].as_array().unwrap().len(), 2);
    up.end().await;
}
