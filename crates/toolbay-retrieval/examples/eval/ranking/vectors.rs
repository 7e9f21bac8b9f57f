//! Vectors of a model, written beforehand by the `embed` example of the gateway.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use toolbay_retrieval::{Encoder, Index, SelfTest};

use super::corpus::{Corpus, tools_of};

/// The vectors of a set.
pub(super) struct Vectors {
    encoder: Encoder,
    tools: Vec<Vec<f32>>,
    queries: Vec<Vec<f32>>,
}

impl Vectors {
    pub(super) fn read(folder: &Path, set: &Corpus) -> Result<Self> {
        let test = SelfTest::new();
        let requests = rows(&folder.join("self-test.queries.f32"), test.requests.len())?;
        let texts = rows(&folder.join("self-test.tools.f32"), test.texts.len())?;
        let encoder = test.encoder(&requests, &texts).context("the vectors of the self-test are of other texts")?;
        Ok(Self {
            encoder,
            tools: rows(&folder.join(format!("{}.tools.f32", tools_of(set.name))), set.tools.len())?,
            queries: rows(&folder.join(format!("{}.queries.f32", set.name)), set.queries.len())?,
        })
    }

    /// Keeps the vectors of the tools in the index.
    pub(super) fn keep(&self, set: &Corpus, index: &mut Index) {
        index.set_encoder(self.encoder.clone());
        for (tool, vector) in set.tools.iter().zip(&self.tools) {
            index.set_vector(&tool.id, vector);
        }
    }

    /// The vector of a query, by its place in the file.
    pub(super) fn of_query(&self, at: usize) -> &[f32] {
        &self.queries[at]
    }
}

fn rows(path: &Path, count: usize) -> Result<Vec<Vec<f32>>> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let numbers: Vec<f32> =
        bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
    ensure!(count > 0 && numbers.len().is_multiple_of(count), "{} does not hold {count} rows", path.display());
    Ok(numbers.chunks_exact(numbers.len() / count).map(<[f32]>::to_vec).collect())
}
