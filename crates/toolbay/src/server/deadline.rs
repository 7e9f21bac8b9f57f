//! How long a function may take, where its server says so.

use std::{
    future::Future,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use tokio::time::timeout;

use super::{
    context::Ctx,
    failure::{self, Begun, Came},
    live::Live,
};

/// The times a call waits for its caller, who may be a person that thinks.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    open: AtomicUsize,
    over: AtomicUsize,
}

/// One such time; it is over when this is dropped.
pub(crate) struct Waiting<'a>(&'a Waits);

impl Waits {
    pub(crate) fn begin(&self) -> Waiting<'_> {
        self.open.fetch_add(1, Ordering::Relaxed);
        Waiting(self)
    }

    fn over(&self) -> usize {
        self.over.load(Ordering::Relaxed)
    }

    fn is_waiting(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.0.over.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs a handler for as long as it may.
pub(crate) async fn run<T>(live: &Live, cx: &Ctx, start: impl FnOnce() -> Begun<T>) -> Came<T> {
    let work = failure::run(cx, start);
    match live.settings.call_deadline {
        None => work.await,
        limit => within(limit, cx, Box::pin(work)).await,
    }
}

/// Lets a call go on for as long as it may; an answer of its caller begins the time anew.
pub(crate) async fn within<T>(
    limit: Option<Duration>,
    cx: &Ctx,
    mut work: impl Future<Output = Came<T>> + Unpin,
) -> Came<T> {
    let Some(limit) = limit else { return work.await };
    let waits = cx.waits();
    loop {
        let before = waits.over();
        match timeout(limit, &mut work).await {
            Ok(came) => return came,
            Err(_) if waits.is_waiting() || waits.over() != before => {}
            Err(_) => return Came::Late(limit),
        }
    }
}
