//! Rules that need no configuration. They remember as long as they live.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

use serde_json::{Map, Value};

use super::policy::{Decision, Policy, Trust};
use crate::toolbox::{Tool, ToolId};

/// A person is asked for every call, until they decided for a tool.
#[derive(Debug, Default)]
pub struct AskAll(Remembered);

/// As [`AskAll`], and what changes nothing may be called on servers that are trusted.
#[derive(Debug, Default)]
pub struct ReadOnly {
    trusted: BTreeSet<String>,
    remembered: Remembered,
}

#[derive(Debug, Default)]
struct Remembered(Mutex<HashMap<ToolId, Decision>>);

impl ReadOnly {
    /// On these servers.
    pub fn of<S: Into<String>>(trusted: impl IntoIterator<Item = S>) -> Self {
        Self { trusted: trusted.into_iter().map(Into::into).collect(), remembered: Remembered::default() }
    }
}

impl Policy for AskAll {
    fn decide(&self, tool: &Tool, _: &Map<String, Value>) -> Decision {
        self.0.of(&tool.id).unwrap_or(Decision::Ask)
    }

    fn remember(&self, tool: &ToolId, decision: Decision) {
        self.0.put(tool, decision);
    }

    fn trust(&self, _: &str) -> Trust {
        Trust::Untrusted
    }
}

impl Policy for ReadOnly {
    fn decide(&self, tool: &Tool, _: &Map<String, Value>) -> Decision {
        let harmless = self.trust(&tool.id.server).believes_read_only(tool);
        let unremembered = if harmless { Decision::Allow } else { Decision::Ask };
        self.remembered.of(&tool.id).unwrap_or(unremembered)
    }

    fn remember(&self, tool: &ToolId, decision: Decision) {
        self.remembered.put(tool, decision);
    }

    fn trust(&self, server: &str) -> Trust {
        if self.trusted.contains(server) { Trust::Trusted } else { Trust::Untrusted }
    }
}

impl Remembered {
    fn of(&self, tool: &ToolId) -> Option<Decision> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }

    fn put(&self, tool: &ToolId, decision: Decision) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.clone(), decision);
    }
}
