//! What we say of ourselves to a server, and what we hear of it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use serde_json::json;
use toolbay_protocol::{Raw, Revision, greeting::Introduction, watch::Change};
use toolbay_transport::{Approach, Listener};

/// Whether servers may ask for the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offer {
    /// They may not.
    #[default]
    NoModel,
    /// They may, without tools.
    Model,
    /// They may, with tools of their own.
    ModelWithTools,
}

/// Hears that what a server lists has changed.
#[derive(Clone, Debug, Default)]
pub struct Changes(Arc<AtomicU64>);

impl Changes {
    /// How many there were.
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl Listener for Changes {
    fn changed(&self, change: Change) {
        match change {
            Change::Tools | Change::Prompts | Change::Resources => {
                self.0.fetch_add(1, Ordering::AcqRel);
            }
            Change::Updated(_) | Change::Task(_) | Change::Said(_) => {}
        }
    }
}

/// How a server is approached by a host that has a person: forms, pages and roots are answered, and the model is lent as
/// offered. What is heard of changes belongs to [`Reach::over`](super::Reach::over).
pub fn approach(name: &str, version: &str, offer: Offer) -> (Approach, Changes) {
    let mut capabilities = json!({"elicitation": {"form": {}, "url": {}}, "roots": {}});
    match offer {
        Offer::NoModel => {}
        Offer::Model => capabilities["sampling"] = json!({}),
        Offer::ModelWithTools => capabilities["sampling"] = json!({"tools": {}}),
    }
    let us = Introduction {
        client: Some(Raw::of(&json!({"name": name, "version": version}))),
        capabilities: Raw::of(&capabilities),
        ..Introduction::anonymous(Revision::LATEST)
    };
    let changes = Changes::default();
    (Approach::new(us).heard_by(Arc::new(changes.clone())), changes)
}
