//! When a server that fails again and again is tried once more. Knows no server and waits for nobody.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits::Bounds;

/// Where the circuit of a server stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Circuit {
    /// It is started again whenever it is lost, ever less soon.
    #[default]
    Closed,
    /// It failed too often in a row, and is left alone.
    Open {
        /// How often.
        failures: usize,
        /// When it is tried again.
        until: Instant,
    },
    /// It is being tried.
    HalfOpen,
}

impl Circuit {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open { .. } => "open",
            Self::HalfOpen => "half-open",
        }
    }

    /// How long it stays open.
    pub fn left(&self) -> Option<Duration> {
        match self {
            Self::Open { until, .. } => Some(until.saturating_duration_since(Instant::now())),
            Self::Closed | Self::HalfOpen => None,
        }
    }
}

/// Counts failures and says how long to wait after each.
#[derive(Debug)]
pub(super) struct Breaker {
    bounds: Bounds,
    pause: Duration,
    failures: usize,
}

impl Breaker {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, pause: bounds.pause, failures: 0 }
    }

    /// It was lost after it had lasted for so long. How long to wait, and where the circuit stands meanwhile.
    pub(super) fn lost(&mut self, lasted: Duration) -> (Duration, Circuit) {
        // One that did well for a while begins anew.
        if lasted > self.bounds.longest_pause {
            *self = Self::new(self.bounds);
        }
        self.failures = self.failures.saturating_add(1);
        if self.failures >= self.bounds.circuit_failures {
            let wait = self.bounds.circuit_pause;
            return (wait, Circuit::Open { failures: self.failures, until: Instant::now() + wait });
        }
        let wait = self.pause;
        self.pause = (self.pause * 2).min(self.bounds.longest_pause);
        (wait, Circuit::Closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_until_the_circuit_opens_and_begin_anew_when_it_did_well() {
        let bounds = Bounds { circuit_failures: 4, circuit_pause: Duration::from_secs(90), ..Bounds::default() };
        let mut breaker = Breaker::new(bounds);
        let mut lost = |lasted| {
            let (wait, circuit) = breaker.lost(Duration::from_secs(lasted));
            (wait.as_secs(), circuit.word())
        };
        let all: Vec<_> = [0, 5, 5, 5, 5].into_iter().map(&mut lost).collect();
        assert_eq!(all, [(1, "closed"), (2, "closed"), (4, "closed"), (90, "open"), (90, "open")]);
        assert_eq!((lost(61), lost(0)), ((1, "closed"), (2, "closed")));
    }
}
