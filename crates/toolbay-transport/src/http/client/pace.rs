//! How soon to come back to a stream that ended: as the server says, then ever later while nothing comes of it. A stream
//! that closes in good order is no reason to forget how often it did.

use std::time::Duration;

use http::HeaderValue;

use super::reply::Mark;

/// How long to wait where the server does not say.
const UNSAID: Duration = Duration::from_secs(1);
/// Never sooner than this, whatever the server says.
const SOONEST: Duration = Duration::from_millis(100);

/// The pace of coming back.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    id: Option<HeaderValue>,
    retry: Option<Duration>,
    barren: u32,
}

impl Pace {
    /// A stream that did not say anything yet.
    pub(super) fn new() -> Self {
        Self { id: None, retry: None, barren: 0 }
    }

    /// Takes note of what stood beside an event.
    pub(super) fn mark(&mut self, mark: Mark) {
        // An empty id takes back the one before; one that no header can carry is as good as none.
        if let Some(id) = mark.id {
            self.id = HeaderValue::from_bytes(id.as_bytes()).ok().filter(|id| !id.is_empty());
        }
        self.retry = mark.retry.or(self.retry);
    }

    /// Where to take the stream up again.
    pub(super) fn id(&self) -> Option<&HeaderValue> {
        self.id.as_ref()
    }

    /// Whether the server said how soon.
    pub(super) fn is_paced(&self) -> bool {
        self.retry.is_some()
    }

    /// Something came of it: the next pause is a short one again.
    pub(super) fn fruitful(&mut self) {
        self.barren = 0;
    }

    /// How often nothing came of it, one after the other.
    pub(super) fn barren(&self) -> u32 {
        self.barren
    }

    /// How long to wait now, never less than the server said; growing up to `longest`.
    // spec: 2025-11-25 basic/transports, a client respects `retry`
    pub(super) fn pause(&mut self, longest: Duration) -> Duration {
        let base = self.retry.unwrap_or(UNSAID).max(SOONEST);
        let pause = base.saturating_mul(1 << self.barren.min(16));
        self.barren += 1;
        pause.min(longest.max(base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_what_the_server_says_and_shrink_only_when_something_comes() {
        let longest = Duration::from_secs(30);
        let mut pace = Pace::new();
        let seconds = |pace: &mut Pace| (0..7).map(|_| pace.pause(longest).as_secs()).collect::<Vec<_>>();
        assert_eq!(seconds(&mut pace), [1, 2, 4, 8, 16, 30, 30]);
        pace.fruitful();
        pace.mark(Mark { id: Some("a".into()), retry: Some(Duration::from_secs(45)) });
        assert_eq!(seconds(&mut pace), [45; 7]);
        pace.mark(Mark { id: Some(String::new()), retry: Some(Duration::ZERO) });
        pace.fruitful();
        assert_eq!(pace.id(), None);
        assert_eq!(pace.pause(longest), SOONEST);
    }
}
