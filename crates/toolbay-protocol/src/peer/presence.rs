//! Whether whoever stands behind a call is there: a client may hang up, and perhaps come back, while its call goes on.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Whether somebody is there to be asked; shared by those who know it and those who want to. By default somebody is, always.
#[derive(Clone, Debug, Default)]
pub struct Presence(Option<Arc<AtomicBool>>);

impl Presence {
    /// Of somebody who is there now, and may leave.
    pub fn new() -> Self {
        Self(Some(Arc::new(AtomicBool::new(true))))
    }

    /// Whether somebody is there.
    pub fn is_there(&self) -> bool {
        self.0.as_ref().is_none_or(|there| there.load(Ordering::Acquire))
    }

    /// Nobody is there any more.
    pub fn leave(&self) {
        self.set(false);
    }

    /// Somebody is there again.
    pub fn come_back(&self) {
        self.set(true);
    }

    fn set(&self, there: bool) {
        if let Some(state) = &self.0 {
            state.store(there, Ordering::Release);
        }
    }
}
