//! A scripted service, and a client that speaks plain HTTP.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Method as Verb, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw, Revision,
    exchange::{Ask, Asks, Note, Outcome},
    greeting::Profile,
    headers::HeaderPlan,
    sse::{Decoder, Item},
    watch::Filter,
};

use super::super::{Body, Endpoint, Options};
use crate::{Caller, Cx, Hub, Reply, Request as Asked, Service, Watch};

pub(super) const NEW: &str = "2026-07-28";

/// A service whose tools do what their names say.
pub(super) struct Desk {
    pub(super) hub: Hub,
    /// What `wait` and its kin wait for.
    pub(super) gate: Semaphore,
    pub(super) began: AtomicUsize,
    pub(super) done: AtomicUsize,
    pub(super) dropped: AtomicUsize,
    pub(super) joined: AtomicUsize,
    pub(super) left: AtomicUsize,
    pub(super) notes: Mutex<Vec<String>>,
    pub(super) callers: Mutex<Vec<Arc<Caller>>>,
    pub(super) plan: Option<Arc<HeaderPlan>>,
}

pub(super) fn raw(value: &Value) -> Raw {
    Raw::of(value)
}

impl Default for Desk {
    fn default() -> Self {
        let (hub, gate) = (Hub::new(), Semaphore::new(0));
        let (began, done, dropped, joined, left) = Default::default();
        let (notes, callers) = Default::default();
        Self { hub, gate, began, done, dropped, joined, left, notes, callers, plan: None }
    }
}

struct Counted<'a>(&'a Desk, bool);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let count = if self.1 { &self.0.done } else { &self.0.dropped };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

impl Desk {
    async fn pass(&self) {
        self.gate.acquire().await.unwrap().forget();
    }

    async fn tool(&self, name: &str, request: &Asked, cx: &Cx) -> Outcome {
        let text = |text: &str| Ok(raw(&json!({"content": [{"type": "text", "text": text}]})));
        match name {
            "echo" => {
                let arguments = request.params.get("arguments").unwrap_or(Raw::EMPTY);
                let mut result = toolbay_protocol::raw::Object::with_capacity(64);
                result.put("echo", &arguments);
                Ok(result.finish())
            }
            "wait" => {
                self.pass().await;
                text("waited")
            }
            "progress" => {
                for step in 1..=3 {
                    cx.note(Note::progress(f64::from(step), Some(3.0), None)).await.unwrap();
                }
                text("progressed")
            }
            "progress_then_wait" => {
                cx.note(Note::progress(1.0, None, None)).await.unwrap();
                self.pass().await;
                cx.note(Note::progress(2.0, None, None)).await.unwrap();
                text("progressed")
            }
            "chatter" => {
                for step in 1..=200 {
                    cx.note(Note::progress(f64::from(step), None, None)).await.unwrap();
                }
                text("said all")
            }
            "log" => {
                for level in ["debug", "error"] {
                    let params = raw(&json!({"level": level, "data": level}));
                    cx.note(Note::new(Method::Message, params)).await.unwrap();
                }
                text("logged")
            }
            "ask" => self.ask(request, cx).await,
            "hang_up" => {
                cx.hang_up(Duration::from_millis(7));
                self.pass().await;
                text("back again")
            }
            "boom" => panic!("boom"),
            "absent" => Err(ErrorObject::new(toolbay_protocol::fault::code::RESOURCE_NOT_FOUND, "absent")),
            "own_error" => Err(ErrorObject::new(7, "of the application")),
            "needs" => Err(toolbay_protocol::Fault::Unsupported(toolbay_protocol::fault::Unsupported::Capability(
                raw(&json!({"sampling": {}})),
            ))
            .into()),
            _ => Err(ErrorObject::invalid_params("no such tool")),
        }
    }

    async fn ask(&self, request: &Asked, cx: &Cx) -> Outcome {
        if let Some(answers) = &request.returning.answers {
            let colour = answers.get("colour").unwrap().clone().unwrap();
            let state = request.returning.state.as_ref().map(|state| format!("{state:?}"));
            return Ok(raw(&json!({"answer": format!("{colour:?}"), "state": state})));
        }
        let params = json!({"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {}}});
        let mut asks = Asks::one("colour", Ask { method: Method::Elicit, params: Some(raw(&params)) });
        asks.insert("roots", Ask { method: Method::RootsList, params: None });
        match cx.ask(asks, Some(raw(&json!("s1")))).await {
            Ok(Reply::Answers(answers)) => {
                let said: Vec<_> = answers.iter().map(|(key, answer)| format!("{key}={answer:?}")).collect();
                Ok(raw(&json!({"answers": said})))
            }
            Ok(Reply::WillReturn) => Ok(Raw::EMPTY),
            Err(gone) => Err(ErrorObject::internal(gone.to_string())),
        }
    }
}

impl Service for Desk {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = json!({
            "tools": {"listChanged": true}, "resources": {"subscribe": true, "listChanged": true}, "logging": {},
        });
        let server = raw(&json!({"name": "desk", "version": "1"}));
        Arc::new(Profile { server, capabilities: raw(&capabilities), instructions: None })
    }

    async fn call(&self, request: Asked, cx: Cx) -> Outcome {
        self.began.fetch_add(1, Ordering::SeqCst);
        self.callers.lock().unwrap().push(Arc::clone(&request.caller));
        let mut counted = Counted(self, false);
        let outcome = match request.method {
            Method::ToolsList => Ok(raw(&json!({"tools": []}))),
            Method::ToolsCall => {
                let name = request.params.get("name").unwrap();
                self.tool(&name.as_text().unwrap(), &request, &cx).await
            }
            Method::ResourcesRead => self.tool("absent", &request, &cx).await,
            _ => Ok(Raw::EMPTY),
        };
        counted.1 = true;
        outcome
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }

    async fn note(&self, _: &Arc<Caller>, note: Note) {
        self.notes.lock().unwrap().push(note.method.to_string());
    }

    fn header_plan(&self, _: &Arc<Caller>, tool: &str) -> Option<Arc<HeaderPlan>> {
        self.plan.clone().filter(|_| tool == "echo")
    }

    fn joined(&self, _: &Arc<Caller>) {
        self.joined.fetch_add(1, Ordering::SeqCst);
    }

    fn left(&self, _: &Arc<Caller>) {
        self.left.fetch_add(1, Ordering::SeqCst);
    }
}

pub(super) fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}

/// Lets everything that is ready run.
pub(super) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// Lets so many seconds of a paused clock pass, and all that is due happen.
pub(super) async fn later(seconds: u32) {
    for _ in 0..seconds {
        tokio::time::advance(Duration::from_secs(1)).await;
        tokio::task::yield_now().await;
    }
}

pub(super) type Plain = Request<Full<Bytes>>;

/// An endpoint and the service behind it.
pub(super) struct Site {
    pub(super) desk: Arc<Desk>,
    pub(super) endpoint: Endpoint<Desk>,
}

impl Site {
    pub(super) fn new(options: Options) -> Self {
        Self::with(Desk::default(), options)
    }

    pub(super) fn with(desk: Desk, options: Options) -> Self {
        let desk = Arc::new(desk);
        Self { endpoint: Endpoint::new(Arc::clone(&desk), options), desk }
    }

    pub(super) async fn send(&self, request: Plain) -> Got {
        Got::of(self.endpoint.handle(request).await)
    }

    /// Sends in a task of its own.
    pub(super) fn spawn(&self, request: Plain) -> tokio::task::JoinHandle<Got> {
        let endpoint = self.endpoint.clone();
        tokio::spawn(async move { Got::of(endpoint.handle(request).await) })
    }

    /// Opens a session of this revision.
    pub(super) async fn open(&self, revision: Revision) -> Session {
        let version = revision.as_str();
        let capabilities = json!({"elicitation": {}});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}});
        let got = self.send(post(&request(0, "initialize", &params))).await;
        assert_eq!(got.status, StatusCode::OK);
        let id = got.headers["mcp-session-id"].to_str().unwrap().to_owned();
        Session { id, revision }
    }
}

/// A session as its client knows it.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) id: String,
    revision: Revision,
}

impl Session {
    pub(super) fn headers(&self, request: Plain) -> Plain {
        let request = with(request, "mcp-session-id", &self.id);
        if self.revision.has(Feature::VersionHeader) {
            with(request, "mcp-protocol-version", self.revision.as_str())
        } else {
            request
        }
    }

    pub(super) fn post(&self, body: &Value) -> Plain {
        self.headers(post(body))
    }

    pub(super) fn call(&self, id: u32, tool: &str) -> Plain {
        self.post(&request(id, "tools/call", &json!({"name": tool, "_meta": {"progressToken": id}})))
    }

    pub(super) fn get(&self) -> Plain {
        with(self.headers(plain(Verb::GET, "/mcp", "")), "accept", "text/event-stream")
    }

    pub(super) fn resume(&self, event: &str) -> Plain {
        with(self.get(), "last-event-id", event)
    }

    pub(super) fn delete(&self) -> Plain {
        self.headers(plain(Verb::DELETE, "/mcp", ""))
    }
}

pub(super) fn plain(verb: Verb, path: &str, body: &str) -> Plain {
    let builder = Request::builder().method(verb).uri(path).header("host", "localhost:7332");
    builder.body(Full::from(Bytes::copy_from_slice(body.as_bytes()))).unwrap()
}

pub(super) fn with(mut request: Plain, name: &'static str, value: &str) -> Plain {
    request.headers_mut().insert(name, value.parse().unwrap());
    request
}

pub(super) fn again(mut request: Plain, name: &'static str, value: &str) -> Plain {
    request.headers_mut().append(name, value.parse().unwrap());
    request
}

pub(super) fn without(mut request: Plain, name: &str) -> Plain {
    request.headers_mut().remove(name);
    request
}

pub(super) fn text(body: &str) -> Plain {
    let request = with(plain(Verb::POST, "/mcp", body), "content-type", "application/json");
    with(request, "accept", "application/json, text/event-stream")
}

pub(super) fn post(body: &Value) -> Plain {
    text(&body.to_string())
}

pub(super) fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Parameters with the envelope of a modern request.
pub(super) fn enveloped(mut params: Value, capabilities: &Value) -> Value {
    let mut meta = params.get("_meta").cloned().unwrap_or(json!({}));
    meta["io.modelcontextprotocol/protocolVersion"] = json!(NEW);
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    params["_meta"] = meta;
    params
}

/// A modern request with its headers.
pub(super) fn modern(id: u32, method: &str, params: Value) -> Plain {
    let params = enveloped(params, &json!({"elicitation": {}, "roots": {}}));
    headed(method, params["name"].as_str(), &request(id, method, &params))
}

pub(super) fn headed(method: &str, name: Option<&str>, body: &Value) -> Plain {
    let request = with(with(post(body), "mcp-protocol-version", NEW), "mcp-method", method);
    match name {
        Some(name) => with(request, "mcp-name", name),
        None => request,
    }
}

pub(super) fn tool(id: u32, name: &str) -> Plain {
    modern(id, "tools/call", json!({"name": name, "_meta": {"progressToken": "t"}}))
}

/// A response.
pub(super) struct Got {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Body,
    decoder: Decoder,
}

/// One event of a stream.
#[derive(Debug, PartialEq)]
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) retry: Option<u64>,
    pub(super) data: Value,
}

impl Got {
    pub(super) fn of(response: Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        Self { status: head.status, headers: head.headers, body, decoder: Decoder::default() }
    }

    pub(super) fn is_stream(&self) -> bool {
        self.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream")
    }

    pub(super) async fn bytes(self) -> Bytes {
        let collected: Result<_, Infallible> = self.body.collect().await;
        collected.unwrap().to_bytes()
    }

    pub(super) async fn json(self) -> Value {
        assert_eq!(self.headers["content-type"], "application/json");
        serde_json::from_slice(&self.bytes().await).unwrap()
    }

    /// The code of the error that this is, and the id under which it came.
    pub(super) async fn error(self) -> (u16, i64, Value) {
        let status = self.status.as_u16();
        let body = self.json().await;
        (status, body["error"]["code"].as_i64().unwrap(), body["id"].clone())
    }

    pub(super) async fn chunk(&mut self) -> Option<Bytes> {
        let frame = self.body.frame().await?;
        Some(frame.unwrap().into_data().unwrap())
    }

    /// The next event; comments are passed over.
    pub(super) async fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(item) = self.decoder.pull().unwrap() {
                let millis = |retry: Option<Duration>| retry.map(|retry| u64::try_from(retry.as_millis()).unwrap());
                return Some(match item {
                    Item::Message(message) => Event {
                        id: message.id,
                        retry: millis(message.retry),
                        data: serde_json::from_slice(&message.data).unwrap(),
                    },
                    Item::Priming(priming) => Event { id: priming.id, retry: millis(priming.retry), data: Value::Null },
                });
            }
            let chunk = self.chunk().await?;
            self.decoder.push(chunk);
        }
    }

    pub(super) async fn events(mut self) -> Vec<Event> {
        let mut events = vec![];
        while let Some(event) = self.event().await {
            events.push(event);
        }
        events
    }
}
