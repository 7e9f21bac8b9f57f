//! What goes wrong is told once, and that it goes on as well; not each time.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// How long nothing new is told of an endpoint that comes and goes.
const QUIET: Duration = Duration::from_secs(60);

/// What is wrong at the moment.
#[derive(Debug, Default)]
pub(super) struct Notices(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    fault: Option<String>,
    /// Whether this fault was told.
    told: bool,
    last: Option<Instant>,
    /// Whether a search was told of it.
    noted: bool,
    last_note: Option<Instant>,
}

impl Notices {
    /// Hears of a fault; whether it is to be told.
    pub(super) fn fails(&self, why: &str, now: Instant) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = state.fault.is_none();
        state.fault = Some(why.to_owned());
        let quiet = state.last.is_some_and(|last| now < last + QUIET);
        let tell = (new || !state.told) && !quiet;
        if tell {
            (state.told, state.last) = (true, Some(now));
        }
        tell
    }

    /// Hears that it goes on; whether that is to be told.
    pub(super) fn goes_on(&self) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (state.fault, state.noted) = (None, false);
        std::mem::take(&mut state.told)
    }

    /// What is wrong, for the first search that has to do without.
    pub(super) fn note(&self, now: Instant) -> Option<String> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = state.fault.clone()?;
        if state.noted || state.last_note.is_some_and(|last| now < last + QUIET) {
            return None;
        }
        (state.noted, state.last_note) = (true, Some(now));
        Some(fault)
    }

    /// What is wrong.
    pub(super) fn fault(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fault.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_once_and_so_is_its_end() {
        let (notices, start) = (Notices::default(), Instant::now());
        assert!(!notices.goes_on());
        assert!(notices.fails("down", start) && !notices.fails("still down", start + QUIET));
        assert_eq!(notices.fault().as_deref(), Some("still down"));
        assert_eq!(notices.note(start).as_deref(), Some("still down"));
        assert_eq!(notices.note(start + QUIET * 2), None);
        assert!(notices.goes_on() && !notices.goes_on());
        assert_eq!((notices.fault(), notices.note(start)), (None, None));
        assert!(!notices.fails("down", start + QUIET / 2), "it comes and goes");
        assert!(!notices.goes_on());
        assert!(notices.fails("down", start + QUIET));
    }
}
