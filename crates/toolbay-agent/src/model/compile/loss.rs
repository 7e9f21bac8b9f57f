//! What is not the same in a provider's words.

use std::fmt;

use serde::Serialize;

/// What became of a piece of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// Where in the input schema, as a JSON pointer; empty for the whole tool.
    pub at: String,
    /// How much it matters.
    pub severity: Severity,
    /// What became of it, in words.
    pub what: String,
}

/// How much a loss matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Said in other words; the model sees the same.
    Note,
    /// The model sees less than the server wrote; it is enforced here, where arguments are checked.
    Lossy,
    /// The model is not told by a schema what the tool takes.
    NotPortable,
}

impl fmt::Display for Severity {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Note => "note",
            Self::Lossy => "lossy",
            Self::NotPortable => "not portable",
        })
    }
}

/// So many are told of one tool; of 2 MB of flaws nobody reads more.
const MOST: usize = 50;

/// The losses of one tool, each told once.
#[derive(Debug, Default)]
pub(super) struct Losses {
    told: Vec<Loss>,
    more: usize,
}

impl Losses {
    pub(super) fn add(&mut self, severity: Severity, at: &str, what: impl Into<String>) {
        let loss = Loss { at: at.to_owned(), severity, what: what.into() };
        if self.told.len() >= MOST {
            // The worst must not be lost among the many.
            if severity == Severity::NotPortable {
                self.told.push(loss);
            } else {
                self.more += 1;
            }
        } else if !self.told.contains(&loss) {
            self.told.push(loss);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Loss> {
        if self.more > 0 {
            let what = format!("{} more of its kind", self.more);
            self.told.push(Loss { at: String::new(), severity: Severity::Note, what });
        }
        self.told
    }
}
