//! The inverted index: for each term, the tools that hold it and how often, field by field.
//!
//! One tool is put in or taken out by itself; what is left is the same as if it had been built anew.

use std::sync::{Arc, OnceLock};

use foldhash::HashMap;

/// How many fields a tool has: name, description, arguments, server.
pub(crate) const FIELDS: usize = 4;

/// How often a tool holds a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    /// The place of the tool.
    pub(crate) tool: u32,
    /// How often, field by field.
    pub(crate) times: [u8; FIELDS],
}

/// The index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Postings {
    ids: HashMap<Arc<str>, u32>,
    terms: Vec<Term>,
    free: Vec<u32>,
    tools: Vec<Counted>,
    totals: [u64; FIELDS],
    count: usize,
    /// Worked out again after a change, with the first request.
    norms: OnceLock<Vec<[f32; FIELDS]>>,
}

#[derive(Clone, Debug)]
struct Term {
    text: Arc<str>,
    list: Vec<Posting>,
}

/// What is kept of a tool.
#[derive(Clone, Debug, Default)]
struct Counted {
    terms: Box<[u32]>,
    lengths: [u16; FIELDS],
}

impl Postings {
    /// Puts a tool's terms in at a free place.
    pub(crate) fn insert(&mut self, tool: u32, fields: &[Vec<&str>; FIELDS]) {
        let mut times: HashMap<u32, [u8; FIELDS]> = HashMap::default();
        let mut lengths = [0_u16; FIELDS];
        for (field, terms) in fields.iter().enumerate() {
            lengths[field] = u16::try_from(terms.len()).unwrap_or(u16::MAX);
            for term in terms {
                let id = self.id_of(term);
                let counted = &mut times.entry(id).or_default()[field];
                *counted = counted.saturating_add(1);
            }
        }
        for (&id, &times) in &times {
            let list = &mut self.terms[id as usize].list;
            let at = list.partition_point(|posting| posting.tool < tool);
            list.insert(at, Posting { tool, times });
        }
        let place = tool as usize;
        if self.tools.len() <= place {
            self.tools.resize(place + 1, Counted::default());
        }
        self.tools[place] = Counted { terms: times.into_keys().collect(), lengths };
        self.count += 1;
        self.norms = OnceLock::new();
        for (total, length) in self.totals.iter_mut().zip(lengths) {
            *total += u64::from(length);
        }
    }

    /// Takes the terms of the tool at that place out.
    pub(crate) fn remove(&mut self, tool: u32) {
        let counted = std::mem::take(&mut self.tools[tool as usize]);
        for &id in &counted.terms {
            let term = &mut self.terms[id as usize];
            if let Ok(at) = term.list.binary_search_by_key(&tool, |posting| posting.tool) {
                term.list.remove(at);
            }
            if term.list.is_empty() {
                self.ids.remove(&term.text);
                term.list = Vec::new();
                self.free.push(id);
            }
        }
        self.count -= 1;
        self.norms = OnceLock::new();
        for (total, length) in self.totals.iter_mut().zip(counted.lengths) {
            *total -= u64::from(length);
        }
    }

    /// The tools that hold the term.
    pub(crate) fn list(&self, term: &str) -> &[Posting] {
        self.ids.get(term).map_or(&[], |&id| &self.terms[id as usize].list)
    }

    /// What the tool at that place holds of the term.
    pub(crate) fn times(&self, term: &str, tool: u32) -> Option<[u8; FIELDS]> {
        let list = self.list(term);
        let at = list.binary_search_by_key(&tool, |posting| posting.tool).ok()?;
        Some(list[at].times)
    }

    /// What once in each field is worth at each place: less in a long field than in a short one.
    pub(crate) fn norms(&self, of: impl Fn(usize, f32) -> f32) -> &[[f32; FIELDS]] {
        self.norms.get_or_init(|| {
            let count = self.count.max(1) as f32;
            let means = self.totals.map(|total| (total as f32 / count).max(1e-3));
            let norm = |lengths: [u16; FIELDS]| {
                std::array::from_fn(|field| of(field, f32::from(lengths[field]) / means[field]))
            };
            self.tools.iter().map(|tool| norm(tool.lengths)).collect()
        })
    }

    /// How many tools there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// One more than the last place in use.
    pub(crate) fn places(&self) -> usize {
        self.tools.len()
    }

    fn id_of(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let text: Arc<str> = text.into();
        let term = Term { text: Arc::clone(&text), list: Vec::new() };
        let id = match self.free.pop() {
            Some(id) => {
                self.terms[id as usize] = term;
                id
            }
            None => {
                self.terms.push(term);
                u32::try_from(self.terms.len() - 1).expect("terms are held in memory, far fewer than u32 counts")
            }
        };
        self.ids.insert(text, id);
        id
    }
}
