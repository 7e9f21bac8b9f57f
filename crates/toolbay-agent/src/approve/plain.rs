//! Rules that need no configuration. They remember as long as they live.

use super::rules::Rules;

/// A person is asked for every call, until they decided for a tool.
pub type AskAll = Rules;

/// As [`AskAll`], and what changes nothing may be called on servers that are trusted.
#[derive(Clone, Copy, Debug)]
pub struct ReadOnly;

impl ReadOnly {
    /// On these servers.
    pub fn of<S: Into<String>>(trusted: impl IntoIterator<Item = S>) -> Rules {
        Rules::default().trusting(trusted)
    }
}
