//! The endpoint as an application holds it.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Buf;
use http::{Request, Response};
use tokio::time::timeout;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{body::Body, legacy_sse::Links, options::Options, route, session::Sessions};
use crate::Service;

/// A service for clients of every revision over HTTP. Cheap to clone; all clones share their sessions.
pub struct Endpoint<S>(Arc<Shared<S>>);

/// What all requests share.
pub(super) struct Shared<S> {
    pub(super) service: Arc<S>,
    pub(super) options: Options,
    pub(super) sessions: Arc<Sessions>,
    pub(super) links: Arc<Links>,
    /// All requests and streams that are open, and the tasks that outlive theirs.
    pub(super) calls: TaskTracker,
    /// Said when no new request is taken.
    pub(super) closing: CancellationToken,
    /// Said when the grace of calls in flight is over.
    pub(super) abandon: CancellationToken,
    closed: AtomicBool,
}

impl<S: Service> Endpoint<S> {
    /// Offers `service`.
    pub fn new(service: Arc<S>, options: Options) -> Self {
        let sessions = Arc::new(Sessions::new(&options));
        let links = Arc::new(Links::new(options.sessions));
        let (calls, closing, abandon) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let closed = AtomicBool::new(false);
        Self(Arc::new(Shared { service, options, sessions, links, calls, closing, abandon, closed }))
    }

    /// Answers one request. Dropping the future, or the body it gives, is how a client goes away: a modern request is
    /// cancelled by it, one in a legacy session goes on.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body + Send,
        B::Data: Buf + Send,
    {
        let _open = self.0.calls.token();
        route::answer(&self.0, request).await
    }

    /// Takes no more requests, lets calls in flight end within the grace, cancels the rest and ends every session.
    pub async fn shutdown(&self) {
        let shared = &self.0;
        shared.closed.store(true, Ordering::Release);
        shared.closing.cancel();
        shared.calls.close();
        if timeout(shared.options.grace, shared.calls.wait()).await.is_err() {
            shared.abandon.cancel();
            // Long enough for everybody to be told, if they listen.
            let _ = timeout(shared.options.grace.min(std::time::Duration::from_secs(1)), shared.calls.wait()).await;
        }
        shared.sessions.end_all(&*shared.service);
    }

    pub(super) fn shared(&self) -> &Arc<Shared<S>> {
        &self.0
    }
}

impl<S> Shared<S> {
    /// Whether no new request is taken.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl<S> Clone for Endpoint<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> fmt::Debug for Endpoint<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("options", &self.0.options).finish_non_exhaustive()
    }
}
