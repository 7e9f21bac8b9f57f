//! The servers that a bay has at one moment, and ways to them. A roster never changes, another one takes its place.

use std::{collections::HashMap, sync::Arc};

use foldhash::fast::RandomState;

use super::Inner;
use crate::servers::{Phase, Server};

/// The servers there are.
#[derive(Default)]
pub(super) struct Roster {
    pub(super) by_name: HashMap<Arc<str>, Arc<Server>, RandomState>,
    pub(super) order: Vec<Arc<Server>>,
}

impl Roster {
    pub(super) fn of(order: Vec<Arc<Server>>) -> Self {
        let by_name = order.iter().map(|server| (Arc::clone(&server.spec.name), Arc::clone(server))).collect();
        Self { by_name, order }
    }
}

impl Inner {
    /// The servers, in the order of the configuration.
    pub(super) fn in_order(&self) -> impl Iterator<Item = Arc<Server>> {
        let roster = self.roster.load_full();
        (0..roster.order.len()).map(move |place| Arc::clone(&roster.order[place]))
    }

    /// The server of that name.
    pub(crate) fn server(&self, name: &str) -> Option<Arc<Server>> {
        self.roster.load().by_name.get(name).map(Arc::clone)
    }

    /// Its name, as all others hold it.
    pub(crate) fn server_named(&self, name: &str) -> Option<Arc<str>> {
        self.roster.load().by_name.get_key_value(name).map(|(name, _)| Arc::clone(name))
    }

    /// The server that a public name is of, where that one was not there yet: nobody knows whether it offers such a thing.
    pub(crate) fn away(&self, public: &str) -> Option<Arc<str>> {
        let server = self.server(public.split_once("__")?.0)?;
        let away = matches!(server.status().phase, Phase::Connecting | Phase::Failed(_));
        (away && server.lost().is_none()).then(|| Arc::clone(&server.spec.name))
    }
}
