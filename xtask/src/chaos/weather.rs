//! Whether the bay is there, and whether it was all the time.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the bay's ends and beginnings: even while it is there.
#[derive(Default)]
pub(super) struct Weather(AtomicU64);

impl Weather {
    /// The count.
    pub(super) fn now(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// The bay ends, or is back.
    pub(super) fn turns(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether the bay was there at that count, and all the time since.
    pub(super) fn was_fair_since(&self, then: u64) -> bool {
        then.is_multiple_of(2) && self.now() == then
    }
}
