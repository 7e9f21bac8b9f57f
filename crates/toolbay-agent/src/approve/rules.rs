//! Rules of a project: what its configuration says, and what its people decided before.

use serde_json::{Map, Value};

use super::{
    pattern::{Pattern, fits},
    policy::{Decision, Policy, Trust},
    remembered::{Known, Remembered},
};
use crate::toolbox::Tool;

/// Rules of a project. What forbids is above what wants a person asked, that is above what was decided before, and that
/// above what allows. A tool of which nothing is said may be called where it changes nothing, on servers that are trusted;
/// else a person is asked.
#[derive(Debug, Default)]
pub struct Rules {
    rules: Vec<(Pattern, Decision)>,
    trusted: Vec<String>,
    remembered: Remembered,
}

impl Rules {
    /// With nothing but what is remembered.
    pub fn new(remembered: Remembered) -> Self {
        Self { rules: vec![], trusted: vec![], remembered }
    }

    /// The rules, and one more.
    #[must_use]
    pub fn rule(mut self, pattern: Pattern, decision: Decision) -> Self {
        self.rules.push((pattern, decision));
        self
    }

    /// The rules, with what the tools of these servers say of themselves believed; `*` is anything.
    #[must_use]
    pub fn trusting<S: Into<String>>(mut self, servers: impl IntoIterator<Item = S>) -> Self {
        self.trusted.extend(servers.into_iter().map(Into::into));
        self
    }

    fn says(&self, tool: &Tool, is: impl Fn(&Decision) -> bool) -> Option<Decision> {
        let meant = self.rules.iter().find(|(pattern, decision)| is(decision) && pattern.means(&tool.id));
        meant.map(|(_, decision)| decision.clone())
    }
}

impl Policy for Rules {
    fn decide(&self, tool: &Tool, _: &Map<String, Value>) -> Decision {
        let strict = self
            .says(tool, |decision| matches!(decision, Decision::Deny(_)))
            .or_else(|| self.says(tool, |decision| *decision == Decision::Ask));
        if let Some(decision) = strict {
            return decision;
        }
        if let Known::Decided(decision) = self.remembered.of(tool) {
            return decision;
        }
        let allowed = self.says(tool, |decision| *decision == Decision::Allow);
        let harmless = || self.trust(&tool.id.server).believes_read_only(tool).then_some(Decision::Allow);
        allowed.or_else(harmless).unwrap_or(Decision::Ask)
    }

    fn remember(&self, tool: &Tool, decision: Decision) -> Result<(), String> {
        self.remembered.put(tool, decision)
    }

    fn trust(&self, server: &str) -> Trust {
        let trusted = self.trusted.iter().any(|pattern| fits(pattern, server));
        if trusted { Trust::Trusted } else { Trust::Untrusted }
    }

    fn remark(&self, tool: &Tool) -> Option<String> {
        let changed = self.remembered.of(tool) == Known::Changed;
        changed.then(|| "It was allowed before; what it says of itself has changed since.".to_owned())
    }
}
