//! What a collector is told of the requests that go through an `up`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{collections::VecDeque, path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    sync::mpsc,
    time::timeout,
};
use tokio_util::task::AbortOnDropHandle;
use toolbay::{Client, Raw, client::ResultExt as _, protocol::Method};

const SOON: Duration = Duration::from_secs(30);
const THIS: &str = env!("CARGO_BIN_EXE_toolbay");
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn parent(flags: &str) -> String {
    format!("00-{TRACE}-00f067aa0ba902b7-{flags}")
}

/// A collector that takes what it is sent, or answers as it is told to.
struct Collector {
    url: String,
    taken: mpsc::UnboundedReceiver<Taken>,
    /// Those that came before what was waited for.
    others: VecDeque<Taken>,
    _task: AbortOnDropHandle<()>,
}

/// One document, and how it came.
struct Taken {
    path: String,
    head: String,
    body: Vec<u8>,
}

impl Collector {
    /// Answers the first requests with these statuses, and all others well.
    async fn answering(statuses: Vec<u16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tell, taken) = mpsc::unbounded_channel();
        let mut statuses = statuses.into_iter();
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(document) = take(&mut stream).await else { continue };
                let status = statuses.next().unwrap_or(200);
                let answer = format!("HTTP/1.1 {status} so\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.unwrap();
                if status == 200 && tell.send(document).is_err() {
                    return;
                }
            }
        });
        Self { url, taken, others: VecDeque::new(), _task: AbortOnDropHandle::new(task) }
    }

    /// The next document for a path.
    async fn next(&mut self, path: &str) -> Taken {
        if let Some(place) = self.others.iter().position(|taken| taken.path == path) {
            return self.others.remove(place).unwrap();
        }
        loop {
            let taken = timeout(SOON, self.taken.recv()).await.expect("it is sent in time").unwrap();
            if taken.path == path {
                return taken;
            }
            self.others.push_back(taken);
        }
    }

    /// Spans as they come, until there are so many.
    async fn spans(&mut self, count: usize) -> Vec<Value> {
        let mut spans = vec![];
        while spans.len() < count {
            let document: Value = serde_json::from_slice(&self.next("/v1/traces").await.body).unwrap();
            spans.extend(document["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone());
        }
        spans
    }
}

async fn take(stream: &mut TcpStream) -> Option<Taken> {
    let mut text = vec![];
    let end = loop {
        if let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut text).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(text[..end].to_vec()).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())?;
    while text.len() < end + length {
        stream.read_buf(&mut text).await.ok()?;
    }
    Some(Taken { path: head.split(' ').nth(1)?.to_owned(), body: text.split_off(end), head })
}

/// An `up` that runs.
struct Up {
    child: Child,
    endpoint: String,
}

impl Up {
    async fn start(folder: &Path, set: &[(&str, &str)]) -> Self {
        let mut command = Command::new(THIS);
        command.args(["up", "--listen", "127.0.0.1:0", "--json"]).current_dir(folder);
        command.env("XDG_CONFIG_HOME", folder).env("XDG_RUNTIME_DIR", folder);
        // Often enough for a test.
        command.env("OTEL_BSP_SCHEDULE_DELAY", "20").env("OTEL_METRIC_EXPORT_INTERVAL", "50");
        command.envs(set.iter().copied()).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let endpoint = loop {
            let line = timeout(SOON, lines.next_line()).await.expect("it is ready in time").unwrap().unwrap();
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == "ready" {
                break event["endpoints"]["http"].as_str().unwrap().to_owned();
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { child, endpoint }
    }

    async fn client(&self) -> Client {
        Client::builder("ada", "1.0.0").connect(self.endpoint.clone()).await.unwrap()
    }

    /// Ends it; what it said on stderr.
    async fn end(mut self) -> String {
        let id = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        timeout(SOON, stderr.read_to_string(&mut said)).await.expect("it ends when it is told to").unwrap();
        assert!(self.child.wait().await.unwrap().success(), "{said}");
        said
    }
}

/// A server of 2025-11-25 that writes what it is called with into a file.
const OLDER: &str = r##"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) said='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) said='"result":{"tools":[{"name":"note","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}]}' ;;
    *'"name":"fail"'*) said='"result":{"content":[],"isError":true}' ;;
    *'"tools/call"'*) printf '%s\n' "$line" >> "$CALLS"; said='"result":{"content":[{"type":"text","text":"noted"}]}' ;;
    *'"id"'*) said='"error":{"code":-32601,"message":"what?"}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$said"
done
"##;

/// A folder with a configuration of that server.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let calls = folder.path().join("calls");
    let server = json!({"command": "sh", "args": ["-c", OLDER], "env": {"CALLS": calls.to_str().unwrap()}});
    let config = json!({"mcpServers": {"older": server}}).to_string();
    std::fs::write(folder.path().join("toolbay.json"), config).unwrap();
    folder
}

/// The `_meta` that the server was called with last.
fn meta(folder: &Path) -> Value {
    let calls = std::fs::read_to_string(folder.join("calls")).unwrap();
    serde_json::from_str::<Value>(calls.lines().last().unwrap()).unwrap()["params"]["_meta"].clone()
}

async fn note(client: &Client, tool: &str, meta: Value) -> Result<Raw, toolbay::client::ClientError> {
    // First, so that all else is moved by what is put into it.
    client.request(Method::ToolsCall, Raw::of(&json!({"_meta": meta, "name": tool}))).await
}

/// The attribute of a span or number.
fn attribute<'a>(of: &'a Value, key: &str) -> &'a Value {
    let attributes = of["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|attribute| attribute["key"] == key).map(|attribute| &attribute["value"]);
    found.and_then(|value| value.get("stringValue").or_else(|| value.get("intValue"))).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn both_sides_of_a_request_are_spans_of_its_callers_trace() {
    let folder = folder();
    let mut collector = Collector::answering(vec![]).await;
    let up = Up::start(
        folder.path(),
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s3cret"),
            ("OTEL_SERVICE_NAME", "bay"),
            ("OTEL_RESOURCE_ATTRIBUTES", "host.name=dock"),
        ],
    )
    .await;
    let client = up.client().await;
    let kept = json!({"traceparent": parent("01"), "tracestate": "v=1", "baggage": "a=b", "x/y": 1.5});
    note(&client, "older__note", kept).await.unwrap();
    let spans = collector.spans(2).await;
    let of = |kind: u64| spans.iter().find(|span| span["kind"] == kind).unwrap();
    let (server, called) = (of(2), of(3));
    for (span, name, revision, network) in
        [(server, "older__note", "2026-07-28", "tcp"), (called, "note", "2025-11-25", "pipe")]
    {
        assert_eq!((&span["traceId"], &span["name"]), (&json!(TRACE), &json!(format!("tools/call {name}"))));
        for (key, value) in [
            ("mcp.method.name", "tools/call"),
            ("gen_ai.tool.name", name),
            ("gen_ai.operation.name", "execute_tool"),
            ("mcp.protocol.version", revision),
            ("network.transport", network),
            ("toolbay.server", "older"),
        ] {
            assert_eq!(attribute(span, key), value, "{key}: {span}");
        }
        assert!(span["status"].is_null(), "{span}");
    }
    assert_eq!((&server["parentSpanId"], &called["parentSpanId"]), (&json!("00f067aa0ba902b7"), &server["spanId"]));
    let on = format!("00-{TRACE}-{}-01", called["spanId"].as_str().unwrap());
    let meta = meta(folder.path());
    assert_eq!((&meta["traceparent"], &meta["tracestate"]), (&json!(on), &json!("v=1")));
    assert_eq!((&meta["baggage"], &meta["x/y"]), (&json!("a=b"), &json!(1.5)));

    // A tool that fails, and a tool that is none.
    note(&client, "older__fail", json!({})).await.unwrap();
    note(&client, "older__none", json!({})).await.unwrap_err();
    let spans = collector.spans(3).await;
    let failed = spans.iter().filter(|span| attribute(span, "error.type") == "tool_error");
    assert!(failed.clone().count() == 2 && failed.clone().all(|span| span["status"]["code"] == 2), "{spans:?}");
    let none = spans.iter().find(|span| attribute(span, "error.type") == "-32602").unwrap();
    assert_eq!((&none["name"], &none["kind"]), (&json!("tools/call"), &json!(2)), "no name that callers make up");
    assert!(none["status"]["message"].as_str().unwrap().contains("unknown tool"), "{none}");
    assert!(none["parentSpanId"].is_null());

    let numbers = loop {
        let taken = collector.next("/v1/metrics").await;
        assert!(taken.head.contains("api-key: s3cret") && taken.head.contains("content-type: application/json"));
        let numbers: Value = serde_json::from_slice(&taken.body).unwrap();
        let all = &numbers["resourceMetrics"][0];
        assert_eq!(
            (attribute(&all["resource"], "service.name"), attribute(&all["resource"], "host.name")),
            (&json!("bay"), &json!("dock"))
        );
        let all = all["scopeMetrics"][0]["metrics"].as_array().unwrap().clone();
        if all.iter().any(|metric| metric.to_string().contains("-32602")) {
            break all;
        }
    };
    let points = |name: &str, sort: &str| {
        let metric = numbers.iter().find(|metric| metric["name"] == name).unwrap_or_else(|| panic!("{name}"));
        metric[sort]["dataPoints"].as_array().unwrap().clone()
    };
    let noted = points("mcp.client.operation.duration", "histogram");
    let noted = noted.iter().find(|point| attribute(point, "gen_ai.tool.name") == "note").unwrap();
    assert_eq!((&noted["count"], noted["bucketCounts"].as_array().unwrap().len()), (&json!("1"), 15));
    assert!(points("mcp.server.operation.duration", "histogram").len() >= 3);
    let calls = points("toolbay.calls", "sum");
    let done = calls.iter().find(|point| attribute(point, "toolbay.outcome") == "done").unwrap();
    assert_eq!((attribute(done, "toolbay.server"), &done["asInt"]), (&json!("older"), &json!("2")));
    assert_eq!(points("toolbay.servers", "gauge").len(), 5);
    assert_eq!(up.end().await, "");
}

#[tokio::test]
async fn where_no_collector_is_named_a_trace_passes_through_untouched() {
    let folder = folder();
    let up = Up::start(folder.path(), &[("OTEL_SERVICE_NAME", "bay")]).await;
    let client = up.client().await;
    let kept = json!({"traceparent": parent("01"), "tracestate": "v=1", "baggage": "a=b"});
    note(&client, "older__note", kept.clone()).await.unwrap();
    let meta = meta(folder.path());
    for key in ["traceparent", "tracestate", "baggage"] {
        assert_eq!(meta[key], kept[key]);
    }
    up.end().await;
}

#[tokio::test]
async fn what_a_sampler_leaves_out_is_counted_but_not_traced() {
    let folder = folder();
    let mut collector = Collector::answering(vec![]).await;
    let set = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")];
    let up = Up::start(folder.path(), &set).await;
    let client = up.client().await;
    note(&client, "older__note", json!({"traceparent": parent("00")})).await.unwrap();
    assert_eq!(meta(folder.path())["traceparent"], parent("00"));
    note(&client, "older__note", json!({"traceparent": parent("01")})).await.unwrap();
    assert!(collector.spans(2).await.iter().all(|span| span["flags"].as_u64().unwrap() & 1 == 1));
    loop {
        let text = String::from_utf8(collector.next("/v1/metrics").await.body).unwrap();
        let numbers: Value = serde_json::from_str(&text).unwrap();
        let all = numbers["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
        let calls = all.iter().find(|metric| metric["name"] == "mcp.client.operation.duration");
        if calls.is_some_and(|calls| calls["histogram"]["dataPoints"][0]["count"] == "2") {
            break;
        }
    }
    up.end().await;
}

#[tokio::test]
async fn a_collector_that_is_away_for_a_while_loses_nothing_and_is_spoken_of_once() {
    let folder = folder();
    let mut collector = Collector::answering(vec![503, 429]).await;
    let set = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_METRICS_EXPORTER", "none"),
    ];
    let up = Up::start(folder.path(), &set).await;
    let client = up.client().await;
    for _ in 0..5 {
        assert_eq!(client.call("older__note", &()).await.unwrap().texts(), "noted");
    }
    assert_eq!(collector.spans(10).await.len(), 10);
    let said = up.end().await;
    assert_eq!(said.matches("cannot be delivered").count(), 1, "{said}");
    assert!(said.contains("503") && said.contains("again"), "{said}");
}

#[tokio::test]
async fn the_last_spans_are_sent_before_the_end_and_a_collector_that_is_gone_keeps_nobody() {
    let folder = folder();
    let mut collector = Collector::answering(vec![]).await;
    let late = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url),
        ("OTEL_BSP_SCHEDULE_DELAY", "600000"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "600000"),
    ];
    let up = Up::start(folder.path(), &late).await;
    up.client().await.call("older__note", &()).await.unwrap();
    assert_eq!(up.end().await, "");
    let taken = collector.next("/v1/traces").await;
    assert!(taken.head.contains("content-type: application/x-protobuf"), "{}", taken.head);
    let holds = |words: &[u8]| taken.body.windows(words.len()).any(|part| part == words);
    assert!(holds(b"tools/call older__note") && holds(b"gen_ai.tool.name"));
    assert!(!collector.next("/v1/metrics").await.body.is_empty());

    let gone = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")];
    let up = Up::start(folder.path(), &gone).await;
    let client = up.client().await;
    for _ in 0..20 {
        assert_eq!(client.call("older__note", &()).await.unwrap().texts(), "noted");
    }
    let said = up.end().await;
    assert!(said.contains("telemetry cannot be delivered to 127.0.0.1:9/v1/"), "{said}");
}

#[tokio::test]
async fn settings_that_cannot_be_followed_are_told_and_everything_else_goes_on() {
    let folder = folder();
    let set = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
    let up = Up::start(folder.path(), &set).await;
    assert_eq!(up.client().await.call("older__note", &()).await.unwrap().texts(), "noted");
    let said = up.end().await;
    assert!(said.contains("grpc") && said.contains("http/protobuf"), "{said}");
}

#[tokio::test]
async fn the_file_may_name_the_collector_too_and_a_changed_one_holds_at_the_next_start() {
    let folder = folder();
    let mut collector = Collector::answering(vec![]).await;
    let file = folder.path().join("toolbay.json");
    let mut config: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    config["telemetry"] = json!({
        "endpoint": "${COLLECTOR}", "protocol": "http/json", "headers": {"api-key": "s3cret"}, "serviceName": "written"
    });
    std::fs::write(&file, config.to_string()).unwrap();
    let up = Up::start(folder.path(), &[("COLLECTOR", &collector.url), ("OTEL_SERVICE_NAME", "set")]).await;
    up.client().await.call("older__note", &()).await.unwrap();
    let taken = collector.next("/v1/traces").await;
    let document: Value = serde_json::from_slice(&taken.body).unwrap();
    assert!(taken.head.contains("api-key: s3cret"), "{}", taken.head);
    assert_eq!(attribute(&document["resourceSpans"][0]["resource"], "service.name"), "set");

    config["telemetry"]["protocol"] = json!("http/protobuf");
    std::fs::write(&file, config.to_string()).unwrap();
    let mut reload = Command::new(THIS);
    reload.arg("reload").current_dir(folder.path()).env("XDG_RUNTIME_DIR", folder.path());
    let output = timeout(SOON, reload.output()).await.expect("it answers").unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, "telemetry: adjusted: protocol (at the next start)\n");
    up.end().await;
}
