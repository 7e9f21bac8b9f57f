//! Which parameters of which tools are mirrored in headers (`x-mcp-header`), learnt as lists of tools pass by.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolbay_protocol::{Raw, headers::HeaderPlan, raw::Kind};

use crate::Listener;

/// How many tools with mirrored parameters are remembered.
const TOOLS: usize = 10_000;

/// The plans of a server's tools; a tool without one mirrors nothing.
#[derive(Debug, Default)]
pub(super) struct Plans(Mutex<HashMap<String, Arc<HeaderPlan>>>);

impl Plans {
    fn plans(&self) -> MutexGuard<'_, HashMap<String, Arc<HeaderPlan>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plan of one tool.
    pub(super) fn of(&self, tool: &str) -> Option<Arc<HeaderPlan>> {
        self.plans().get(tool).cloned()
    }

    /// Learns from a result of `tools/list`, and takes out the tools whose annotations break a rule.
    // spec: server/tools, such a tool is not to be used over HTTP; the others stay
    pub(super) fn learn(&self, result: Raw, listener: &dyn Listener) -> Raw {
        let Some(tools) = result.get("tools").filter(|tools| tools.kind() == Kind::Array) else { return result };
        let (mut kept, mut dropped) = (Vec::new(), 0_usize);
        for tool in tools.elements() {
            if self.admit(&tool, listener) {
                kept.push(tool);
            } else {
                dropped += 1;
            }
        }
        if dropped == 0 { result } else { result.with(&[("tools", Some(&Raw::of(&kept)))]) }
    }

    fn admit(&self, tool: &Raw, listener: &dyn Listener) -> bool {
        let name = tool.get("name");
        let Some(name) = name.as_ref().and_then(Raw::as_text) else { return true };
        let schema = tool.get("inputSchema").unwrap_or(Raw::EMPTY);
        match HeaderPlan::of_json(schema.as_bytes()) {
            Ok(plan) if plan.is_empty() => drop(self.plans().remove(&*name)),
            Ok(plan) => {
                let mut plans = self.plans();
                if plans.len() >= TOOLS && !plans.contains_key(&*name) {
                    drop(plans);
                    listener.stray(&format!("more than {TOOLS} tools with mirrored parameters; {name:?} is left out"));
                    return false;
                }
                plans.insert(name.into_owned(), Arc::new(plan));
            }
            Err(problems) => {
                self.plans().remove(&*name);
                let why = problems.first().map(ToString::to_string).unwrap_or_default();
                listener.stray(&format!("tool {name:?} is left out, its author must mend it: {why}"));
                return false;
            }
        }
        true
    }
}

/// Whether a result of `tools/list` holds the tool.
pub(super) fn lists(result: &Raw, tool: &str) -> bool {
    let tools = result.get("tools").unwrap_or(Raw::NULL);
    tools.elements().any(|one| one.get("name").as_ref().and_then(Raw::as_text).as_deref() == Some(tool))
}
