//! Stops asking an endpoint that does not answer in time, and tries it again now and then. Reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// So many failures in a row, and it is not asked.
const FAILURES: u32 = 3;
/// For how long, at first; then twice as long each time.
const PAUSE: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(300);

/// Whether the endpoint is asked.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    pause: Option<Duration>,
    until: Option<Instant>,
}

impl Breaker {
    /// Whether it may be asked now. After a pause one may, and the others wait for what becomes of that.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        match self.until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                self.until = Some(now + self.pause.unwrap_or(PAUSE));
                true
            }
        }
    }

    /// It answered.
    pub(super) fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// It did not.
    pub(super) fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES {
            let pause = self.pause.map_or(PAUSE, |pause| (pause * 2).min(LONGEST));
            self.pause = Some(pause);
            self.until = Some(now + pause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_close_the_way_and_one_success_opens_it() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        for _ in 0..2 {
            breaker.failed(start);
            assert!(breaker.allows(start));
        }
        breaker.failed(start);
        assert!(!breaker.allows(start));
        let later = start + PAUSE;
        assert!(breaker.allows(later), "one may try");
        assert!(!breaker.allows(later), "and no other meanwhile");
        breaker.failed(later);
        assert!(!breaker.allows(later + PAUSE), "the second pause is longer");
        assert!(breaker.allows(later + PAUSE * 2));
        breaker.succeeded();
        assert!(breaker.allows(later) && breaker.allows(later));
    }

    #[test]
    fn no_pause_is_longer_than_the_longest() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        (0..100).for_each(|_| breaker.failed(now));
        assert!(!breaker.allows(now + LONGEST - Duration::from_millis(1)));
        assert!(breaker.allows(now + LONGEST));
    }
}
