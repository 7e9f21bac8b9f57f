//! The counters.

use std::{
    array,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use crate::audit::End;

/// The upper ends of the buckets of how long calls took, in microseconds; longer ones are counted beyond the last.
pub const BUCKETS: [u64; 14] = [
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 10_000_000,
    60_000_000,
];

/// Counts the calls of one server, or of all.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    ends: [AtomicU64; 4],
    buckets: [AtomicU64; BUCKETS.len() + 1],
    micros: AtomicU64,
    restarts: AtomicU64,
}

impl Counters {
    /// A call came to its end.
    pub(crate) fn count(&self, end: &End, took: Duration) {
        let place = match end {
            End::Done => 0,
            End::Failed(_) => 1,
            End::Asked => 2,
            End::Abandoned => 3,
        };
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|most| micros <= *most).unwrap_or(BUCKETS.len());
        self.ends[place].fetch_add(1, Relaxed);
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.micros.fetch_add(micros, Relaxed);
    }

    /// The server, which was lost or could not be started, is started again.
    pub(crate) fn restarted(&self) {
        self.restarts.fetch_add(1, Relaxed);
    }

    /// What was counted so far.
    pub(crate) fn read(&self) -> Counted {
        let [done, failed, asked, abandoned] = array::from_fn(|place| self.ends[place].load(Relaxed));
        let buckets = array::from_fn(|place| self.buckets[place].load(Relaxed));
        let (micros, restarts) = (self.micros.load(Relaxed), self.restarts.load(Relaxed));
        Counted { done, failed, asked, abandoned, buckets, took: Duration::from_micros(micros), restarts }
    }
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls that ended with a result.
    pub done: u64,
    /// With an error of the protocol; a tool that says it failed has a result.
    pub failed: u64,
    /// With a question: the caller returns.
    pub asked: u64,
    /// Taken back, or their caller left.
    pub abandoned: u64,
    /// How many took as long as each of [`BUCKETS`] says, and no less than the one before; then those that took longer.
    pub buckets: [u64; BUCKETS.len() + 1],
    /// How long all took together.
    pub took: Duration,
    /// How often the server was started again.
    pub restarts: u64,
}

impl Counted {
    /// How many calls came to their end.
    pub fn calls(&self) -> u64 {
        self.done + self.failed + self.asked + self.abandoned
    }

    /// What such a part of the calls took at most, as far as the buckets tell; nothing where there were none.
    pub fn quantile(&self, part: f64) -> Option<Duration> {
        let all: u64 = self.buckets.iter().sum();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a count is one")]
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let wanted = ((all as f64 * part).ceil() as u64).max(1);
        let mut below = 0;
        for (place, count) in self.buckets.iter().enumerate() {
            if below + count >= wanted && *count > 0 {
                let from = place.checked_sub(1).map_or(0, |before| BUCKETS[before]);
                let Some(to) = BUCKETS.get(place) else { return Some(Duration::from_micros(from)) };
                // As if those in a bucket were spread evenly.
                let within = (to - from).saturating_mul(wanted - below) / count;
                return Some(Duration::from_micros(from + within));
            }
            below += count;
        }
        None
    }
}
