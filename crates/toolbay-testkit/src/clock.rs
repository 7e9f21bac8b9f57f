//! A clock that stands still until it is moved.

use std::{
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};

/// Time as a test wants it; clones share it.
#[derive(Clone, Debug)]
pub struct FakeClock {
    base: Instant,
    passed: Rc<Cell<Duration>>,
}

impl FakeClock {
    /// A clock at its beginning.
    pub fn new() -> Self {
        Self { base: Instant::now(), passed: Rc::default() }
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.base + self.passed.get()
    }

    /// How much time has passed since the beginning.
    pub fn passed(&self) -> Duration {
        self.passed.get()
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        self.passed.set(self.passed.get() + by);
    }

    /// Lets time pass until `then`; nothing where that is past.
    pub fn reach(&self, then: Instant) {
        self.passed.set(self.passed.get().max(then.saturating_duration_since(self.base)));
    }
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::new()
    }
}
