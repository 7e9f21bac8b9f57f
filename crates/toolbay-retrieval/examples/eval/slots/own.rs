//! Sentences written for this measurement, with what is to be found in them, and some that say nothing of the kind.

use anyhow::Result;

use super::labelled::{self, Labelled};

/// Sentences with slots; all kinds count in each.
pub(super) fn rows() -> Result<Vec<Labelled>> {
    labelled::rows(include_str!("own.jsonl"))
}

/// Sentences without.
pub(super) fn negatives() -> Vec<&'static str> {
    include_str!("negatives.txt").lines().filter(|line| !line.is_empty()).collect()
}
