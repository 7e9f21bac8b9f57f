//! Our client and our server, in every revision and over every form of HTTP.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify, time};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{
    Era, ErrorObject, Method, Raw, Revision,
    exchange::{Answers, Ask, Asks, Note, Outcome, Step, Wishes},
    greeting::Profile,
    peer::Call,
    watch::{Change, Filter},
};

use super::{
    super::{Mode, Target, connect, dial, dial::Dial, meet::connect_by},
    peer::*,
};
use crate::{
    Approach, Caller, Connection, Cx, Hub, Kind, Listener, Reply, Request as Asked, Service, Watch,
    http::server::{Endpoint, Options, Pair, serve},
};

/// A service with one tool for each thing that can happen to a call.
#[derive(Default)]
struct Shop {
    hub: Hub,
    cancelled: Arc<Cancelled>,
    begun: Notify,
    sessions: AtomicUsize,
}

#[derive(Default)]
struct Cancelled(AtomicUsize, Notify);

struct Guard(Arc<Cancelled>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::SeqCst);
        self.0.1.notify_one();
    }
}

impl Shop {
    async fn tool(&self, request: Asked, cx: Cx) -> Outcome {
        let name = request.params.get("name").and_then(|name| name.as_text().map(String::from)).unwrap_or_default();
        let arguments = request.params.get("arguments").unwrap_or(Raw::EMPTY);
        let done = |value: Value| Ok(Raw::of(&json!({"content": [], "structuredContent": value})));
        match name.as_str() {
            "echo" => done(arguments.read().unwrap()),
            "notes" => {
                for step in 1..=3 {
                    cx.note(Note::progress(f64::from(step), None, None)).await.unwrap();
                }
                done(json!({}))
            }
            "ask" => {
                let answers = match request.returning.answers {
                    Some(answers) => answers,
                    None => {
                        let params = Some(Raw::of(&json!({"message": "?", "requestedSchema": {"type": "object"}})));
                        let asks = Asks::one("a", Ask { method: Method::Elicit, params });
                        match cx.ask(asks, Some(Raw::of("state"))).await.unwrap() {
                            Reply::Answers(answers) => answers,
                            Reply::WillReturn => return done(json!("never sent")),
                        }
                    }
                };
                let answer = answers.get("a").cloned().unwrap().unwrap();
                done(answer.read().unwrap())
            }
            "wait" => {
                let _guard = Guard(Arc::clone(&self.cancelled));
                self.begun.notify_one();
                std::future::pending().await
            }
            other => Err(ErrorObject::invalid_params(format!("no tool {other:?}"))),
        }
    }
}

impl Service for Shop {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}});
        let server = Raw::of(&json!({"name": "shop", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&capabilities), instructions: None })
    }

    async fn call(&self, request: Asked, cx: Cx) -> Outcome {
        match request.method {
            Method::ToolsCall => self.tool(request, cx).await,
            Method::ToolsList => {
                let region = json!({"type": "string", "x-mcp-header": "Region"});
                let schema = json!({"type": "object", "properties": {"region": region}});
                Ok(Raw::of(&json!({"tools": [{"name": "echo", "inputSchema": schema}]})))
            }
            method => Err(ErrorObject::new(-32601, format!("no {method}"))),
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }

    fn joined(&self, _: &Arc<Caller>) {
        self.sessions.fetch_add(1, Ordering::SeqCst);
    }

    fn left(&self, _: &Arc<Caller>) {
        self.sessions.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How the two are joined.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Streamable(Revision),
    TwoEndpoints(Mode),
}

const FORMS: [Form; 7] = [
    Form::Streamable(Revision::V2024_11_05),
    Form::Streamable(Revision::V2025_03_26),
    Form::Streamable(Revision::V2025_06_18),
    Form::Streamable(Revision::V2025_11_25),
    Form::Streamable(Revision::V2026_07_28),
    Form::TwoEndpoints(Mode::Auto),
    Form::TwoEndpoints(Mode::LegacySse),
];

impl Form {
    fn target(self) -> Target {
        let (path, mode) = match self {
            Self::Streamable(_) => ("/mcp", Mode::Auto),
            Self::TwoEndpoints(mode) => ("/sse", mode),
        };
        Target { mode, ..Target::new(format!("http://localhost{path}").parse().unwrap()) }
    }

    fn is_modern(self) -> bool {
        matches!(self, Self::Streamable(revision) if revision.era() == Era::Modern)
    }
}

struct Meeting {
    shop: Arc<Shop>,
    ear: Arc<Ear>,
    connection: Connection,
}

fn options() -> Options {
    Options { sse: Some(Pair::default()), ..Options::default() }
}

async fn met(form: Form) -> Meeting {
    let shop = Arc::new(Shop::default());
    let endpoint = Endpoint::new(Arc::clone(&shop), options());
    let dial = Dial::with(move |_| {
        let endpoint = endpoint.clone();
        async move {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            tokio::spawn(async move {
                let service = service_fn(move |request: Request<Incoming>| {
                    let endpoint = endpoint.clone();
                    async move { Ok::<_, Infallible>(endpoint.handle(request).await) }
                });
                let mut served = http1::Builder::new();
                served.timer(TokioTimer::new()).half_close(false);
                // A dropped call is a dropped connection.
                let _ = served.serve_connection(TokioIo::new(theirs), service).await;
            });
            Ok(dial::Stream::over(TokioIo::new(Piped(ours))))
        }
        .boxed()
    });
    let ear = Arc::new(Ear::default());
    let revision = if let Form::Streamable(revision) = form { Some(revision) } else { None };
    let approach = Approach { revision, ..Approach::new(us()) }.heard_by(Arc::clone(&ear) as Arc<dyn Listener>);
    let connection = connect_by(dial, form.target(), approach).await.unwrap();
    if let Some(revision) = revision {
        assert_eq!(connection.meeting().revision, revision);
    }
    Meeting { shop, ear, connection }
}

#[tokio::test(start_paused = true)]
async fn calls_lists_and_errors_are_the_same_in_every_form() {
    for form in FORMS {
        let Meeting { connection, ear, .. } = met(form).await;
        let tools = connection.request(Call::new(Method::ToolsList, None)).await.unwrap().unwrap();
        assert_eq!(tools.get("tools").unwrap().elements().count(), 1, "{form:?}");
        for arguments in [json!({"region": "eu"}), json!({"region": "straße"}), json!({"n": 1.5e300, "s": "\u{0}"})] {
            let outcome = connection.request(call("echo", arguments.clone())).await.unwrap().unwrap();
            assert_eq!(outcome.get("structuredContent").unwrap().read::<Value>().unwrap(), arguments, "{form:?}");
        }
        let error = connection.request(call("none", json!({}))).await.unwrap().unwrap_err();
        assert_eq!(error.code, -32602, "{form:?}");
        let error = connection.request(Call::new(Method::Other("a/b".into()), None)).await.unwrap().unwrap_err();
        assert_eq!(error.code, -32601, "{form:?}");
        assert_eq!(ear.lines(), [""; 0], "{form:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn notes_and_questions_pass_in_every_form() {
    for form in FORMS {
        let Meeting { connection, .. } = met(form).await;
        let mut running =
            connection.call(Call { wishes: Wishes::progress(), ..call("notes", json!({})) }).await.unwrap();
        let (notes, outcome) = outcome(&mut running).await;
        assert_eq!((notes.len(), outcome.unwrap().is_ok()), (3, true), "{form:?}");
        if matches!(form, Form::Streamable(revision) if !revision.has(toolbay_protocol::Feature::Elicitation)) {
            continue;
        }
        let mut running = connection.call(call("ask", json!({}))).await.unwrap();
        let Step::Ask(asks) = running.step().await.unwrap() else { panic!("{form:?}: no question") };
        let answer = Raw::of(&json!({"action": "accept", "content": {}}));
        running.answer(Answers::one(asks.iter().next().unwrap().0, Ok(answer))).await.unwrap();
        let result = super::peer::outcome(&mut running).await.1.unwrap().unwrap();
        assert_eq!(result["structuredContent"]["action"], "accept", "{form:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_in_every_form() {
    for form in FORMS {
        let Meeting { connection, shop, .. } = met(form).await;
        let mut running = connection.call(call("wait", json!({}))).await.unwrap();
        tokio::select! {
            step = running.step() => panic!("{form:?}: {step:?}"),
            () = shop.begun.notified() => {}
        }
        drop(running);
        time::timeout(Duration::from_secs(5), shop.cancelled.1.notified()).await.unwrap_or_else(|_| panic!("{form:?}"));
        assert!(connection.request(call("echo", json!({}))).await.unwrap().is_ok(), "{form:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn changes_are_told_in_every_form() {
    for form in FORMS {
        let Meeting { connection, shop, ear } = met(form).await;
        let filter = Filter { uris: ["a:b".to_owned()].into(), ..Filter::lists() };
        let subscription = connection.subscribe(filter).await.unwrap();
        assert!(subscription.filter().tools && !subscription.filter().prompts, "{form:?}");
        if !form.is_modern() {
            // The session's own stream is opened beside everything else.
            time::timeout(Duration::from_secs(1), std::future::pending::<()>()).await.unwrap_err();
        }
        shop.hub.publish(&Change::Tools);
        shop.hub.publish(&Change::Updated("a:b".into()));
        shop.hub.publish(&Change::Updated("c:d".into()));
        time::timeout(Duration::from_secs(20), ear.until("Tools")).await.unwrap_or_else(|_| panic!("{form:?}"));
        time::timeout(Duration::from_secs(20), ear.until("a:b")).await.unwrap_or_else(|_| panic!("{form:?}"));
        assert_eq!(ear.lines().len(), 2, "{form:?}: {:?}", ear.lines());
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_connection_leaves_no_session_behind() {
    for form in FORMS {
        let Meeting { connection, shop, .. } = met(form).await;
        assert_eq!(shop.sessions.load(Ordering::SeqCst), usize::from(!form.is_modern()), "{form:?}");
        let mut running = connection.call(call("wait", json!({}))).await.unwrap();
        tokio::select! {
            step = running.step() => panic!("{form:?}: {step:?}"),
            () = shop.begun.notified() => {}
        }
        connection.close().await;
        assert_eq!(running.step().await.unwrap_err().kind(), Kind::Closed, "{form:?}");
        drop((running, connection));
        time::timeout(Duration::from_secs(10), shop.cancelled.1.notified())
            .await
            .unwrap_or_else(|_| panic!("{form:?}"));
        time::timeout(Duration::from_secs(10), std::future::pending::<()>()).await.unwrap_err();
        assert_eq!(shop.sessions.load(Ordering::SeqCst), 0, "{form:?}");
    }
}

#[tokio::test]
async fn both_meet_on_a_real_socket_and_part_in_order() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (shop, shutdown) = (Arc::new(Shop::default()), CancellationToken::new());
    let endpoint = Endpoint::new(Arc::clone(&shop), options());
    let serving = tokio::spawn(serve(listener, endpoint, shutdown.clone()));
    for (path, revision) in [("mcp", None), ("mcp", Some(Revision::V2025_11_25)), ("sse", None)] {
        let target = Target::new(format!("http://{address}/{path}").parse().unwrap());
        let connection = connect(target, Approach { revision, ..Approach::new(us()) }).await.unwrap();
        let many = (0..50).map(|n| connection.request(call("echo", json!({"n": n}))));
        let outcomes = futures_util::future::join_all(many).await;
        for (n, outcome) in outcomes.into_iter().enumerate() {
            assert_eq!(outcome.unwrap().unwrap().get("structuredContent").unwrap(), Raw::of(&json!({"n": n})));
        }
        connection.close().await;
    }
    shutdown.cancel();
    time::timeout(Duration::from_secs(10), serving).await.unwrap().unwrap().unwrap();
}
