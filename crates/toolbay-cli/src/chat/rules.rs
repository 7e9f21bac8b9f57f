//! What the command line says of calls, before the rules of the project.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolbay_agent::{
    approve::{Decision, Policy, Trust},
    toolbox::{Tool, ToolId},
};

use crate::exit::Exit;

/// Which tools are meant: `SERVER/TOOL`, or `SERVER` for all of its own; `*` is anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    server: String,
    tool: String,
}

impl Pattern {
    fn read(text: &str) -> Result<Self, Exit> {
        let (server, tool) = text.split_once('/').unwrap_or((text, "*"));
        if server.is_empty() || tool.is_empty() {
            return Err(Exit::usage(format!(
                "{text:?} means no tool: write SERVER/TOOL or SERVER, with * for anything"
            )));
        }
        Ok(Self { server: server.to_owned(), tool: tool.to_owned() })
    }

    fn means(&self, tool: &ToolId) -> bool {
        fits(&self.server, &tool.server) && fits(&self.tool, &tool.name)
    }
}

/// Whether a text is what a pattern says, `*` being any part of it.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((before, mut rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(before) else { return false };
    while let Some((middle, after)) = rest.split_once('*') {
        let Some(at) = text.find(middle) else { return false };
        (text, rest) = (&text[at + middle.len()..], after);
    }
    text.ends_with(rest)
}

/// What holds where no pattern says anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Else {
    /// The rules of the project, which may want a person asked.
    AsRuled,
    /// Every call may be made that no rule forbids.
    Allowed,
}

/// The rules of the command line before others.
pub(super) struct Told {
    allow: Vec<Pattern>,
    deny: Vec<Pattern>,
    or_else: Else,
    rules: Arc<dyn Policy>,
}

impl Told {
    pub(super) fn new(allow: &[String], deny: &[String], or_else: Else, rules: Arc<dyn Policy>) -> Result<Self, Exit> {
        let read = |patterns: &[String]| patterns.iter().map(|text| Pattern::read(text)).collect::<Result<Vec<_>, _>>();
        Ok(Self { allow: read(allow)?, deny: read(deny)?, or_else, rules })
    }
}

impl Policy for Told {
    fn decide(&self, tool: &Tool, arguments: &Map<String, Value>) -> Decision {
        if self.deny.iter().any(|pattern| pattern.means(&tool.id)) {
            return Decision::Deny("it is forbidden on the command line (--deny)".into());
        }
        let ruled = self.rules.decide(tool, arguments);
        let allowed = self.or_else == Else::Allowed || self.allow.iter().any(|pattern| pattern.means(&tool.id));
        match ruled {
            Decision::Ask if allowed => Decision::Allow,
            Decision::Allow | Decision::Ask | Decision::Deny(_) => ruled,
        }
    }

    fn remember(&self, tool: &ToolId, decision: Decision) {
        self.rules.remember(tool, decision);
    }

    fn trust(&self, server: &str) -> Trust {
        self.rules.trust(server)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbay_agent::{approve::AskAll, toolbox::Hints};

    use super::*;

    fn decide(allow: &[&str], deny: &[&str], or_else: Else, tool: (&str, &str)) -> Decision {
        let own = |patterns: &[&str]| patterns.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let told = Told::new(&own(allow), &own(deny), or_else, Arc::<AskAll>::default()).unwrap();
        let id = ToolId { server: tool.0.into(), name: tool.1.into() };
        let (public, description) = (String::new(), String::new());
        told.decide(&Tool { id, public, description, schema: json!({}), hints: Hints::default() }, &Map::new())
    }

    #[test]
    fn a_denial_is_above_a_permission_is_above_the_rest() {
        use Decision::{Allow, Ask};
        assert_eq!(decide(&["git/log*"], &[], Else::AsRuled, ("git", "log_all")), Allow);
        assert_eq!(decide(&["git/log*"], &[], Else::AsRuled, ("git", "push")), Ask);
        assert_eq!(decide(&["git/log*"], &[], Else::AsRuled, ("svn", "log")), Ask);
        assert_eq!(decide(&["git"], &[], Else::AsRuled, ("git", "push")), Allow);
        assert_eq!(decide(&[], &[], Else::Allowed, ("git", "push")), Allow);
        for (allow, or_else) in [(&["git"][..], Else::AsRuled), (&[], Else::Allowed)] {
            assert!(matches!(decide(allow, &["*/*push*"], or_else, ("git", "push")), Decision::Deny(_)));
        }
        assert!(Told::new(&["/x".to_owned()], &[], Else::AsRuled, Arc::<AskAll>::default()).is_err());
    }

    #[test]
    fn a_star_is_any_part() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*c", "abc", true),
            ("a*c", "ab", false),
            ("*b*", "abc", true),
            ("ab*b", "ab", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("abc", "abc", true),
            ("abc", "abcd", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
