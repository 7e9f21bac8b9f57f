//! The servers that a bay has at one moment, and ways to them. A roster never changes, another one takes its place.

use std::{collections::HashMap, sync::Arc};

use foldhash::fast::RandomState;

use super::Inner;
use crate::{
    catalog::{Catalog, public_name},
    config::Isolation,
    servers::{Phase, Server},
};

/// The servers there are.
#[derive(Default)]
pub(super) struct Roster {
    pub(super) by_name: HashMap<Arc<str>, Arc<Server>, RandomState>,
    pub(super) order: Vec<Arc<Server>>,
    /// Whether any of them tells devices apart.
    pub(super) devices: bool,
}

impl Roster {
    pub(super) fn of(order: Vec<Arc<Server>>) -> Self {
        let by_name = order.iter().map(|server| (Arc::clone(&server.spec.name), Arc::clone(server))).collect();
        let devices = order.iter().any(|server| server.spec.isolation == Isolation::PerDevice);
        Self { by_name, order, devices }
    }
}

impl Inner {
    /// The servers, in the order of the configuration.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = Arc<Server>> {
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

    /// The server or entry that a public name is of, where that one is turned off.
    pub(crate) fn turned_off(&self, public: &str) -> Option<Arc<str>> {
        let prefix = public.split_once("__").map(|(server, _)| server);
        let off = self.in_order().filter(|server| server.is_off()).map(|server| Arc::clone(&server.spec.name));
        off.into_iter().find(|name| public == &**name || prefix == Some(&**name) || public == public_name(name, name))
    }

    /// A server that is lost and not back yet, where it is the one that `uri` was read from. Until it is back nobody else
    /// is asked instead: another's template may fit too, and would mean something else by it.
    pub(crate) fn reader_lost(&self, catalog: &Catalog, uri: &str) -> Option<Arc<str>> {
        if catalog.lists(uri) {
            return None;
        }
        let there = catalog.server_of(uri);
        let lost: Vec<_> = self.in_order().filter(|server| server.lost().is_some()).collect();
        if lost.is_empty() {
            return None;
        }
        let name = |server: &Arc<Server>| Arc::clone(&server.spec.name);
        let listed = lost.iter().find(|server| server.lost().is_some_and(|part| part.lists(uri)));
        listed.map(name).or_else(|| {
            // Of several whose templates it fits, the first one reads it.
            let before = self.in_order().take_while(|server| Some(&server.spec.name) != there);
            before
                .into_iter()
                .find(|server| server.lost().is_some_and(|part| part.fits(uri)))
                .map(|server| name(&server))
        })
    }
}
