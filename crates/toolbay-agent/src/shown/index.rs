//! The tools of a shelf by what they do. Made when somebody first searches, and brought from one shelf to the next by what
//! differs.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use toolbay_retrieval::{Found, Index, Query, Tool as Searched};

use crate::toolbox::{Shelf, Tool, ToolId};

/// How much of a tool is read: what a tool says of itself is no reason to wait.
const DESCRIPTION: usize = 4096;
const PARAMS: usize = 64;
const PARAM: usize = 512;

/// An index, and what stands in it.
#[derive(Debug, Default)]
pub(super) struct Pick {
    index: Index,
    held: HashMap<ToolId, Arc<Tool>>,
    generation: Option<u64>,
}

impl Pick {
    /// The tools of the shelf that answer a query best, by the names they have.
    pub(super) fn search(&mut self, shelf: &Shelf, names: &HashMap<ToolId, String>, query: &Query<'_>) -> Found {
        if self.generation != Some(shelf.generation) {
            self.follow(shelf, names);
        }
        self.index.search(query)
    }

    fn follow(&mut self, shelf: &Shelf, names: &HashMap<ToolId, String>) {
        let now: HashMap<&ToolId, &Arc<Tool>> = shelf.tools.iter().map(|tool| (&tool.id, tool)).collect();
        let Self { index, held, generation } = self;
        held.retain(|id, tool| {
            let same = now.get(id).is_some_and(|now| Arc::ptr_eq(now, tool) || *now == tool);
            if !same && let Some(name) = names.get(id) {
                index.remove(name);
            }
            same
        });
        for tool in &shelf.tools {
            if let Some(name) = names.get(&tool.id).filter(|_| !held.contains_key(&tool.id)) {
                index.insert(&searched(name, tool));
                held.insert(tool.id.clone(), Arc::clone(tool));
            }
        }
        *generation = Some(shelf.generation);
    }
}

/// A tool as the search reads it.
fn searched(name: &str, tool: &Tool) -> Searched {
    let cut = |text: &str, most: usize| text[..text.floor_char_boundary(most)].to_owned();
    let searched = Searched::new(name, tool.id.name.as_str(), cut(&tool.description, DESCRIPTION)).on(&*tool.id.server);
    let properties = tool.schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().take(PARAMS).fold(searched, |searched, (name, property)| {
        let said = property.get("description").and_then(Value::as_str).unwrap_or_default();
        searched.param(cut(name, PARAM), cut(said, PARAM))
    })
}
