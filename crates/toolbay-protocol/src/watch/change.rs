//! What can change, and who wants to know of it.

use std::{
    cmp::Ordering,
    collections::BTreeSet,
    hash::{Hash, Hasher},
};

use crate::{exchange::Note, greeting::Profile, method::TASKS, raw::Raw};

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
    /// One task (extension).
    Task(TaskChange),
    /// No change, but something else that a session is told without having asked for it (handshake).
    Said(Saying),
}

/// A notification that belongs to no request, and its place among others of its kind.
#[derive(Clone, Debug)]
pub struct Saying {
    /// Its place.
    pub place: u64,
    /// What is said.
    pub note: Note,
}

impl PartialEq for Saying {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for Saying {}

impl Hash for Saying {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place.hash(state);
    }
}

impl Ord for Saying {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place.cmp(&other.place)
    }
}

impl PartialOrd for Saying {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Where a task stands now. Of two about the same task only the later one says anything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskChange {
    /// Which task.
    pub id: String,
    /// All that `tasks/get` would say of it, as an object.
    pub state: Raw,
}

impl Ord for TaskChange {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(&other.id).then_with(|| self.state.as_bytes().cmp(other.state.as_bytes()))
    }
}

impl PartialOrd for TaskChange {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Change {
    /// Whether nothing is lost where this one is told in place of `earlier`.
    pub fn supersedes(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::Task(now), Self::Task(before)) => now.id == before.id,
            (now, before) => now == before,
        }
    }
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
    /// Of these tasks (extension).
    pub tasks: BTreeSet<String>,
}

impl Filter {
    /// All three lists, no single resource: what a legacy session is told unasked.
    pub fn lists() -> Self {
        Self { tools: true, prompts: true, resources: true, ..Self::default() }
    }

    /// One resource.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self { uris: BTreeSet::from([uri.into()]), ..Self::default() }
    }

    /// One task.
    pub fn task(id: impl Into<String>) -> Self {
        Self { tasks: BTreeSet::from([id.into()]), ..Self::default() }
    }

    /// Whether `change` is wanted.
    pub fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Updated(uri) => self.uris.contains(uri),
            Change::Task(task) => self.tasks.contains(&task.id),
            // Nobody asks for it: whoever says it knows to whom.
            Change::Said(_) => false,
        }
    }

    /// Every change that is wanted and can be told without more: where a task stands, only its server knows.
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
        if !profile.declares(&["extensions", TASKS]) {
            self.tasks.clear();
        }
        self
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        !self.tools && !self.prompts && !self.resources && self.uris.is_empty() && self.tasks.is_empty()
    }
}
