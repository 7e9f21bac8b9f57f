//! The tools themselves, as they are listed.

use serde_json::{Value, json};
use toolbay_protocol::{ErrorObject, Method, Raw, Revision, types::relay::conform_result};

/// A tool of the gateway's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// Finds tools by what they do.
    Search,
    /// Shows the definition of one.
    Describe,
    /// Calls one.
    Call,
    /// Finds servers that are not here yet, and adds what may be added.
    Acquire,
}

impl Own {
    const ALL: [Self; 4] = [Self::Search, Self::Describe, Self::Call, Self::Acquire];

    /// Its name, which no server's tool is given.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Search => "search_tools",
            Self::Describe => "describe_tool",
            Self::Call => "call_tool",
            Self::Acquire => "search_and_acquire",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.name() == name)
    }

    /// The list of them as `revision` writes it.
    pub(crate) fn list(revision: Revision, acquires: Acquires) -> Result<Raw, ErrorObject> {
        let shown = |own: &Self| *own != Self::Acquire || acquires == Acquires::Yes;
        let tools: Vec<_> = Self::ALL.into_iter().filter(shown).map(Self::definition).collect();
        let list = Raw::of(&json!({ "tools": tools }));
        conform_result(&Method::ToolsList, &list, Revision::LATEST, revision).map_err(ErrorObject::from)
    }

    /// Its definition, as the newest revision writes it.
    pub fn definition(self) -> Value {
        match self {
            Self::Search => json!({
                "name": self.name(),
                "title": "Search tools",
                "description": "Finds tools by what they do, best first: name, server, description and score of each, \
                                and its input schema with `schema: true`. Call what you find with `call_tool`, or by its \
                                name. Say in a few words what has to be done. An empty answer means that nothing here fits.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "query": {"type": "string", "description": "What the tool has to do, in English or Chinese."},
                        "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
                        "server": {"type": "string", "description": "Only tools of this server."},
                        "schema": {"type": "boolean", "default": false, "description": "With input schemas."}
                    },
                    "required": ["query"],
                    "additionalProperties": false
                },
                "annotations": {"readOnlyHint": true, "openWorldHint": false}
            }),
            Self::Describe => json!({
                "name": self.name(),
                "title": "Describe a tool",
                "description": "Shows the whole definition of a tool, as its server gave it.",
                "inputSchema": {
                    "type": "object",
                    "properties": {"name": {"type": "string", "description": "As `search_tools` gave it."}},
                    "required": ["name"],
                    "additionalProperties": false
                },
                "annotations": {"readOnlyHint": true, "openWorldHint": false}
            }),
            Self::Call => json!({
                "name": self.name(),
                "title": "Call a tool",
                "description": "Calls a tool that `search_tools` found; its answer comes back as it is.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "As `search_tools` gave it."},
                        "arguments": {"type": "object", "description": "As the tool's input schema wants them."}
                    },
                    "required": ["name"],
                    "additionalProperties": false
                },
                "execution": {"taskSupport": "optional"}
            }),
            Self::Acquire => json!({
                "name": self.name(),
                "title": "Search for servers and add them",
                "description": "Where no tool here fits: looks for servers in the registries that are configured. What may \
                                be added without asking is added for a while, and its tools can be found and called a \
                                moment later; what needs a person's yes is shown as a plan. It never runs a program.",
                "inputSchema": {
                    "type": "object",
                    "properties": {"query": {"type": "string", "description": "What is needed, in a few words."}},
                    "required": ["query"],
                    "additionalProperties": false
                },
                "annotations": {"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true}
            }),
        }
    }
}

/// Whether servers can be acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acquires {
    Yes,
    No,
}
