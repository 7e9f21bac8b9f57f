//! What a session is told of: the lists of its server, and the resources it subscribed to. What changes while nobody
//! listens waits here, each change once.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use futures_util::{
    Stream, StreamExt,
    stream::{AbortHandle, Abortable, SelectAll},
};
use toolbay_protocol::{ErrorObject, peer::Allowance, watch::Change};

use crate::Watch;

type Changes = Pin<Box<dyn Stream<Item = Change> + Send>>;

/// All that a session watches.
#[derive(Default)]
pub(super) struct Watches {
    allowance: Allowance,
    streams: Option<SelectAll<Abortable<Changes>>>,
    subscriptions: HashMap<String, AbortHandle>,
    waiting: BTreeSet<Change>,
}

impl Watches {
    /// Nothing yet.
    pub(super) fn within(allowance: Allowance) -> Self {
        Self { allowance, ..Self::default() }
    }

    /// Watches the lists.
    pub(super) fn add(&mut self, watch: Watch) {
        self.push(watch);
    }

    /// Whether a resource may be subscribed to; `false` where it is already.
    pub(super) fn wants(&self, uri: &str) -> Result<bool, ErrorObject> {
        if self.subscriptions.contains_key(uri) {
            return Ok(false);
        }
        self.allowance.one_more_subscription(self.subscriptions.len()).map(|()| true)
    }

    /// Subscribes to a resource.
    pub(super) fn subscribe(&mut self, uri: String, watch: Watch) {
        let abort = self.push(watch);
        if let Some(before) = self.subscriptions.insert(uri, abort) {
            before.abort();
        }
    }

    /// Takes that back.
    pub(super) fn unsubscribe(&mut self, uri: String) {
        let Some(abort) = self.subscriptions.remove(&uri) else { return };
        abort.abort();
        // With nobody listening the aborted stream would stay; what the others have to tell is put aside meanwhile.
        while let Poll::Ready(Some(change)) = self.poll_streams(&mut Context::from_waker(Waker::noop())) {
            self.waiting.insert(change);
        }
        self.waiting.remove(&Change::Updated(uri));
    }

    fn push(&mut self, watch: Watch) -> AbortHandle {
        let changes: Changes = Box::pin(futures_util::stream::unfold(watch, |mut watch| async move {
            let change = watch.next().await?;
            Some((change, watch))
        }));
        let (stream, abort) = futures_util::stream::abortable(changes);
        self.streams.get_or_insert_default().push(stream);
        abort
    }

    fn poll_streams(&mut self, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        match &mut self.streams {
            Some(streams) => streams.poll_next_unpin(cx),
            None => Poll::Ready(None),
        }
    }

    /// The next change. Whoever polls must poll again after anything was added or taken back.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Change> {
        if let Some(change) = self.waiting.pop_first() {
            return Poll::Ready(change);
        }
        match self.poll_streams(cx) {
            Poll::Ready(Some(change)) => Poll::Ready(change),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl fmt::Debug for Watches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watches").field("subscriptions", &self.subscriptions.len()).finish_non_exhaustive()
    }
}
