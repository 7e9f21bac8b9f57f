//! The index itself: tools are put in and taken out, one by one.

use std::sync::Arc;

use foldhash::HashMap;

use crate::bm25::Postings;
use crate::encoder::Encoder;
use crate::meaning;
use crate::table;
use crate::tokens::Language;
use crate::tool::Tool;
use crate::vectors::Space;
use crate::weighted::ToolWords;

use super::read::Read;

/// An index of tools.
#[derive(Clone, Debug)]
pub struct Index {
    places: HashMap<Arc<str>, u32>,
    pub(super) tools: Vec<Option<Held>>,
    free: Vec<u32>,
    pub(super) postings: Postings,
    pub(super) about: Space,
    pub(super) model: Option<(Encoder, Space)>,
}

/// What is kept of a tool beside its words.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) id: Arc<str>,
    pub(super) server: Arc<str>,
    language: Language,
    pub(super) plain: ToolWords,
}

impl Default for Index {
    fn default() -> Self {
        Self::new()
    }
}

impl Index {
    /// An index without tools.
    pub fn new() -> Self {
        Self {
            places: HashMap::default(),
            tools: Vec::new(),
            free: Vec::new(),
            postings: Postings::default(),
            about: Space::new(table::WIDTH),
            model: None,
        }
    }

    /// How many tools it holds.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether it holds a tool of that id.
    pub fn contains(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// Puts a tool in; one of the same id goes, and with it its vector.
    pub fn insert(&mut self, tool: &Tool) {
        self.remove(&tool.id);
        let place = self.free.pop().unwrap_or_else(|| {
            self.tools.push(None);
            u32::try_from(self.tools.len() - 1).expect("tools are held in memory, far fewer than u32 counts")
        });
        let read = Read::of(tool);
        self.postings.insert(place, &read.terms());
        let language = Language::of(&format!("{} {}", tool.name, tool.description));
        if let Some(point) = meaning::of_tool(&read.name, &read.description, &read.params) {
            self.about.insert(place, &point, language);
        }
        let id: Arc<str> = tool.id.as_str().into();
        self.places.insert(Arc::clone(&id), place);
        let server = tool.server.as_str().into();
        self.tools[place as usize] = Some(Held { id, server, language, plain: ToolWords::of(tool) });
    }

    /// Takes the tool of that id out; the answer says whether it was there.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(place) = self.places.remove(id) else { return false };
        self.tools[place as usize] = None;
        self.postings.remove(place);
        self.about.remove(place);
        if let Some((_, space)) = &mut self.model {
            space.remove(place);
        }
        self.free.push(place);
        true
    }

    /// Makes room for the vectors of an encoder; those of an earlier one go.
    pub fn set_encoder(&mut self, encoder: Encoder) {
        let space = Space::new(encoder.width());
        self.model = Some((encoder, space));
    }

    /// Forgets the encoder and all its vectors.
    pub fn forget_encoder(&mut self) {
        self.model = None;
    }

    /// Keeps the encoder's vector of a tool; the answer says whether tool and encoder are known and the width is right.
    pub fn set_vector(&mut self, id: &str, vector: &[f32]) -> bool {
        let (Some(&place), Some((encoder, space))) = (self.places.get(id), &mut self.model) else { return false };
        let Some(held) = &self.tools[place as usize] else { return false };
        if vector.len() != encoder.width() {
            return false;
        }
        space.insert(place, vector, held.language);
        true
    }
}
