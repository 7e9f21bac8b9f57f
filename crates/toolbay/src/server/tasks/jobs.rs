//! The functions that run on behind their requests, owned by the server: they end with it.

use std::{
    future::Future,
    sync::{Mutex, PoisonError},
};

use tokio::task::{AbortHandle, JoinSet};

/// The functions that run. Dropping it ends them.
#[derive(Default)]
pub(crate) struct Jobs(Mutex<JoinSet<()>>);

impl Jobs {
    pub(super) fn start(&self, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while jobs.try_join_next().is_some() {}
        jobs.spawn(work)
    }
}
