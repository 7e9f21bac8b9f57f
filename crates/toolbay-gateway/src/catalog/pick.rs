//! The tools of a catalog that answer a request in words best. An index is made when the first request comes, and brought
//! from one catalog to the next by what differs.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError, RwLock, Weak},
};

use tokio::sync::watch;
use toolbay_protocol::Raw;
use toolbay_retrieval::{Found as Picked, Index, Query, Tool};

use super::merge::{Catalog, Found, Listed};
use crate::embeddings::Meaning;

/// How many catalogs have an index at the same time: that of everybody, and those of callers with a view of their own.
const KEPT: usize = 8;
/// How much of a tool is read: what a tool says of itself is no reason to wait.
const DESCRIPTION: usize = 4096;
const PARAMS: usize = 64;
const PARAM: usize = 512;

/// The indexes there are; the one that was asked last is the last.
#[derive(Debug, Default)]
pub(crate) struct Picks {
    slots: Mutex<Vec<Slot>>,
    /// Counts how often a search brought an index to another catalog.
    pub(super) followed: watch::Sender<u64>,
}

/// What is asked of an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) query: &'a str,
    /// What a model makes of that, where there is one.
    pub(crate) meaning: &'a Meaning,
    pub(crate) server: Option<&'a str>,
    pub(crate) limit: usize,
}

#[derive(Debug)]
struct Slot {
    catalog: Arc<Catalog>,
    pick: Arc<RwLock<Pick>>,
}

impl Picks {
    /// The tools that answer best.
    pub(crate) fn search(&self, catalog: &Arc<Catalog>, wanted: Wanted<'_>) -> Picked {
        let pick = self.of(catalog);
        {
            let pick = pick.read().unwrap_or_else(PoisonError::into_inner);
            if pick.is_of(catalog) {
                return pick.search(wanted);
            }
        }
        let mut pick = pick.write().unwrap_or_else(PoisonError::into_inner);
        pick.follow(catalog);
        self.followed.send_modify(|count| *count += 1);
        pick.search(wanted)
    }

    /// The catalogs that have an index.
    pub(super) fn catalogs(&self) -> Vec<Weak<Catalog>> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.iter().map(|slot| Arc::downgrade(&slot.catalog)).collect()
    }

    /// The index of a catalog, where it has one.
    pub(super) fn known(&self, catalog: &Arc<Catalog>) -> Option<Arc<RwLock<Pick>>> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.iter().find(|slot| Arc::ptr_eq(&slot.catalog, catalog)).map(|slot| Arc::clone(&slot.pick))
    }

    /// The index that is nearest to a catalog: its own, else the last one whose catalog nobody is offered any more.
    pub(super) fn of(&self, catalog: &Arc<Catalog>) -> Arc<RwLock<Pick>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let own = slots.iter().position(|slot| Arc::ptr_eq(&slot.catalog, catalog));
        let forgotten = || slots.iter().rposition(|slot| Arc::strong_count(&slot.catalog) == 1);
        let oldest = || (slots.len() >= KEPT).then_some(0);
        let slot = match own.or_else(forgotten).or_else(oldest) {
            Some(place) => Slot { catalog: Arc::clone(catalog), pick: slots.remove(place).pick },
            None => Slot { catalog: Arc::clone(catalog), pick: Arc::default() },
        };
        let pick = Arc::clone(&slot.pick);
        slots.push(slot);
        pick
    }
}

/// An index, and what stands in it.
#[derive(Debug, Default)]
pub(super) struct Pick {
    pub(super) index: Index,
    held: HashMap<String, (Arc<str>, Raw)>,
    of: Weak<Catalog>,
    /// The tools of which nobody has said yet what a model makes of them.
    pub(super) bare: HashSet<String>,
    /// The stamp of the space that the vectors in the index are of.
    pub(super) stamp: u64,
}

impl Pick {
    fn search(&self, wanted: Wanted<'_>) -> Picked {
        let query = Query::new(wanted.query).limit(wanted.limit);
        let query = match wanted.server {
            Some(server) => query.on(server),
            None => query,
        };
        // Vectors of two models cannot be compared.
        match wanted.meaning.vector().filter(|_| wanted.meaning.stamp == self.stamp) {
            Some(vector) => self.index.search(&query.vector(vector)),
            None => self.index.search(&query),
        }
    }

    /// Takes every vector out: those that come are of another space.
    pub(super) fn undress(&mut self, stamp: u64) {
        self.index.forget_encoder();
        self.bare = self.held.keys().cloned().collect();
        self.stamp = stamp;
    }

    pub(super) fn is_of(&self, catalog: &Arc<Catalog>) -> bool {
        // The weak one keeps the place from being another's.
        Weak::as_ptr(&self.of) == Arc::as_ptr(catalog)
    }

    /// Takes on what another catalog has that this one has not, and the other way round; how many it put in, and took out.
    pub(super) fn follow(&mut self, catalog: &Arc<Catalog>) -> (usize, usize) {
        let (mut new, mut gone) = (0, 0);
        if self.is_of(catalog) {
            return (new, gone);
        }
        let Self { index, held, of, bare, stamp: _ } = self;
        held.retain(|public, (server, definition)| {
            let there = catalog.find(Listed::Tools, public);
            let same = there.is_some_and(|there| there.server == *server && alike(&there.definition, definition));
            if !same {
                index.remove(public);
                bare.remove(public);
                gone += 1;
            }
            same
        });
        for (public, found) in catalog.iter(Listed::Tools) {
            if !held.contains_key(public) {
                index.insert(&read(public, found));
                new += 1;
                bare.insert(public.to_owned());
                held.insert(public.to_owned(), (Arc::clone(&found.server), found.definition.clone()));
            }
        }
        *of = Arc::downgrade(catalog);
        (new, gone)
    }
}

/// Whether two definitions are one: most are slices of the same list, and need not be read for that.
fn alike(one: &Raw, other: &Raw) -> bool {
    std::ptr::eq(one.as_bytes(), other.as_bytes()) || one == other
}

/// A tool as the search reads it.
pub(super) fn read(public: &str, found: &Found) -> Tool {
    let [title, description, schema] = found.definition.find(["title", "description", "inputSchema"]);
    let text = |member: Option<&Raw>, most: usize| {
        let text = member.and_then(Raw::as_text).unwrap_or_default();
        text[..text.floor_char_boundary(most)].to_owned()
    };
    let (name, title) = (found.name.as_text().unwrap_or_default(), text(title.as_ref(), PARAM));
    let description = text(description.as_ref(), DESCRIPTION);
    let description = if title.is_empty() { description } else { format!("{title}. {description}") };
    let tool = Tool::new(public, name, description).on(&*found.server);
    let properties = schema.and_then(|schema| schema.get("properties")).unwrap_or(Raw::EMPTY);
    properties.members().take(PARAMS).fold(tool, |tool, member| {
        let says = text(member.value.get("description").as_ref(), PARAM);
        tool.param(member.key, says)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbay_protocol::Revision;
    use toolbay_retrieval::Fit;

    use super::*;
    use crate::catalog::Part;

    fn catalog(tools: &[(&str, &str)]) -> Arc<Catalog> {
        let mut part = Part::empty("s".into(), Revision::LATEST);
        let tool = |(name, description): &(&str, &str)| {
            let definition = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
            ((*name).to_owned(), Raw::of(&definition))
        };
        part.tools = tools.iter().map(tool).collect();
        Arc::new(Catalog::of([part].iter()).0)
    }

    fn search(picks: &Picks, catalog: &Arc<Catalog>, query: &str) -> Picked {
        picks.search(catalog, Wanted { query, meaning: &Meaning::default(), server: None, limit: 5 })
    }

    const SKY: (&str, &str) = ("forecast", "The weather of the next days in a city");
    const MAIL: (&str, &str) = ("send_mail", "Sends a message to an address");

    #[test]
    fn an_index_follows_from_one_catalog_to_the_next() {
        let picks = Picks::default();
        let best = |catalog: &Arc<Catalog>, query: &str| {
            let found = search(&picks, catalog, query);
            (found.fit == Fit::Good).then(|| found.hits[0].id.to_string())
        };
        let one = catalog(&[SKY]);
        assert_eq!(best(&one, "weather forecast").as_deref(), Some("s__forecast"));
        assert_eq!(best(&one, "send a mail message"), None);
        let two = catalog(&[SKY, MAIL]);
        assert_eq!(best(&two, "send a mail message").as_deref(), Some("s__send_mail"));
        // Both are offered to somebody: each has its own.
        assert_eq!(best(&one, "send a mail message"), None);
        assert_eq!(picks.slots.lock().unwrap().len(), 2);
        drop((one, two));
        let three = catalog(&[MAIL]);
        assert_eq!(best(&three, "weather forecast"), None);
        assert_eq!(picks.slots.lock().unwrap().len(), 2, "the place of one that is gone is taken");
        let many: Vec<_> = (0..KEPT * 2).map(|_| catalog(&[SKY])).collect();
        assert!(many.iter().all(|one| best(one, "weather forecast").is_some()));
        assert_eq!(picks.slots.lock().unwrap().len(), KEPT);
    }

    #[test]
    fn a_tool_that_changed_is_found_by_what_it_says_now() {
        let picks = Picks::default();
        let before = catalog(&[("x", MAIL.1), SKY]);
        assert_eq!(&*search(&picks, &before, "send a message").hits[0].id, "s__x");
        drop(before);
        let after = catalog(&[("x", "Adds two numbers"), SKY]);
        let found = search(&picks, &after, "add two numbers");
        assert_eq!((found.fit, &*found.hits[0].id), (Fit::Good, "s__x"));
        assert_eq!(search(&picks, &after, "send a message").fit, Fit::Nothing);
    }

    #[test]
    fn one_more_tool_among_many_is_one_step() {
        let names: Vec<_> = (0..301).map(|place| format!("tool_{place}")).collect();
        let tools: Vec<_> = names.iter().map(|name| (name.as_str(), SKY.1)).collect();
        let mut pick = Pick::default();
        let (fewer, more) = (catalog(&tools[..300]), catalog(&tools));
        let steps = [&fewer, &more, &more, &fewer].map(|catalog| pick.follow(catalog));
        assert_eq!(steps, [(300, 0), (1, 0), (0, 0), (0, 1)]);
    }
}
