//! Small deliveries that nobody waits for: cancellations, answers to a ping. Few at a time, each with a deadline, all of
//! them gone with the connection.

use std::{
    future::Future,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{runtime::Handle, task::JoinSet, time};

/// How many may be under way.
const UNDER_WAY: usize = 256;
/// How long one may take.
const EACH: Duration = Duration::from_secs(10);

/// Deliveries under way.
#[derive(Debug, Default)]
pub(super) struct Chores(Mutex<JoinSet<()>>);

/// Whether a delivery was taken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Yes,
    /// Too many are under way already, or everything is coming to an end.
    No,
}

impl Chores {
    fn set(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes on a delivery.
    pub(super) fn take(&self, work: impl Future<Output = ()> + Send + 'static) -> Taken {
        // A call may be dropped after its runtime.
        let Ok(runtime) = Handle::try_current() else { return Taken::No };
        let mut set = self.set();
        while set.try_join_next().is_some() {}
        if set.len() >= UNDER_WAY {
            return Taken::No;
        }
        let timed = async {
            // What could not be delivered in time is not worth waiting for.
            let _ = time::timeout(EACH, work).await;
        };
        set.spawn_on(timed, &runtime);
        Taken::Yes
    }

    /// Waits for those under way, for a while.
    pub(super) async fn finish(&self, within: Duration) {
        let set = mem::take(&mut *self.set());
        // Those that take longer are aborted with the set.
        let _ = time::timeout(within, set.join_all()).await;
    }

    /// Drops those under way.
    pub(super) fn abort(&self) {
        self.set().abort_all();
    }
}
