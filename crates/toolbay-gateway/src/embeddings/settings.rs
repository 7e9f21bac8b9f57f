//! How the endpoint is reached, and how it is asked.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::config::{Secret, Url};

/// The most numbers that a vector may have.
pub(super) const WIDEST: usize = 8192;

/// How the endpoint is reached, and how it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Its whole address, as `http://127.0.0.1:11434/v1/embeddings`.
    pub url: Url,
    /// The model's name, as the endpoint knows it.
    pub model: String,
    /// Sent as `Authorization: Bearer`, where there is one.
    pub key: Option<Secret>,
    /// How many numbers a vector is to have; the endpoint decides where nothing is said.
    pub dimensions: Option<usize>,
    /// How many tools are sent at once.
    pub batch: usize,
    /// How long one answer about tools may take.
    pub timeout: Duration,
    /// How long one search waits for the request's vector.
    pub budget: Duration,
    /// What the model wants written before a request.
    pub query: String,
    /// What the model wants written before a text.
    pub passage: String,
}

impl Settings {
    /// That model at that address, asked as most are.
    pub fn new(url: Url, model: impl Into<String>) -> Self {
        Self {
            url,
            model: model.into(),
            key: None,
            dimensions: None,
            batch: 32,
            timeout: Duration::from_secs(30),
            budget: Duration::from_millis(150),
            query: String::new(),
            passage: String::new(),
        }
    }

    /// What says whose vectors these are: of one address, model and width.
    pub(super) fn identity(&self) -> [u8; 32] {
        let width = self.dimensions.unwrap_or(0).to_string();
        let parts = [self.url.uri().to_string(), self.model.clone(), width];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}
