//! What is asked of an index, and what it answers.

use std::fmt;
use std::sync::Arc;

use crate::weighted::{Breakdown, Weights};

/// A request for tools.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    pub(crate) text: &'a str,
    pub(crate) server: Option<&'a str>,
    pub(crate) limit: usize,
    pub(crate) scorer: Scorer,
    pub(crate) vector: Option<&'a [f32]>,
    pub(crate) only: Option<Only<'a>>,
}

/// Which tools may be found at all.
#[derive(Clone, Copy)]
pub(crate) struct Only<'a>(&'a dyn Fn(&str) -> bool);

impl Only<'_> {
    pub(crate) fn admits(&self, id: &str) -> bool {
        (self.0)(id)
    }
}

impl fmt::Debug for Only<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Only(..)")
    }
}

/// How tools are scored.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scorer {
    /// Words and what they are about, and a model's vectors where the caller has them.
    #[default]
    Best,
    /// Words alone.
    Words,
    /// The prescribed rule.
    Weighted(Weights),
}

impl<'a> Query<'a> {
    /// Five tools at most, of any server, by the best scorer.
    pub fn new(text: &'a str) -> Self {
        Self { text, server: None, limit: 5, scorer: Scorer::Best, vector: None, only: None }
    }

    /// Only tools of that server.
    #[must_use]
    pub fn on(mut self, server: &'a str) -> Self {
        self.server = Some(server);
        self
    }

    /// Only tools whose id is admitted: what a caller may not see is not found.
    #[must_use]
    pub fn only(mut self, admits: &'a dyn Fn(&str) -> bool) -> Self {
        self.only = Some(Only(admits));
        self
    }

    /// At most so many tools.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Scored that way.
    #[must_use]
    pub fn by(mut self, scorer: Scorer) -> Self {
        self.scorer = scorer;
        self
    }

    /// With the request's vector, by the encoder the index was told of.
    #[must_use]
    pub fn vector(mut self, vector: &'a [f32]) -> Self {
        self.vector = Some(vector);
        self
    }
}

/// The answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best first.
    pub hits: Vec<Hit>,
    /// Whether the best is good enough to be offered.
    pub fit: Fit,
}

/// Whether what was found answers the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The best tool is a good answer.
    Good,
    /// Nothing found is a good answer; the hits are the nearest there is.
    Nothing,
}

/// A tool that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The tool's id.
    pub id: Arc<str>,
    /// Higher is better; comparable within one answer only.
    pub score: f64,
    /// How the score came about.
    pub parts: Parts,
}

/// How a score came about.
#[derive(Clone, Debug, PartialEq)]
pub enum Parts {
    /// By [`Scorer::Best`] or [`Scorer::Words`]; the three parts add up to the score.
    Best {
        /// What the words gave.
        words: f64,
        /// What nearness in the built-in table gave.
        about: f64,
        /// What nearness by the caller's model gave.
        model: f64,
        /// The words of the request the tool answers.
        matched: Vec<Matched>,
    },
    /// By [`Scorer::Weighted`].
    Weighted(Breakdown),
}

/// A word of the request that the tool answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Matched {
    /// The word, as asked.
    pub word: String,
    /// The term in the tool that answers it: the word's stem, its English, or what stands for it.
    pub term: String,
    /// What it adds to the score of the words.
    pub score: f64,
}
