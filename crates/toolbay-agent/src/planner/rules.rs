//! By which rules is planned.

use toolbay_retrieval::{Scorer, Weights, slots::Day};

/// By which rules is planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// How tools are scored.
    pub scorer: Scorer,
    /// How near a tool must come to the best one to be a match too, from 0 (anything that fits) to 1 (the best alone).
    ///
    /// By [`Scorer::Weighted`] the scores themselves are compared, else what the words of the request add to them.
    pub threshold: f64,
    /// How arguments are read out of a request.
    pub reading: Reading,
    /// What 明天 or "tomorrow" is counted from.
    pub today: Option<Day>,
    /// How many tools one part of a request may lead to.
    pub most: usize,
}

/// How arguments are read out of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// By grammar and gazetteer, Chinese and English.
    #[default]
    Full,
    /// By the three prescribed regular expressions.
    Prescribed,
}

impl Default for Rules {
    fn default() -> Self {
        Self { scorer: Scorer::Best, threshold: 0.8, reading: Reading::Full, today: None, most: 8 }
    }
}

impl Rules {
    /// The prescribed rule and the prescribed expressions, exactly.
    pub fn prescribed() -> Self {
        Self { scorer: Scorer::Weighted(Weights::default()), reading: Reading::Prescribed, ..Self::default() }
    }
}
