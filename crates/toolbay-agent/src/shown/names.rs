//! Names that were given once in a conversation stay, whatever comes later.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::host;
use crate::{
    model::{
        Wire,
        compile::{name_of, with_hash},
    },
    toolbox::{Tool, ToolId},
};

/// Names and what they stand for, each way.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    by_name: BTreeMap<String, ToolId>,
    by_tool: Arc<HashMap<ToolId, String>>,
}

impl Names {
    /// Gives names to those that have none. Of several that would have the same each gets another, whatever their order;
    /// one that was given before stays.
    pub(super) fn give(&mut self, wire: Wire, tools: &[Arc<Tool>]) {
        let new = tools.iter().filter(|tool| !self.by_tool.contains_key(&tool.id));
        let wanted: Vec<_> = new.map(|tool| (name_of(wire, &tool.public, &tool.id), &tool.id)).collect();
        let mut often: HashMap<&str, usize> = HashMap::new();
        wanted.iter().for_each(|(name, _)| *often.entry(name).or_default() += 1);
        for (name, tool) in &wanted {
            let name = match often[name.as_str()] > 1 || self.is_taken(name) {
                true => self.free(wire, tool, name),
                false => name.clone(),
            };
            self.by_name.insert(name.clone(), (*tool).clone());
            Arc::make_mut(&mut self.by_tool).insert((*tool).clone(), name);
        }
    }

    pub(super) fn of(&self, tool: &ToolId) -> Option<&str> {
        self.by_tool.get(tool).map(String::as_str)
    }

    pub(super) fn find(&self, name: &str) -> Option<&ToolId> {
        self.by_name.get(name)
    }

    pub(super) fn all(&self) -> Arc<HashMap<ToolId, String>> {
        Arc::clone(&self.by_tool)
    }

    /// The names that are nearest to one that nobody has, best first.
    pub(super) fn nearest(&self, name: &str, is_there: impl Fn(&ToolId) -> bool) -> Vec<&str> {
        let there = self.by_name.iter().filter(|(_, tool)| is_there(tool));
        let scored = there.map(|(other, tool)| {
            let score = strsim::jaro_winkler(name, other).max(strsim::jaro_winkler(name, &tool.name));
            (score, other.as_str())
        });
        let mut near: Vec<_> = scored.filter(|(score, _)| *score >= 0.75).collect();
        near.sort_by(|one, other| other.0.total_cmp(&one.0));
        near.into_iter().take(3).map(|(_, name)| name).collect()
    }

    fn is_taken(&self, name: &str) -> bool {
        self.by_name.contains_key(name) || host::named(name).is_some()
    }

    /// A name that is free: with as much of a hash as that takes.
    fn free(&self, wire: Wire, tool: &ToolId, wanted: &str) -> String {
        (0_u32..)
            .map(|salt| with_hash(wire, wanted, tool, salt))
            .find(|name| !self.is_taken(name))
            .expect("there are more numbers than names")
    }
}
