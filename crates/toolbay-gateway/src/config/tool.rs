//! What is said of an entry of the registry beside how it is reached: for whoever searches, and for the clock.

use std::time::SystemTime;

use crate::registry::Expiry;

/// What is said of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// What it is good for.
    pub description: Option<String>,
    /// What sort of tool it is.
    pub category: Option<String>,
    /// When it goes by itself.
    pub expires: Option<Expiry>,
}

impl Tool {
    /// Whether its time is over.
    pub fn is_over(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|expiry| expiry.is_over(now))
    }
}
