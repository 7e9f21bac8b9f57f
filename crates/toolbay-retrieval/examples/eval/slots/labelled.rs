//! Utterances with what is to be found in them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;
use toolbay_retrieval::slots::Kind;

/// One utterance.
pub(super) struct Labelled {
    /// What is said.
    pub(super) text: String,
    /// What is to be found, and nothing else: the values that count as right, none where there is nothing to find.
    pub(super) wanted: BTreeMap<Kind, Vec<String>>,
}

impl Labelled {
    /// Whether all kinds were looked for and none is there.
    pub(super) fn is_negative(&self) -> bool {
        self.wanted.len() == KINDS.len() && self.wanted.values().all(Vec::is_empty)
    }
}

const KINDS: [Kind; 6] = [Kind::City, Kind::Origin, Kind::Destination, Kind::Location, Kind::Query, Kind::Date];

/// Reads the corpus.
pub(super) fn corpus(file: &Path) -> Result<Vec<Labelled>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    rows(&text)
}

/// Reads utterances, one JSON object a line.
pub(super) fn rows(text: &str) -> Result<Vec<Labelled>> {
    text.lines().filter(|line| !line.trim().is_empty()).map(row).collect()
}

fn row(line: &str) -> Result<Labelled> {
    let value: Value = serde_json::from_str(line)?;
    let labelled: Vec<&str> = value["labelled"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut wanted = BTreeMap::new();
    for kind in KINDS {
        if labelled.is_empty() || labelled.contains(&kind.name()) {
            wanted.insert(kind, values(&value["slots"][kind.name()]));
        }
    }
    let text = value["text"].as_str().context("an utterance without text")?.to_owned();
    Ok(Labelled { text, wanted })
}

fn values(value: &Value) -> Vec<String> {
    match value {
        Value::String(one) => vec![one.clone()],
        Value::Array(many) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
