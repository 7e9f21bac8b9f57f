//! What all requests to one server share: who we are, the session, what was learnt of its tools, and how it ended.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use futures_util::future::{BoxFuture, FutureExt};
use http::{HeaderMap, HeaderValue};
use tokio::{sync::watch, time};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{
    Feature, Frame, Id, Method, Raw,
    exchange::Note,
    greeting::Introduction,
    headers::{self, Header, Mismatch},
    peer::Tokens,
    watch::legacy,
};

use super::{
    chores::{Chores, Taken},
    fields::{LAST_EVENT, SESSION, put, routing_headers},
    inbox::Inboxes,
    line::{Line, Order},
    plans::Plans,
    problem::Refusal,
    reply::{Arrays, Reply},
};
use crate::{Error, Kind, Listener};

/// How long the delivery of a notification, or of an answer, may take.
const DELIVERY: Duration = Duration::from_secs(30);

/// How long a call waits for the server's own stream to open.
const OPENING: Duration = Duration::from_millis(500);

/// An answer on its way.
pub(super) type Sending = BoxFuture<'static, Result<Reply, Error>>;

/// A server, met.
pub(super) struct Session {
    line: Line,
    us: Arc<Introduction>,
    id: Option<HeaderValue>,
    listener: Arc<dyn Listener>,
    minted: AtomicI64,
    plans: Plans,
    inboxes: Inboxes,
    /// Of requests that began tasks.
    tokens: Mutex<Tokens>,
    chores: Chores,
    end: watch::Sender<Option<Error>>,
    closed: CancellationToken,
    /// Whether the server's own stream was opened, or is known not to open.
    listened: watch::Sender<bool>,
}

impl Session {
    /// A session that `us` opened over `line`, with the id that the server gave it, if any.
    pub(super) fn new(
        line: Line,
        us: Arc<Introduction>,
        id: Option<HeaderValue>,
        listener: Arc<dyn Listener>,
        minted: AtomicI64,
    ) -> Self {
        let (plans, inboxes, tokens, chores) = Default::default();
        let (end, closed) = (watch::Sender::new(None), CancellationToken::new());
        let listened = watch::Sender::new(false);
        Self { line, us, id, listener, minted, plans, inboxes, tokens, chores, end, closed, listened }
    }

    /// The server's own stream is open, or will not open.
    pub(super) fn is_listened_to(&self) {
        if !*self.listened.borrow() {
            self.listened.send_replace(true);
        }
    }

    /// Waits a moment for that: some servers ask there in the middle of a call, and drop what they say before.
    pub(super) async fn until_listened_to(&self) {
        if *self.listened.borrow() {
            return;
        }
        let mut listened = self.listened.subscribe();
        // The sender lives in `self`. Who is slow to open it is not waited for again.
        let _ = time::timeout(OPENING, listened.wait_for(|listened| *listened)).await;
        self.is_listened_to();
    }

    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    pub(super) fn us(&self) -> &Arc<Introduction> {
        &self.us
    }

    pub(super) fn listener(&self) -> &dyn Listener {
        &*self.listener
    }

    pub(super) fn plans(&self) -> &Plans {
        &self.plans
    }

    pub(super) fn inboxes(&self) -> &Inboxes {
        &self.inboxes
    }

    pub(super) fn has(&self, feature: Feature) -> bool {
        self.us.revision.has(feature)
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.id.as_ref()?.to_str().ok()
    }

    pub(super) fn is_named(&self) -> bool {
        self.id.is_some()
    }

    /// An id that was never used before.
    pub(super) fn mint(&self) -> Id {
        Id::Number(self.minted.fetch_add(1, Ordering::Relaxed))
    }

    fn arrays(&self) -> Arrays {
        if self.has(Feature::Batch) { Arrays::Allowed } else { Arrays::Never }
    }

    /// Sends one message; an error where an argument cannot be mirrored.
    pub(super) fn send(&self, frame: &Frame) -> Result<Sending, Mismatch> {
        let mut headers = self.headers(frame);
        for header in self.mirrored(frame)? {
            put(&mut headers, &header);
        }
        Ok(self.order(Order::post(headers, frame.to_bytes())))
    }

    /// Opens the session's own stream, or takes up one where it broke off.
    pub(super) fn stream(&self, after: Option<&HeaderValue>) -> Sending {
        let mut headers = self.headers_of_session();
        if let Some(after) = after {
            headers.insert(LAST_EVENT, after.clone());
        }
        self.order(Order::get(headers))
    }

    fn order(&self, order: Order) -> Sending {
        let (line, arrays) = (self.line.clone(), self.arrays());
        async move {
            let reached = line.send(order).await?;
            Reply::read(reached, line.limits(), arrays).await
        }
        .boxed()
    }

    fn headers(&self, frame: &Frame) -> HeaderMap {
        if self.has(Feature::RoutingHeaders) { routing_headers(&self.us, frame) } else { self.headers_of_session() }
    }

    // spec: 2025-06-18 basic/transports, on everything after the opening
    fn headers_of_session(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.has(Feature::VersionHeader) {
            let version = Header { name: headers::VERSION.into(), value: self.us.revision.as_str().into() };
            put(&mut headers, &version);
        }
        if let Some(id) = &self.id {
            headers.insert(SESSION, id.clone());
        }
        headers
    }

    /// The headers that mirror a tool's arguments.
    fn mirrored(&self, frame: &Frame) -> Result<Vec<Header>, Mismatch> {
        let Frame::Request { method: Method::ToolsCall, params: Some(params), .. } = frame else { return Ok(vec![]) };
        if !self.has(Feature::RoutingHeaders) {
            return Ok(vec![]);
        }
        let name = params.get("name");
        let plan = name.as_ref().and_then(Raw::as_text).and_then(|name| self.plans.of(&name));
        let arguments = params.get("arguments");
        plan.map_or(Ok(vec![]), |plan| plan.headers(arguments.as_ref().map(Raw::as_bytes)))
    }

    /// Delivers a message that wants no answer.
    pub(super) async fn deliver(&self, frame: &Frame) -> Result<(), Error> {
        let sending = self.send(frame).map_err(|mismatch| Error::new(Kind::Misbehaved, mismatch.to_string()))?;
        let reply = time::timeout(DELIVERY, sending).await;
        match reply.unwrap_or_else(|_| Err(Error::overdue("delivering a message", DELIVERY)))? {
            Reply::Messages(_) | Reply::Nothing(_) => Ok(()),
            Reply::Refused(refusal) => Err(self.refused(&refusal)),
        }
    }

    /// Delivers messages that nobody waits for.
    pub(super) fn deliver_later(self: &Arc<Self>, frames: Vec<Frame>) {
        if self.closed.is_cancelled() {
            return;
        }
        let session = Arc::clone(self);
        let work = async move {
            for frame in frames {
                if let Err(error) = session.deliver(&frame).await {
                    session.listener.stray(&format!("a message could not be delivered: {error}"));
                }
            }
        };
        if self.chores.take(work) == Taken::No {
            self.listener.stray("too many messages wait to be delivered; one is dropped");
        }
    }

    pub(super) fn tokens(&self) -> MutexGuard<'_, Tokens> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears progress that belongs to no call: that of a task, perhaps.
    pub(super) fn progress(&self, params: Option<&Raw>) {
        let note = self.tokens().progress(params);
        match note {
            Some(note) => self.listener.noted(note),
            None => self.listener.stray("progress of a call that nobody waits for"),
        }
    }

    /// Hears what belongs to no call.
    pub(super) fn overhear(&self, method: Method, params: Option<Raw>) {
        match legacy::change(&method, params.as_ref()) {
            Some(change) => self.listener.changed(change),
            None => self.listener.noted(Note { method, params }),
        }
    }

    /// What a refusal means here; one that ends the session does so.
    pub(super) fn refused(&self, refusal: &Refusal) -> Error {
        // spec: basic/transports, an ended session answers 404
        if refusal.status.as_u16() == 404 && self.is_named() && self.has(Feature::Handshake) {
            let what = "the server does not know the session any more (HTTP 404): it must be opened again";
            let error = Error::new(Kind::SessionLost, what);
            self.lose(error.clone());
            return error;
        }
        refusal.to_error(self.line.url())
    }

    /// Ends it for a reason; the first one counts.
    pub(super) fn lose(&self, error: Error) {
        if self.end_with(&error) {
            self.listener.lost(&error);
        }
    }

    /// Whether this is the first end.
    fn end_with(&self, error: &Error) -> bool {
        self.end.send_if_modified(|end| {
            let first = end.is_none();
            if first {
                *end = Some(error.clone());
            }
            first
        })
    }

    /// Why it ended, if it did.
    pub(super) fn end(&self) -> Option<Error> {
        self.end.borrow().clone()
    }

    /// Waits for the end.
    pub(super) async fn ended(&self) -> Error {
        let mut end = self.end.subscribe();
        let end = end.wait_for(Option::is_some).await.ok().and_then(|end| end.clone());
        end.unwrap_or_else(|| Error::closed("the connection was closed"))
    }

    /// Waits until it is closed from here; what is in flight is then given up.
    pub(super) async fn closed(&self) -> Error {
        self.closed.cancelled().await;
        Error::closed("the connection was closed here")
    }

    /// Closes it: nothing more is sent but the word that ends it.
    pub(super) async fn close(&self, within: Duration) {
        let first = !self.closed.is_cancelled();
        self.closed.cancel();
        let lost = self.end().is_some();
        self.lose(Error::closed("the connection was closed here"));
        self.chores.finish(within).await;
        if first && !lost && self.is_named() {
            let farewell = self.line.send(Order::delete(self.headers_of_session()));
            // spec: basic/transports, a server may not know the word; the session is over for us either way
            let _ = time::timeout(within, farewell).await;
        }
    }

    /// Gives up whatever is under way; whoever dropped the connection need not be told.
    pub(super) fn abandon(&self) {
        self.chores.abort();
        self.end_with(&Error::closed("the connection was dropped"));
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("line", &self.line).field("revision", &self.us.revision).finish_non_exhaustive()
    }
}
