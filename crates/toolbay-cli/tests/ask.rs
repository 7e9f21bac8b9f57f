//! Requests in plain words, against services of this machine.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;

use std::{
    path::Path,
    sync::{Arc, Condvar, Mutex},
};

use serde_json::{Value, json};
use tokio::process::Child;
use toolbay_testkit::services::{Ready, Reply, Web, map, weather};

const EXAMPLE: &str = r#"{"tools":[{"name":"weather_query","description":"查询城市天气信息","transport":"sse","url":"http://mcp-server:8080/sse","category":"weather","enabled":true,"expires_at":null},{"name":"map_search","description":"地图搜索和导航","transport":"rest","url":"http://mcp-server:8081/api/tools/call","category":"map","enabled":true,"expires_at":"2026-04-09T15:30:00"}]}"#;

/// A folder with the example, its services being these, and a time that lies ahead.
fn example(weather: &Web, map: &Web) -> tempfile::TempDir {
    let text = EXAMPLE
        .replace("http://mcp-server:8080/sse", &weather.url("/sse"))
        .replace("http://mcp-server:8081/api/tools/call", &map.url("/api/tools/call"))
        .replace("2026-04-09T15:30:00", "2199-04-09T15:30:00");
    with(&text)
}

fn with(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("toolbay.json"), config).unwrap();
    folder
}

/// Runs `toolbay ask` to its end: exit code, stdout, stderr.
async fn ask(folder: &Path, args: &[&str]) -> (i32, String, String) {
    command::run(folder, &[&["ask"], args].concat()).await
}

/// The same, well: stdout as JSON.
async fn json(folder: &Path, args: &[&str]) -> Value {
    let (code, out, err) = ask(folder, &[args, &["--json"]].concat()).await;
    assert_eq!(code, 0, "{args:?}: {out} {err}");
    serde_json::from_str(&out).unwrap()
}

/// What was posted, as the arguments that came.
fn given(web: &Web) -> Vec<Value> {
    let posts = web.asked().into_iter().filter(|asked| asked.verb == "POST");
    posts.map(|asked| serde_json::from_str::<Value>(&asked.body).unwrap()["arguments"].clone()).collect()
}

#[tokio::test]
async fn a_request_reaches_the_right_service_with_the_right_arguments() {
    let (weather, map) = (weather(Ready::Polled(1)), map());
    let folder = example(&weather, &map);
    for (request, service, expected, answer) in [
        ("从海淀区到朝阳区怎么走", &map, json!({"origin": "海淀区", "destination": "朝阳区"}), "朝阳区"),
        ("北京市今天天气", &weather, json!({"city": "北京市", "date": "今天"}), "晴"),
        (
            "How do I get from Haidian to Chaoyang",
            &map,
            json!({"origin": "Haidian", "destination": "Chaoyang"}),
            "Chaoyang",
        ),
        ("weather in Beijing today", &weather, json!({"city": "Beijing", "date": "today"}), "晴"),
    ] {
        let (code, out, err) = ask(folder.path(), &[request]).await;
        assert_eq!(code, 0, "{request}: {out} {err}");
        assert!(out.contains(answer), "{request}: {out}");
        assert_eq!(given(service).last(), Some(&expected), "{request}");
    }
    assert_eq!((given(&weather).len(), given(&map).len()), (2, 2));
}

/// Who was called, for services of which none answers before the other was called.
#[derive(Default)]
struct Both {
    called: Mutex<[bool; 2]>,
    more: Condvar,
}

impl Both {
    fn call(&self, which: usize) {
        self.called.lock().unwrap()[which] = true;
        self.more.notify_all();
    }

    fn wait(&self) -> bool {
        let called = self.called.lock().unwrap();
        let (called, _) =
            self.more.wait_timeout_while(called, 2 * command::SOON / 3, |called| *called != [true, true]).unwrap();
        *called == [true, true]
    }
}

fn patient_map(both: Arc<Both>) -> Web {
    Web::serve(move |asked| {
        both.call(0);
        let call: Value = serde_json::from_str(&asked.body).unwrap();
        match both.wait() {
            true => Reply::json(200, json!({"way": call["arguments"]})),
            false => Reply::json(504, json!({"error": "the weather was never asked for"})),
        }
    })
}

fn patient_weather(both: Arc<Both>) -> Web {
    Web::serve(move |asked| match (asked.verb.as_str(), asked.target.as_str()) {
        ("POST", "/sse") => {
            both.call(1);
            Reply::json(200, json!({"session_id": "w1"}))
        }
        ("GET", "/sse/w1") if both.wait() => Reply::json(200, json!({"status": "done", "result": {"weather": "晴"}})),
        ("GET", "/sse/w1") => Reply::json(500, json!({"error": "the map was never asked for"})),
        _ => Reply::json(404, json!({"error": "POST /sse, then GET /sse/w1"})),
    })
}

#[tokio::test]
async fn both_requests_in_one_sentence_run_at_once() {
    for (request, city, origin) in [
        ("从海淀区到朝阳区怎么走，北京市今天天气", "北京市", "海淀区"),
        ("How do I get from Haidian to Chaoyang, and weather in Beijing today", "Beijing", "Haidian"),
    ] {
        let both = Arc::new(Both::default());
        let (weather, map) = (patient_weather(Arc::clone(&both)), patient_map(both));
        let ran = json(example(&weather, &map).path(), &[request]).await;
        let origins: Vec<_> = ran["results"].as_array().unwrap().iter().map(|ran| &ran["tool"]).collect();
        assert_eq!(json!(origins), json!(["map_search", "weather_query"]), "{ran}");
        assert_eq!(ran["results"][0]["result"]["structuredContent"]["way"]["origin"], origin, "{ran}");
        assert_eq!(ran["results"][1]["result"]["structuredContent"]["weather"], "晴", "{ran}");
        assert_eq!(given(&weather)[0]["city"], city);
    }
}

/// An `up` over this configuration, and where it serves MCP over HTTP+SSE.
async fn served(folder: &Path) -> (Child, String) {
    let mut child = command::up(folder).spawn().unwrap();
    let (endpoints, _) = command::ready(&mut child).await;
    (child, command::address(&endpoints, "sse"))
}

#[tokio::test]
async fn an_entry_over_sse_may_be_a_server_of_the_protocol() {
    let (service, map) = (weather(Ready::Polled(1)), map());
    let behind = example(&service, &map);
    let (mut server, url) = served(behind.path()).await;
    let folder = with(&EXAMPLE.replace("http://mcp-server:8080/sse", &url));
    let ran = json(folder.path(), &["北京市今天天气"]).await;
    assert_eq!(ran["results"][0]["server"], "weather_query", "{ran}");
    assert_eq!(given(&service)[0]["city"], "北京市", "{ran}");
    server.kill().await.unwrap();
}

#[tokio::test]
async fn the_plan_is_shown_with_its_scores_and_the_origin_of_each_argument_and_nothing_is_called() {
    let (weather, map) = (weather(Ready::Never), map());
    let folder = example(&weather, &map);
    let (code, out, err) = ask(folder.path(), &["--plan", "北京市今天天气"]).await;
    assert!(
        code == 0 && out.contains("weather_query") && out.contains(r#"city = "北京市"  (said: city"#),
        "{out} {err}"
    );
    let weighted = ["--plan", "--scorer", "weighted", "--weight", "weather=10", "查询天气"];
    let (code, out, err) = ask(folder.path(), &weighted).await;
    assert!(code == 0 && out.contains("0.4 × name") && out.contains("0.3 × category 1.000"), "{out} {err}");
    let args = ["--plan", "--arguments", "prescribed", "从海淀区到朝阳区怎么走"];
    let plan = json(folder.path(), &args).await;
    let step = &plan["groups"][0]["steps"][0];
    assert_eq!(step["arguments"], json!({"origin": "海淀区", "destination": "朝阳区"}), "{plan}");
    assert_eq!(step["origins"]["origin"], json!({"origin": "said", "kind": "origin", "words": "海淀区"}), "{plan}");
    assert_eq!((given(&weather).len(), given(&map).len()), (0, 0));
}

#[tokio::test]
async fn what_cannot_be_done_is_said_with_whose_fault_it_is() {
    let broken = Web::serve(|_| Reply::json(503, json!({"error": "closed today"})));
    let tool = |name: &str, required: &str| {
        json!({
            "name": name, "description": "查询城市天气信息", "transport": "rest", "url": broken.url("/"), "category": "weather",
            "inputSchema": {
                "type": "object", "required": [required],
                "properties": {"city": {"type": "string"}, "key": {"type": "integer", "description": "the key of the house"}},
            },
        })
    };
    let folder = with(&json!({"tools": [tool("weather_a", "key"), tool("weather_b", "city")]}).to_string());
    let (code, out, err) = ask(folder.path(), &["北京市今天天气"]).await;
    assert!(code == 1 && out.is_empty(), "{code} {out}");
    assert!(err.contains("weather_b: the tool failed") && err.contains("closed today"), "{err}");
    assert!(err.contains("weather_a: not called") && err.contains("key (the key of the house)"), "{err}");

    let folder = with(&json!({"tools": [tool("weather_a", "key")]}).to_string());
    let (code, _, err) = ask(folder.path(), &["北京市今天天气"]).await;
    assert!(code == 2 && err.contains("the key of the house"), "{code} {err}");
    let (code, _, err) = ask(folder.path(), &["帮我翻译这句话"]).await;
    assert!(code == 5 && err.contains("no tool fits"), "{code} {err}");
    let (code, _, err) = ask(folder.path(), &["--scorer", "weighted", "--weight", "map", "天气"]).await;
    assert!(code == 2 && err.contains("search=10"), "{code} {err}");
}

#[tokio::test]
async fn the_deadline_ends_a_call_that_is_never_answered() {
    let silent = Web::serve(|_| Reply::Silence);
    let tool =
        json!({"name": "weather", "description": "查询城市天气信息", "transport": "rest", "url": silent.url("/")});
    let folder = with(&json!({"tools": [tool]}).to_string());
    let (code, _, err) = ask(folder.path(), &["--deadline", "1s", "北京市今天天气"]).await;
    assert!(code == 1 && err.contains("too late"), "{code} {err}");
}
