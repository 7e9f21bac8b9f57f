//! All that is served at one moment. It is never changed, only replaced whole; its lists are written once per revision.

use std::{collections::HashMap, sync::Arc, sync::OnceLock};

use toolbay_protocol::{
    Raw, Revision,
    types::{self, Conform},
};
use toolbay_transport::Caller;

use super::{
    output::Form,
    page::{self, Hints},
    prompt::PromptEntry,
    resource::{Lister, ResourceEntry, TemplateEntry},
    tool::ToolEntry,
    visible::{Item, Visible},
};

/// All that is served at one moment.
#[derive(Clone, Default)]
pub(crate) struct Registry {
    pub(crate) tools: Table<ToolEntry>,
    pub(crate) prompts: Table<PromptEntry>,
    pub(crate) resources: Table<ResourceEntry>,
    pub(crate) templates: Table<TemplateEntry>,
    pub(crate) lister: Option<Lister>,
}

/// Something that stands in a list.
pub(crate) trait Listed {
    /// Its protocol type.
    type Words: Conform + Clone + serde::Serialize;

    /// What it is found by.
    fn key(&self) -> &str;

    /// What the list says of it.
    fn words(&self) -> &Self::Words;

    /// What may be hidden of it.
    fn item(&self) -> Item<'_>;
}

/// Entries in the order in which they were added.
pub(crate) struct Table<E> {
    entries: Vec<Arc<E>>,
    places: HashMap<Box<str>, usize>,
    written: [OnceLock<Vec<Raw>>; REVISIONS],
    whole: [OnceLock<Raw>; REVISIONS],
}

const REVISIONS: usize = Revision::ALL.len();

impl<E> Clone for Table<E> {
    fn clone(&self) -> Self {
        // What was written belongs to the old one.
        Self { entries: self.entries.clone(), places: self.places.clone(), ..Self::default() }
    }
}

impl<E> Default for Table<E> {
    fn default() -> Self {
        Self { entries: Vec::new(), places: HashMap::new(), written: Default::default(), whole: Default::default() }
    }
}

impl<E: Listed> Table<E> {
    /// Adds an entry; says whether it was new, or took the place of one with the same key.
    pub(crate) fn put(&mut self, entry: Arc<E>) -> Added {
        self.forget();
        match self.places.get(entry.key()) {
            Some(place) => {
                self.entries[*place] = entry;
                Added::Replaced
            }
            None => {
                self.places.insert(entry.key().into(), self.entries.len());
                self.entries.push(entry);
                Added::New
            }
        }
    }

    /// Takes an entry out.
    pub(crate) fn take(&mut self, key: &str) -> Option<Arc<E>> {
        let place = self.places.remove(key)?;
        self.forget();
        let entry = self.entries.remove(place);
        self.places = self.entries.iter().enumerate().map(|(place, entry)| (entry.key().into(), place)).collect();
        Some(entry)
    }

    fn forget(&mut self) {
        if self.written.iter().any(|list| list.get().is_some()) {
            (self.written, self.whole) = Default::default();
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Arc<E>> {
        self.places.get(key).map(|place| &self.entries[*place])
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<E>> {
        self.entries.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Each entry as `revision` reads it, in order.
    pub(crate) fn written(&self, revision: Revision) -> &[Raw] {
        self.written[revision as usize].get_or_init(|| {
            self.entries.iter().map(|entry| Raw::of(&entry.words().clone().conformed(revision))).collect()
        })
    }

    /// Each entry that `caller` sees, as `revision` reads it, in order.
    pub(crate) fn seen(&self, revision: Revision, caller: &Caller, visible: &Visible) -> Vec<Raw> {
        let all = self.entries.iter().zip(self.written(revision));
        all.filter(|(entry, _)| visible.judge(caller, entry.item())).map(|(_, raw)| raw.clone()).collect()
    }

    /// The result that lists them all.
    pub(crate) fn whole(&self, key: &str, hints: &Hints, form: &Form) -> Raw {
        let list = || page::list(key, self.written(form.revision).iter(), None, hints, form);
        self.whole[form.revision as usize].get_or_init(list).clone()
    }
}

/// What adding came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// There was none under this name.
    New,
    /// It took the place of another.
    Replaced,
}

macro_rules! listed {
    ($entry:ty, $words:ident, $key:ident, $item:ident) => {
        impl Listed for $entry {
            type Words = types::$words;

            fn key(&self) -> &str {
                &self.words.$key
            }

            fn words(&self) -> &types::$words {
                &self.words
            }

            fn item(&self) -> Item<'_> {
                Item::$item(&self.words)
            }
        }
    };
}
listed!(ToolEntry, Tool, name, Tool);
listed!(PromptEntry, Prompt, name, Prompt);
listed!(ResourceEntry, Resource, uri, Resource);
listed!(TemplateEntry, ResourceTemplate, uri_template, Template);
