//! HTTP+SSE of 2024-11-05: one lasting stream per client, messages posted beside it. It is a duplex link like any other:
//! what is posted is its input, the stream its output. The link lives in the stream's body and ends with it.
// spec: 2024-11-05 basic/transports

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, stream};
use http::{Response, StatusCode, request};
use std::future::poll_fn;
use tokio::sync::mpsc;
use toolbay_protocol::{Fault, Frame, sse};

use super::{
    body::Body,
    endpoint::Shared,
    media::Accepts,
    respond::{self, Refusal},
    session::mint,
};
use crate::{
    Error, Principal, Service, device,
    duplex::{self, Came, ReadFrames, WriteFrames},
};

/// How many messages of one client may wait to be read.
const WAITING: usize = 64;

/// All links of an endpoint.
#[derive(Debug)]
pub(super) struct Links {
    open: Mutex<HashMap<Arc<str>, Entry>>,
    limit: usize,
}

#[derive(Debug)]
struct Entry {
    principal: Principal,
    input: mpsc::Sender<Came>,
}

impl Links {
    pub(super) fn new(limit: usize) -> Self {
        Self { open: Mutex::default(), limit }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Arc<str>, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a link: its stream begins with where to post.
pub(super) fn open<S: Service>(
    shared: &Arc<Shared<S>>,
    head: &request::Parts,
    principal: Principal,
) -> Result<Response<Body>, Refusal> {
    if !Accepts::read(&head.headers).stream {
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, "`Accept` must allow text/event-stream"));
    }
    if shared.is_closed() {
        return Err(Refusal::closing());
    }
    let name = mint()?;
    let (input, reader) = mpsc::channel(WAITING);
    {
        let mut open = shared.links.open();
        if open.len() >= shared.links.limit {
            let what =
                format!("{} streams are open, and that is the limit (`sessions`); try later", shared.links.limit);
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, what));
        }
        open.insert(Arc::clone(&name), Entry { principal: principal.clone(), input });
    }
    let listed = Listed { links: Arc::clone(&shared.links), name: Arc::clone(&name) };
    let options = duplex::Options {
        principal,
        grace: shared.options.grace,
        shutdown: shared.closing.child_token(),
        session: Some(Arc::clone(&name)),
        allowance: shared.options.allowance,
        device: device::stated(&head.headers).map_err(wrong)?,
    };
    let out = Out::default();
    let writer = Writer { out: Arc::clone(&out), backlog: BytesMut::new() };
    let link = Box::pin(duplex::serve(Arc::clone(&shared.service), Reader(reader), writer, options));
    let messages = shared.options.sse.as_ref().map_or("", |pair| &pair.messages);
    let first = endpoint(&format!("{messages}?sessionId={name}"));
    let events = events(Some(first), Link { link: Some(link), out, _listed: listed });
    Ok(respond::events(Body::live(events, shared.options.keep_alive, shared.calls.token())))
}

fn endpoint(uri: &str) -> Bytes {
    let mut out = BytesMut::new();
    sse::Event { name: Some("endpoint"), ..sse::Event::of(uri.as_bytes()) }.write(&mut out);
    out.freeze()
}

fn wrong(fault: Fault) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, fault.to_string())
}

/// Takes a message for the link that the query names.
pub(super) async fn post<S: Service>(
    shared: &Shared<S>,
    head: &request::Parts,
    principal: &Principal,
    text: &Bytes,
) -> Result<Response<Body>, Refusal> {
    let mut pairs = head.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let name = pairs.find(|(key, _)| *key == "sessionId").map(|(_, name)| name);
    let name = name.ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, "`sessionId` is missing in the query"))?;
    let gone = || Refusal::new(StatusCode::NOT_FOUND, "there is no such stream (any more); open a new one");
    let input = {
        let open = shared.links.open();
        let entry = open.get(name).filter(|entry| entry.principal == *principal);
        entry.map(|entry| entry.input.clone()).ok_or_else(gone)?
    };
    let came = match Frame::parse_batch(text, shared.options.json) {
        Some(batch) => Came::Batch(batch),
        None => match Frame::parse_within(text, shared.options.json) {
            Ok(frame) => Came::One(Ok(frame)),
            Err(rejected) => return Ok(respond::json(StatusCode::BAD_REQUEST, &rejected.answer())),
        },
    };
    match input.send_timeout(came, shared.options.read_timeout).await {
        Ok(()) => Ok(respond::empty(StatusCode::ACCEPTED)),
        Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(gone()),
        Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
            let what = "too many messages of this client wait to be read, because it does not read its stream";
            Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, what))
        }
    }
}

/// What waits to be put on a stream: one batch at a time, so that a slow client slows its server down.
type Out = Arc<Mutex<BytesMut>>;

fn locked(out: &Out) -> MutexGuard<'_, BytesMut> {
    out.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A place among the links, given up when the stream ends.
struct Listed {
    links: Arc<Links>,
    name: Arc<str>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.links.open().remove(&self.name);
    }
}

type Serving = dyn Future<Output = Result<(), Error>> + Send;

struct Link {
    link: Option<Pin<Box<Serving>>>,
    out: Out,
    _listed: Listed,
}

impl Link {
    /// Works on the link until there is something to send; nothing at its end.
    async fn next(&mut self) -> Option<Bytes> {
        poll_fn(|cx| {
            if let Some(link) = &mut self.link
                && link.as_mut().poll(cx).is_ready()
            {
                self.link = None;
            }
            let text = locked(&self.out).split().freeze();
            match &self.link {
                _ if !text.is_empty() => Poll::Ready(Some(text)),
                Some(_) => Poll::Pending,
                None => Poll::Ready(None),
            }
        })
        .await
    }
}

fn events(first: Option<Bytes>, link: Link) -> impl Stream<Item = Bytes> + Send {
    stream::unfold((first, link), |(first, mut link)| async move {
        let text = match first {
            Some(first) => first,
            None => link.next().await?,
        };
        Some((text, (None, link)))
    })
}

struct Reader(mpsc::Receiver<Came>);

impl ReadFrames for Reader {
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Came>, Error>> {
        self.0.poll_recv(cx).map(Ok)
    }
}

struct Writer {
    out: Out,
    backlog: BytesMut,
}

impl WriteFrames for Writer {
    fn push(&mut self, frame: Frame) {
        sse::Event { name: Some("message"), ..sse::Event::of(&frame.to_bytes()) }.write(&mut self.backlog);
    }

    fn backlog(&self) -> usize {
        self.backlog.len()
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        // Whoever polls the link empties the place each time, so nobody need be woken.
        let mut out = locked(&self.out);
        if self.backlog.is_empty() {
            return Poll::Ready(Ok(()));
        }
        if !out.is_empty() {
            return Poll::Pending;
        }
        *out = self.backlog.split();
        Poll::Ready(Ok(()))
    }

    async fn close(&mut self) {}
}
