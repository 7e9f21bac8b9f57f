//! Which embedding endpoint an `up` asks, at this moment.

use std::sync::{Mutex, PoisonError};

use toolbay_gateway::{Bay, embeddings::Settings};

use crate::meaning;

/// Which endpoint is asked, at this moment.
pub(crate) struct Embedding {
    bay: Bay,
    settings: Mutex<Option<Settings>>,
}

impl Embedding {
    /// Begins with these settings.
    pub(crate) fn begin(bay: &Bay, settings: Option<Settings>) -> Self {
        let embedding = Self { bay: bay.clone(), settings: Mutex::new(settings.clone()) };
        if settings.is_some() {
            embedding.bay.embed_by(meaning::embedder(settings));
        }
        embedding
    }

    /// Goes on with others; whether they are others.
    pub(crate) fn take_on(&self, settings: Option<Settings>) -> bool {
        let before = {
            let mut held = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *held, settings.clone())
        };
        let changed = before != settings;
        if changed {
            self.bay.embed_by(meaning::embedder(settings));
        }
        changed
    }
}
