//! A peer that follows a script, over pipes in memory, so that the clock can be a fake one.

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{FutureExt, Stream, StreamExt, future::BoxFuture, stream};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, StreamBody};
use hyper::{
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::{
    client::legacy::connect::{Connected, Connection as Connects},
    rt::{TokioIo, TokioTimer},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf},
    sync::Notify,
    time,
};
use toolbay_protocol::{
    ErrorObject, Raw, Revision,
    exchange::{Ask, Note, Outcome, Step},
    greeting::{Introduction, envelope},
    peer::Call,
    watch::Change,
};

use super::super::{Target, dial, dial::Dial, meet::connect_by};
use crate::{Approach, Connection, Error, Listener, Running};

/// A request, as the peer saw it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) verb: Method,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Seen {
    pub(super) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// A result for this request.
    pub(super) fn result(&self, result: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    /// An error for this request.
    pub(super) fn error(&self, code: i64, message: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "error": {"code": code, "message": message}})
    }

    /// A line that says what it is: `POST tools/call`, `GET`, `POST reply`.
    fn line(&self) -> String {
        match (&self.verb, self.method()) {
            (&Method::POST, "") => "POST reply".into(),
            (verb, "") => verb.to_string(),
            (verb, method) => format!("{verb} {method}"),
        }
    }
}

/// A piece of an answer's body.
pub(super) enum Piece {
    Text(Bytes),
    /// The body goes on when so much time has passed.
    Wait(Duration),
    /// The body goes on when somebody says so.
    Until(Arc<Notify>),
    /// The connection breaks.
    Break,
    /// Nothing more comes, and no end.
    Hang,
    /// This piece for ever.
    Endless(&'static [u8]),
    /// Whatever comes from there, until nothing does.
    Source(Box<dyn Fn() -> BoxFuture<'static, Option<Bytes>> + Send>),
}

/// An answer.
pub(super) struct Said {
    status: u16,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<Piece>,
}

impl Said {
    pub(super) fn status(status: u16) -> Self {
        Self { status, headers: vec![], pieces: vec![] }
    }

    /// Not even the head of an answer.
    pub(super) fn nothing() -> Self {
        Self::status(0)
    }

    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", body.to_string())
    }

    pub(super) fn text(status: u16, kind: &str, body: impl Into<Bytes>) -> Self {
        Self::status(status).with("content-type", kind).then(Piece::Text(body.into()))
    }

    /// A stream that goes on with what is put after it.
    pub(super) fn stream() -> Self {
        Self::status(200).with("content-type", "text/event-stream")
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn then(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }

    pub(super) fn raw(self, text: impl Into<Bytes>) -> Self {
        self.then(Piece::Text(text.into()))
    }

    pub(super) fn event(self, message: &Value) -> Self {
        self.raw(format!("data: {message}\n\n"))
    }

    pub(super) fn wait(self, seconds: u64) -> Self {
        self.then(Piece::Wait(Duration::from_secs(seconds)))
    }

    pub(super) fn hang(self) -> Self {
        self.then(Piece::Hang)
    }
}

type Script = dyn Fn(&Seen) -> Said + Send + Sync;

/// What the peer went through.
#[derive(Default)]
pub(super) struct Log {
    seen: Mutex<Vec<Seen>>,
    news: Notify,
    dials: AtomicUsize,
    /// How many bodies were given up by their reader.
    given_up: AtomicUsize,
}

impl Log {
    pub(super) fn lines(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(Seen::line).collect()
    }

    pub(super) fn dials(&self) -> usize {
        self.dials.load(Ordering::SeqCst)
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The last request of this line.
    pub(super) fn last(&self, line: &str) -> Seen {
        self.seen().into_iter().rev().find(|seen| seen.line() == line).unwrap_or_else(|| panic!("no {line}"))
    }

    pub(super) fn count(&self, line: &str) -> usize {
        self.lines().iter().filter(|seen| *seen == line).count()
    }

    /// Waits until so many requests of this line were seen.
    pub(super) async fn until(&self, line: &str, count: usize) {
        loop {
            let news = self.news.notified();
            if self.count(line) >= count {
                return;
            }
            news.await;
        }
    }

    /// Waits until so many bodies were given up.
    pub(super) async fn until_given_up(&self, count: usize) {
        loop {
            let news = self.news.notified();
            if self.given_up.load(Ordering::SeqCst) >= count {
                return;
            }
            news.await;
        }
    }
}

/// A peer at the other end of pipes.
pub(super) fn peer(script: impl Fn(&Seen) -> Said + Send + Sync + 'static) -> (Arc<Log>, Dial) {
    let (log, script): (_, Arc<Script>) = (Arc::new(Log::default()), Arc::new(script));
    let kept = Arc::clone(&log);
    let dial = Dial::with(move |_| {
        let (log, script) = (Arc::clone(&log), Arc::clone(&script));
        async move {
            log.dials.fetch_add(1, Ordering::SeqCst);
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            tokio::spawn(serve(TokioIo::new(theirs), log, script));
            Ok(dial::Stream::over(TokioIo::new(Piped(ours))))
        }
        .boxed()
    });
    (kept, dial)
}

/// Serves one connection.
pub(super) async fn serve<I>(io: I, log: Arc<Log>, script: Arc<Script>)
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let (log, script) = (Arc::clone(&log), Arc::clone(&script));
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map(|all| all.to_bytes()).unwrap_or_default();
            let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
            let path = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
            let seen = Seen { verb: head.method, path, headers: head.headers, body };
            log.seen.lock().unwrap().push(seen.clone());
            let said = script(&seen);
            log.news.notify_waiters();
            if said.status == 0 {
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(respond(said, log))
        }
    });
    // A connection that a script breaks is no failure of the peer.
    let _ = hyper::server::conn::http1::Builder::new().timer(TokioTimer::new()).serve_connection(io, service).await;
}

fn respond(said: Said, log: Arc<Log>) -> Response<Body> {
    let mut response = Response::builder().status(said.status);
    for (name, value) in said.headers {
        response = response.header(name, value);
    }
    if said.pieces.is_empty() {
        response = response.header("content-length", "0");
    }
    let bell = Bell { log, rings: said.pieces.iter().any(|piece| matches!(piece, Piece::Hang | Piece::Endless(_))) };
    let pieces = said.pieces.into_iter();
    let chunks = stream::unfold((pieces, bell), |(mut pieces, bell)| async move {
        loop {
            let text = match pieces.next()? {
                Piece::Text(text) => text,
                Piece::Wait(time) => {
                    time::timeout(time, std::future::pending::<()>()).await.unwrap_err();
                    continue;
                }
                Piece::Until(notify) => {
                    notify.notified().await;
                    continue;
                }
                Piece::Break => {
                    // What was said before goes out first.
                    for _ in 0..16 {
                        tokio::task::yield_now().await;
                    }
                    return Some((Err(io::Error::other("broken by the script")), (pieces, bell)));
                }
                Piece::Hang => std::future::pending().await,
                Piece::Endless(text) => {
                    pieces = vec![Piece::Endless(text)].into_iter();
                    Bytes::from_static(text)
                }
                Piece::Source(source) => {
                    let text = source().await?;
                    pieces = vec![Piece::Source(source)].into_iter();
                    text
                }
            };
            return Some((Ok(Frame::data(text)), (pieces, bell)));
        }
    });
    response.body(StreamBody::new(chunks.boxed())).unwrap()
}

type Body = StreamBody<Pin<Box<dyn Stream<Item = Result<Frame<Bytes>, io::Error>> + Send>>>;

/// Rings when a body that has no end is dropped.
struct Bell {
    log: Arc<Log>,
    rings: bool,
}

impl Drop for Bell {
    fn drop(&mut self) {
        if self.rings {
            self.log.given_up.fetch_add(1, Ordering::SeqCst);
            self.log.news.notify_waiters();
        }
    }
}

pub(super) struct Piped(pub(super) DuplexStream);

impl Connects for Piped {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Piped {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Piped {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Hears everything and writes it down.
#[derive(Default)]
pub(super) struct Ear {
    heard: Mutex<Vec<String>>,
    news: Notify,
}

impl Ear {
    pub(super) fn lines(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    fn hear(&self, line: String) {
        self.heard.lock().unwrap().push(line);
        self.news.notify_waiters();
    }

    /// Waits for a line that contains `word`.
    pub(super) async fn until(&self, word: &str) -> String {
        loop {
            let news = self.news.notified();
            if let Some(line) = self.lines().into_iter().find(|line| line.contains(word)) {
                return line;
            }
            news.await;
        }
    }
}

impl Listener for Ear {
    fn changed(&self, change: Change) {
        self.hear(format!("changed {change:?}"));
    }

    fn noted(&self, note: Note) {
        self.hear(format!("noted {}", note.method));
    }

    fn asked(&self, ask: Ask) -> BoxFuture<'static, Outcome> {
        self.hear(format!("asked {}", ask.method));
        async { Ok(Raw::of(&json!({"action": "accept"}))) }.boxed()
    }

    fn stray(&self, what: &str) {
        self.hear(format!("stray {what}"));
    }

    fn lost(&self, why: &Error) {
        self.hear(format!("lost {why}"));
    }
}

pub(super) fn us() -> Introduction {
    Introduction {
        revision: Revision::LATEST,
        client: Some(Raw::of(&json!({"name": "c", "version": "1"}))),
        capabilities: Raw::of(&json!({"elicitation": {}})),
        device: None,
    }
}

pub(super) fn target() -> Target {
    Target::new("http://peer.test/mcp".parse().unwrap())
}

/// Meets a peer.
pub(super) async fn meet(dial: Dial, target: Target) -> (Arc<Ear>, Result<Connection, Error>) {
    let ear = Arc::new(Ear::default());
    let approach = Approach::new(us()).heard_by(Arc::clone(&ear) as Arc<dyn Listener>);
    let met = connect_by(dial, target, approach).await;
    (ear, met)
}

/// What a modern peer says of itself.
pub(super) fn discovered(seen: &Seen) -> Said {
    let lists = json!({"listChanged": true});
    let capabilities = json!({"tools": lists, "resources": {"subscribe": true}, "prompts": {}});
    let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities});
    Said::json(200, &seen.result(result))
}

/// What a legacy peer says of itself.
pub(super) fn initialized(seen: &Seen, revision: &str) -> Said {
    let result = json!({
        "protocolVersion": revision,
        "capabilities": {"tools": {"listChanged": true}},
        "serverInfo": {"name": "s", "version": "1"},
    });
    Said::json(200, &seen.result(result)).with("mcp-session-id", "s-1")
}

/// A modern peer that answers everything but the opening by `script`.
pub(super) async fn modern(script: impl Fn(&Seen) -> Said + Send + Sync + 'static) -> (Arc<Log>, Arc<Ear>, Connection) {
    let (log, dial) =
        peer(move |seen| if seen.method() == "server/discover" { discovered(seen) } else { script(seen) });
    let (ear, met) = meet(dial, target()).await;
    (log, ear, met.unwrap())
}

/// A legacy peer in a session; `script` answers what is no part of the opening, GET and DELETE included.
pub(super) async fn legacy(
    revision: &'static str,
    script: impl Fn(&Seen) -> Option<Said> + Send + Sync + 'static,
) -> (Arc<Log>, Arc<Ear>, Connection) {
    let (log, dial) = peer(move |seen| {
        if let Some(said) = script(seen) {
            return said;
        }
        match (&seen.verb, seen.method()) {
            (&Method::POST, "initialize") => initialized(seen, revision),
            (&Method::POST, "server/discover") => Said::json(400, &seen.error(-32600, "no session")),
            (&Method::POST, method) if method.is_empty() || method.starts_with("notifications/") => Said::status(202),
            (&Method::DELETE, _) => Said::status(200),
            _ => Said::status(405),
        }
    });
    let (ear, met) = meet(dial, target()).await;
    (log, ear, met.unwrap())
}

/// A call of a tool.
pub(super) fn call(tool: &str, arguments: Value) -> Call {
    let params = json!({"name": tool, "arguments": arguments});
    Call::new(toolbay_protocol::Method::ToolsCall, Some(Raw::of(&params)))
}

/// The outcome of a call, and the methods of the notes before it.
pub(super) async fn outcome(running: &mut Running) -> (Vec<String>, Result<Result<Value, ErrorObject>, Error>) {
    let mut notes = vec![];
    loop {
        match running.step().await {
            Ok(Step::Note(note)) => notes.push(note.method.to_string()),
            Ok(Step::Done(outcome)) => return (notes, Ok(outcome.map(|result| result.read().unwrap()))),
            Ok(Step::Away(_) | Step::Withdrawn(_)) => {}
            Ok(Step::Ask(asks)) => panic!("not expected: {asks:?}"),
            Err(error) => return (notes, Err(error)),
        }
    }
}

/// The result of calling tool `t` once.
pub(super) async fn result(connection: &Connection) -> Result<Result<Value, ErrorObject>, Error> {
    let mut running = connection.call(call("t", json!({}))).await?;
    outcome(&mut running).await.1
}

/// The member of `_meta` that says which revision is spoken.
pub(super) fn spoken(seen: &Seen) -> &Value {
    &seen.body["params"]["_meta"][envelope::PROTOCOL_VERSION]
}
