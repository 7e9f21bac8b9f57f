//! What was asked lately, so that the same is not searched again: word by word the same, or in other words that overlap.
//!
//! For the discovery of tools only. What a tool answers is never taken from here: "from A to B" and "from B to A" overlap.

use std::{
    collections::{BTreeSet, VecDeque},
    time::{Duration, SystemTime},
};

use toolbay_retrieval::{jaccard, plain_words};

/// How many queries are remembered.
const MOST: usize = 256;

/// Queries of the last moments, each with its answer.
#[derive(Clone, Debug)]
pub(super) struct Asked<T> {
    queries: VecDeque<Query<T>>,
    cooldown: Duration,
    similarity: f64,
}

#[derive(Clone, Debug)]
struct Query<T> {
    text: String,
    words: BTreeSet<String>,
    at: SystemTime,
    answer: T,
}

impl<T: Clone> Asked<T> {
    /// Remembers each query for `cooldown`; one whose words overlap with an earlier one's by `similarity` is the same.
    pub(super) fn new(cooldown: Duration, similarity: f64) -> Self {
        Self { queries: VecDeque::new(), cooldown, similarity }
    }

    /// The answer to the same query, and how that was put.
    pub(super) fn answered(&mut self, query: &str, now: SystemTime) -> Option<(String, T)> {
        let cooldown = self.cooldown;
        // A clock that was set back does not make a query last longer.
        self.queries.retain(|before| now.duration_since(before.at).is_ok_and(|age| age < cooldown));
        let text = normal(query);
        let exact = self.queries.iter().rev().find(|before| before.text == text);
        let words = plain_words(query);
        let alike = || self.queries.iter().rev().find(|before| jaccard(&before.words, &words) >= self.similarity);
        exact.or_else(alike).map(|before| (before.text.clone(), before.answer.clone()))
    }

    /// Remembers an answer.
    pub(super) fn remember(&mut self, query: &str, now: SystemTime, answer: T) {
        if self.queries.len() >= MOST {
            self.queries.pop_front();
        }
        self.queries.push_back(Query { text: normal(query), words: plain_words(query), at: now, answer });
    }
}

/// Without what makes no difference.
fn normal(query: &str) -> String {
    query.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
