//! Each limit is kept to where it is set, and named where it is met.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod wire;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{net::TcpListener, time::Instant};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity, StateKey,
    config::{Endpoint, Remote, Url},
    limits::{Bounds, Limits, row},
    servers::{Connector, Phase, Plan, Spec, embedded, endpoint},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Answers, Ask, Asks, Outcome, Return, Standing, Step},
    greeting::{Introduction, Profile},
    peer::Call,
    watch::Filter,
};
use toolbay_transport::{
    Approach, Caller, Cx, Error, Hub, Kind, Reply, Request, Service, Watch, connect, duplex, http::server,
};

use wire::post;

/// A server with four tools on two pages.
struct Four(Hub);

impl Four {
    fn new() -> Arc<Self> {
        Arc::new(Self(Hub::new()))
    }
}

impl Service for Four {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "four", "version": "1"})),
            capabilities: Raw::of(&json!({"tools": {}})),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        if request.method == Method::ToolsCall {
            let who = json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
            let ask = Ask { method: Method::Elicit, params: Some(Raw::of(&who)) };
            return match cx.ask(Asks::one("who", ask), None).await {
                Ok(Reply::Answers(_)) => Ok(Raw::of(&json!({"content": []}))),
                Ok(Reply::WillReturn) | Err(_) => Ok(Raw::EMPTY),
            };
        }
        let tool =
            |name: &str| json!({"name": name, "description": "d".repeat(100), "inputSchema": {"type": "object"}});
        Ok(Raw::of(&match request.params.get("cursor") {
            None => json!({"tools": [tool("a"), tool("b")], "nextCursor": "x"}),
            Some(_) => json!({"tools": [tool("c"), tool("d")]}),
        }))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.0.watch(filter))
    }
}

fn open(specs: Vec<Spec>, limits: Limits) -> Bay {
    let identity = Identity { name: "bay".into(), version: "0".into() };
    Bay::open_within(&identity, specs, &StateKey::random().unwrap(), limits).unwrap()
}

fn reports(bay: &Bay) -> String {
    bay.reports().into_iter().map(|report| report.what).collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_list_beyond_a_limit_names_it() {
    let usual = Bounds::default();
    for (bounds, named) in [
        (usual, ""),
        (Bounds { pages: 1, ..usual }, "more than 1 pages (limit `pages`)"),
        (Bounds { items: 3, ..usual }, "more than 3 (limit `items`)"),
        (Bounds { list_bytes: 500, ..usual }, "more than 500 bytes in all (limit `listBytes`)"),
        (Bounds { definition_bytes: 99, ..usual }, "more than 99 (limit `definitionBytes`)"),
    ] {
        let bay = open(vec![Spec { bounds, ..Spec::embedded("four", Four::new()) }], Limits::default());
        bay.settled().await;
        let reports = reports(&bay);
        assert!(reports.contains(named) && reports.is_empty() == named.is_empty(), "{named}: {reports}");
        bay.close().await;
    }
}

#[tokio::test]
async fn a_message_beyond_its_limit_names_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, end) = (listener.local_addr().unwrap(), CancellationToken::new());
    let four = server::Endpoint::new(Four::new(), server::Options::default());
    let served = tokio::spawn(server::serve(listener, four, end.clone()));
    let url = Url::parse(&format!("http://{address}/mcp")).unwrap();
    let spec = Spec {
        bounds: Bounds { message_bytes: 300, ..Bounds::default() },
        revision: Some(Revision::LATEST),
        ..Spec::planned("four", "http", Plan::Connect(endpoint(Endpoint::Http(Remote::bare(url)))))
    };
    let bay = open(vec![spec], Limits::default());
    bay.settled().await;
    let said = format!("{} {:?}", reports(&bay), bay.status()[0].phase);
    assert!(said.contains("300 bytes (limit `message_bytes`)"), "{said}");
    bay.close().await;
    end.cancel();
    served.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn no_more_children_run_than_are_allowed() {
    let child = |name: &str| Spec { transport: "stdio", ..Spec::embedded(name, Four::new()) };
    let bay = open(vec![child("one"), child("two")], Limits { children: 1, ..Limits::default() });
    bay.settled().await;
    let phases: Vec<_> = bay.status().into_iter().map(|status| status.phase).collect();
    let ready = phases.iter().filter(|phase| matches!(phase, Phase::Ready { .. })).count();
    let refused = |phase: &Phase| matches!(phase, Phase::Failed(why) if why.contains("limit `children`"));
    assert!(ready == 1 && phases.iter().any(refused), "{phases:?}");
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_waits_for_servers_no_longer_than_it_may() {
    let never: Connector = Arc::new(|_| Box::pin(std::future::pending()));
    let late = Spec { plan: Plan::Connect(never), ..Spec::embedded("late", Four::new()) };
    let bay = open(
        vec![late, Spec::embedded("four", Four::new())],
        Limits { settle: Duration::from_secs(3), ..Limits::default() },
    );
    let approach = Approach::new(Introduction::anonymous(Revision::LATEST));
    let caller = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
    let begun = Instant::now();
    let list = caller.request(Call::new(Method::ToolsList, None)).await.unwrap().unwrap();
    let list: Value = list.read().unwrap();
    assert_eq!(list["tools"].as_array().unwrap().len(), 4);
    assert!((3..4).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    assert!(!bay.readiness().ready);
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_server_is_left_alone_as_long_as_is_said_and_its_log_is_bounded() {
    let starts = Arc::new(AtomicUsize::new(0));
    let connector: Connector = {
        let starts = Arc::clone(&starts);
        Arc::new(move |approach| {
            let start = starts.fetch_add(1, Ordering::SeqCst);
            (0..10).for_each(|line| approach.listener.stderr(&format!("{start}.{line}")));
            Box::pin(async move {
                match start {
                    0..3 => Err(Error::new(Kind::Unreachable, "not yet")),
                    _ => embedded(Four::new())(approach).await,
                }
            })
        })
    };
    let second = Duration::from_secs(1);
    let bounds = Bounds { pause: second * 10, longest_pause: second * 15, log_lines: 12, ..Bounds::default() };
    let bay = open(vec![Spec { bounds, ..Spec::planned("late", "http", Plan::Connect(connector)) }], Limits::default());
    let (mut moves, begun) = (bay.moves(), Instant::now());
    while !matches!(bay.status()[0].phase, Phase::Ready { .. }) {
        moves.changed().await.unwrap();
    }
    // 10 s, then 15 s instead of 20 s, then 15 s.
    assert_eq!(begun.elapsed().as_secs(), 40);
    let lines = bay.lines("late").unwrap();
    assert_eq!((lines.len(), lines.first().map(String::as_str)), (12, Some("2.8")));
    let after = bay.lines_after("late", 38).unwrap();
    assert_eq!((after.lines, after.upto), (vec!["3.8".to_owned(), "3.9".to_owned()], 40));
    let status = bay.status().remove(0);
    assert_eq!((status.counted.restarts, status.last_error.as_deref()), (3, Some("not yet")));
    bay.close().await;
}

#[tokio::test]
async fn no_more_calls_wait_for_their_callers_than_may() {
    let spec = |name| Spec { revision: Some(Revision::LATEST_LEGACY), ..Spec::embedded(name, Four::new()) };
    let bay = open(vec![spec("four"), spec("more")], Limits { parked_calls: 1, ..Limits::default() });
    bay.settled().await;
    let capabilities = Raw::of(&json!({"elicitation": {}}));
    let approach = Approach::new(Introduction { capabilities, ..Introduction::anonymous(Revision::LATEST) });
    let caller = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
    let call = |tool: &str| Call::new(Method::ToolsCall, Some(Raw::of(&json!({ "name": tool }))));
    let mut first = caller.call(call("four__a")).await.unwrap();
    let Step::Ask(asks) = first.step().await.unwrap() else { panic!("it asks") };
    assert!(bay.metrics().contains("toolbay_parked_calls 1\n"));
    let refused = caller.request(call("more__a")).await.unwrap().unwrap_err();
    assert!(refused.message.contains("limit `parkedCalls`"), "{refused}");
    let Standing::Over(state) = asks.standing().clone() else { panic!("a modern call is over when it asks") };
    let accepted = Raw::of(&json!({"action": "accept", "content": {}}));
    let answers: Answers = asks.iter().map(|(key, _)| (key.to_owned(), Ok(accepted.clone()))).collect();
    let returning = Return { answers: Some(answers), state };
    assert!(caller.request(Call { returning, ..call("four__a") }).await.unwrap().is_ok());
    let metrics = bay.metrics();
    for line in [
        "toolbay_parked_calls 0",
        r#"toolbay_calls_total{server="four",outcome="asked"} 1"#,
        r#"toolbay_calls_total{server="more",outcome="failed"} 1"#,
        r#"toolbay_calls_total{server="four",outcome="done"} 1"#,
        r#"toolbay_requests_total{outcome="done"} 1"#,
    ] {
        assert!(metrics.lines().any(|there| there == line), "{line}\n{metrics}");
    }
    bay.close().await;
}

#[tokio::test]
async fn a_call_that_waits_for_its_caller_ends_with_its_server() {
    let spec = Spec { revision: Some(Revision::LATEST_LEGACY), ..Spec::embedded("four", Four::new()) };
    let limits = Limits { drain: Duration::ZERO, ..Limits::default() };
    let bay = open(vec![spec], limits);
    bay.settled().await;
    let capabilities = Raw::of(&json!({"elicitation": {}}));
    let approach = Approach::new(Introduction { capabilities, ..Introduction::anonymous(Revision::LATEST) });
    let caller = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
    let call = || Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "four__a"}))));
    let Step::Ask(asks) = caller.call(call()).await.unwrap().step().await.unwrap() else { panic!("it asks") };
    assert_eq!(bay.parked_calls(), 1);
    // The server is taken out of the configuration, and with it goes the connection on which the call waits.
    bay.reload(vec![Spec::embedded("five", Four::new())], limits);
    let over = async {
        while bay.parked_calls() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), over).await.expect("it waits no longer");
    let Standing::Over(state) = asks.standing().clone() else { panic!("a modern call is over when it asks") };
    let returning = Return { answers: Some(Answers::default()), state };
    let error = caller.request(Call { returning, ..call() }).await.unwrap().unwrap_err();
    assert!(error.message.contains("unknown tool"), "{error}");
    bay.close().await;
}

fn initialize(revision: &str, client: &str) -> String {
    let client = json!({"name": client, "version": "1"});
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

#[tokio::test]
async fn what_a_client_may_not_do_names_the_key_that_would_let_it() {
    let mut limits = Limits::default();
    for (key, value) in [
        ("depth", 20.0),
        ("nodes", 200.0),
        ("batch", 2.0),
        ("headBytes", 8192.0),
        ("requestBytes", 5000.0),
        ("introductionBytes", 300.0),
        ("subscriptions", 0.0),
        ("sessions", 1.0),
    ] {
        row(key).unwrap().set(&mut limits, value).unwrap();
    }
    let bay = open(vec![Spec::embedded("four", Watched::new())], limits);
    bay.settled().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, end) = (listener.local_addr().unwrap(), CancellationToken::new());
    let endpoint = server::Endpoint::new(Arc::new(bay.clone()), limits.endpoint());
    let served = tokio::spawn(server::serve(listener, endpoint, end.clone()));
    let session = post(address, "", &initialize("2025-03-26", "c")).await;
    let session =
        session.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned));
    let session = format!("Mcp-Session-Id: {}\r\n", session.expect("a session is opened"));
    let ping = |more: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"more":{more}}}}}"#);
    let (deep, wide) = (format!("{}{}", "[".repeat(30), "]".repeat(30)), format!("[{}0]", "0,".repeat(300)));
    let uri = r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"four+test://one"}}"#;
    let filled = format!("X-Filled: {}\r\n", "x".repeat(10_000));
    for (key, headers, body) in [
        ("depth", &session, ping(&deep)),
        ("nodes", &session, ping(&wide)),
        ("batch", &session, format!("[{}]", [ping("1"), ping("2"), ping("3")].join(","))),
        ("headBytes", &filled, ping("1")),
        ("requestBytes", &session, ping(&format!("{:?}", "x".repeat(6000)))),
        ("introductionBytes", &String::new(), initialize("2025-11-25", &"c".repeat(400))),
        ("subscriptions", &session, uri.to_owned()),
        ("sessions", &String::new(), initialize("2025-11-25", "c")),
    ] {
        let said = post(address, headers, &body).await;
        let named = said.split("limit ").nth(1).and_then(|rest| rest.split('`').nth(1)).and_then(row);
        assert_eq!(named.map(|row| row.key), Some(key), "{said}");
    }
    let said = post(address, &session, &ping("1")).await;
    assert!(said.contains(r#""result":{}"#), "everything else is served: {said}");
    bay.close().await;
    end.cancel();
    served.await.unwrap().unwrap();
}

/// A server whose resource can be subscribed to.
struct Watched(Hub);

impl Watched {
    fn new() -> Arc<Self> {
        Arc::new(Self(Hub::new()))
    }
}

impl Service for Watched {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "watched", "version": "1"})),
            capabilities: Raw::of(&json!({"resources": {"subscribe": true}})),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        Ok(Raw::of(&match request.method {
            Method::ResourcesList => json!({"resources": [{"uri": "test://one", "name": "one"}]}),
            _ => json!({"resourceTemplates": []}),
        }))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.0.watch(filter))
    }
}

#[tokio::test(start_paused = true)]
async fn definitions_nest_as_deep_as_their_server_may() {
    for (depth, left) in [(100, 1), (20, 0)] {
        let bounds = Bounds { depth, ..Bounds::default() };
        let bay = open(vec![Spec { bounds, ..Spec::embedded("deep", Arc::new(Deep(Hub::new()))) }], Limits::default());
        bay.settled().await;
        let Phase::Ready { counts, .. } = bay.status().remove(0).phase else { panic!("it is ready") };
        assert_eq!(counts.tools, left, "{}", reports(&bay));
        assert!(left == 1 || reports(&bay).contains("deeper than 20 levels (limit `depth`)"), "{}", reports(&bay));
        bay.close().await;
    }
}

/// A server with one tool whose schema nests deep.
struct Deep(Hub);

impl Service for Deep {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = Raw::of(&json!({"tools": {}}));
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "deep", "version": "1"})),
            capabilities,
            instructions: None,
        })
    }

    async fn call(&self, _: Request, _: Cx) -> Outcome {
        let schema =
            (0..15).fold(json!({"type": "object"}), |schema, _| json!({"type": "object", "properties": {"x": schema}}));
        Ok(Raw::of(&json!({"tools": [{"name": "t", "inputSchema": schema}]})))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.0.watch(filter))
    }
}
