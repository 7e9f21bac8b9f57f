//! The time of a call, which stands still while a person is asked.

use std::{future::Future, pin::pin, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// How long a call has waited for a person, and when its server was last heard.
#[derive(Debug)]
pub(super) struct Waits(watch::Sender<Waited>);

#[derive(Clone, Copy, Debug, Default)]
struct Waited {
    open: u32,
    since: Option<Instant>,
    total: Duration,
    /// When anything was said of the call.
    heard: Option<Instant>,
}

/// A question that a person has before them.
#[derive(Debug)]
pub(super) struct Waiting<'a>(&'a Waits);

impl Waits {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(Waited::default()))
    }

    /// Something was said of the call: it goes on.
    pub(super) fn heard(&self) {
        self.0.send_modify(|waited| waited.heard = Some(Instant::now()));
    }

    /// A person is asked, until that is dropped.
    pub(super) fn open(&self) -> Waiting<'_> {
        self.0.send_modify(|waited| {
            waited.since.get_or_insert_with(Instant::now);
            waited.open += 1;
        });
        Waiting(self)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|waited| {
            waited.open -= 1;
            if waited.open == 0
                && let Some(since) = waited.since.take()
            {
                waited.total += since.elapsed();
            }
        });
    }
}

/// How long a call may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    /// With nothing said of it.
    pub(super) silence: Duration,
    /// Whatever is said of it.
    pub(super) total: Duration,
}

/// Does work within a time of its own; nothing where that is over.
pub(super) async fn within<T>(work: impl Future<Output = T>, allowed: Allowed, waits: &Waits) -> Option<T> {
    let mut work = pin!(work);
    let mut waited = waits.0.subscribe();
    let begun = Instant::now();
    loop {
        let now = *waited.borrow_and_update();
        let late = async {
            match now.open {
                0 => {
                    let start = begun + now.total;
                    let silent = now.heard.map_or(start, |heard| heard.max(start)) + allowed.silence;
                    sleep_until(silent.min(start + allowed.total.max(allowed.silence))).await;
                }
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            done = &mut work => return Some(done),
            // The sender is borrowed here: it cannot be gone.
            _ = waited.changed() => {}
            () = late => return None,
        }
    }
}
