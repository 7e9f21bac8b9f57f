//! How long to wait before a provider is asked again.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

/// The first wait; each further one is twice as long.
const FIRST: Duration = Duration::from_secs(1);
/// The longest wait of our own.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest wait that a provider may ask for. A longer one is for the person to decide.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The wait before the next try, after `tries` that failed; none where the provider asks for more than is waited.
pub(super) fn wait(tries: u32, asked: Option<Duration>) -> Option<Duration> {
    match asked {
        Some(asked) if asked > PATIENCE => None,
        Some(asked) => Some(asked),
        None => Some(scattered(FIRST.saturating_mul(1 << tries.min(16)).min(LONGEST))),
    }
}

/// Up to a quarter less, so that those who failed together do not come back together.
fn scattered(wait: Duration) -> Duration {
    let chance = u32::try_from(RandomState::new().hash_one(0_u8) % 256).expect("it is below 256");
    wait - wait * chance / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound_and_what_is_asked_for_is_kept() {
        for (tries, most) in [(0, 1), (1, 2), (2, 4), (5, 30), (60, 30)] {
            let most = Duration::from_secs(most);
            let waited = wait(tries, None).unwrap();
            assert!(waited <= most && waited >= most * 3 / 4, "{tries}: {waited:?}");
        }
        assert_eq!(wait(0, Some(Duration::from_secs(7))), Some(Duration::from_secs(7)));
        assert_eq!(wait(0, Some(Duration::from_secs(61))), None);
    }
}
