//! Names that were given once in a conversation stay, whatever comes later.

use std::{
    collections::{BTreeMap, HashMap, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
    sync::Arc,
};

use super::host;
use crate::toolbox::ToolId;

/// Names and what they stand for, each way.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    by_name: BTreeMap<String, ToolId>,
    by_tool: Arc<HashMap<ToolId, String>>,
}

impl Names {
    /// The name of a tool; the one it would be given, unless it has one, or another has that.
    pub(super) fn give(&mut self, tool: &ToolId, wanted: &str) {
        if self.by_tool.contains_key(tool) {
            return;
        }
        let name = match self.is_taken(wanted) {
            true => self.free(tool, wanted),
            false => wanted.to_owned(),
        };
        self.by_name.insert(name.clone(), tool.clone());
        Arc::make_mut(&mut self.by_tool).insert(tool.clone(), name);
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
    fn free(&self, tool: &ToolId, wanted: &str) -> String {
        (0_u32..)
            .map(|salt| {
                let mut hasher = DefaultHasher::new();
                (tool, salt).hash(&mut hasher);
                let hash = format!("{:016x}", hasher.finish());
                // 64 is what the strictest of the providers takes.
                format!("{}_{}", &wanted[..wanted.floor_char_boundary(54)], &hash[..8])
            })
            .find(|name| !self.is_taken(name))
            .expect("there are more numbers than names")
    }
}
