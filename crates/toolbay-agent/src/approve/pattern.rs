//! Which tools a rule is about.

use std::{fmt, str::FromStr};

use crate::toolbox::ToolId;

/// Which tools a rule is about: `SERVER/TOOL`, or `SERVER` for all of its own; `*` is anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    server: String,
    tool: String,
}

impl Pattern {
    /// The tools whose server and own name are so.
    pub fn new(server: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { server: server.into(), tool: tool.into() }
    }

    /// Whether it is about a tool.
    pub fn means(&self, tool: &ToolId) -> bool {
        fits(&self.server, &tool.server) && fits(&self.tool, &tool.name)
    }
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (server, tool) = text.split_once('/').unwrap_or((text, "*"));
        if server.is_empty() || tool.is_empty() {
            return Err(format!("{text:?} means no tool: write SERVER/TOOL or SERVER, with * for anything"));
        }
        Ok(Self::new(server, tool))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}/{}", self.server, self.tool)
    }
}

/// Whether a text is what a pattern says, `*` being any part of it.
pub fn fits(pattern: &str, text: &str) -> bool {
    let Some((before, mut rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(before) else { return false };
    while let Some((middle, after)) = rest.split_once('*') {
        let Some(at) = text.find(middle) else { return false };
        (text, rest) = (&text[at + middle.len()..], after);
    }
    text.ends_with(rest)
}
