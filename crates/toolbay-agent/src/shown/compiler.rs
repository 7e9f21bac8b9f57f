//! Tools as the wire takes them. Each is put into its words once, and again when its server says something else of it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Map, Value};

use crate::{
    model::{
        Wire,
        compile::{Compiled, compile},
    },
    toolbox::{Tool, ToolId},
    transcript::Written,
};

/// Puts tools into the words of one wire, and remembers how.
#[derive(Debug)]
pub(super) struct Compiler {
    pub(super) wire: Wire,
    made: Mutex<HashMap<ToolId, Arc<Compiled>>>,
}

impl Compiler {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, made: Mutex::default() }
    }

    /// A tool as it is shown by that name.
    pub(super) fn of(&self, name: &str, tool: &Arc<Tool>) -> Arc<Compiled> {
        let made = |made: &HashMap<ToolId, Arc<Compiled>>| {
            let before = made.get(&tool.id)?;
            let same = Arc::ptr_eq(before.tool(), tool) || before.tool() == tool;
            (same && before.defined().name == name).then(|| Arc::clone(before))
        };
        let table = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let before = made(&table());
        before.unwrap_or_else(|| {
            let compiled = Arc::new(compile(self.wire, name, tool));
            table().insert(tool.id.clone(), Arc::clone(&compiled));
            compiled
        })
    }

    /// The arguments as the tool takes them, or what is wrong with them.
    pub(super) fn fit(&self, name: &str, tool: &Arc<Tool>, written: &Written) -> Result<Map<String, Value>, String> {
        self.of(name, tool).arguments(written)
    }

    /// Forgets tools that are not there any more.
    pub(super) fn keep(&self, is_there: impl Fn(&ToolId) -> bool) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).retain(|id, _| id.server.is_empty() || is_there(id));
    }
}
