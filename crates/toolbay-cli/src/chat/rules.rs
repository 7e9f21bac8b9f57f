//! What the command line says of calls, before the rules of the project.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolbay_agent::{
    approve::{Decision, Pattern, Policy, Trust},
    toolbox::Tool,
};

use crate::exit::Exit;

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
        let read = |patterns: &[String]| {
            patterns.iter().map(|text| text.parse().map_err(Exit::usage)).collect::<Result<Vec<_>, _>>()
        };
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

    fn remember(&self, tool: &Tool, decision: Decision) -> Result<(), String> {
        self.rules.remember(tool, decision)
    }

    fn trust(&self, server: &str) -> Trust {
        self.rules.trust(server)
    }

    fn remark(&self, tool: &Tool) -> Option<String> {
        self.rules.remark(tool)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbay_agent::{
        approve::AskAll,
        toolbox::{Hints, ToolId},
    };

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
}
