//! What a call will do, in words, as far as that is known.

use super::policy::Trust;
use crate::toolbox::Tool;

/// What a call of a tool will do. What a tool of an untrusted server says of itself is told as its word, never as a fact.
pub fn effect(tool: &Tool, trust: Trust) -> String {
    let hints = &tool.hints;
    let does = match (hints.read_only, hints.destructive) {
        (Some(true), _) => "reads, and changes nothing",
        (_, Some(true)) => "may destroy what is there",
        (_, Some(false)) => "changes something, and destroys nothing",
        // spec: server/tools, a tool that says nothing may destroy
        (Some(false), None) => "changes something, and may destroy what is there",
        (None, None) => return "It does not say whether it changes or destroys anything.".into(),
    };
    let beyond = if hints.open_world == Some(true) { "; it reaches beyond its server" } else { "" };
    match trust {
        Trust::Trusted => format!("It {does}{beyond}."),
        Trust::Untrusted => format!("It says of itself that it {does}{beyond}; its server is not trusted."),
    }
}
