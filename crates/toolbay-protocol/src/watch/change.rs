//! What can change, and who wants to know of it.

use std::collections::BTreeSet;

use crate::greeting::Profile;

/// Something that changed at a server. Two of the same kind say no more than one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// One resource, by its URI.
    Updated(String),
}

/// The changes that somebody wants to know of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of the list of tools.
    pub tools: bool,
    /// Of the list of prompts.
    pub prompts: bool,
    /// Of the list of resources.
    pub resources: bool,
    /// Of these resources.
    pub uris: BTreeSet<String>,
}

impl Filter {
    /// All three lists, no single resource: what a legacy session is told unasked.
    pub fn lists() -> Self {
        Self { tools: true, prompts: true, resources: true, uris: BTreeSet::new() }
    }

    /// One resource.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self { uris: BTreeSet::from([uri.into()]), ..Self::default() }
    }

    /// Whether `change` is wanted.
    pub fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Updated(uri) => self.uris.contains(uri),
        }
    }

    /// Every change that is wanted.
    pub fn changes(&self) -> impl Iterator<Item = Change> + '_ {
        let lists = [(self.tools, Change::Tools), (self.prompts, Change::Prompts), (self.resources, Change::Resources)];
        let lists = lists.into_iter().filter(|(wanted, _)| *wanted).map(|(_, change)| change);
        lists.chain(self.uris.iter().cloned().map(Change::Updated))
    }

    /// The part of it that a server of this profile can honour.
    #[must_use]
    pub fn honoured_by(mut self, profile: &Profile) -> Self {
        self.tools &= profile.declares(&["tools", "listChanged"]);
        self.prompts &= profile.declares(&["prompts", "listChanged"]);
        self.resources &= profile.declares(&["resources", "listChanged"]);
        if !profile.declares(&["resources", "subscribe"]) {
            self.uris.clear();
        }
        self
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        !self.tools && !self.prompts && !self.resources && self.uris.is_empty()
    }
}
