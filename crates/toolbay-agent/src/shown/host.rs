//! The host's own tools, as they are defined. Those that find and call others are the gateway's, in its words.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use toolbay_gateway::meta::Own;

use crate::{
    toolbox::{Hints, Tool, ToolId},
    turn::HostTool,
};

/// Pages through a result.
pub(super) const READ: &str = "read_result";

/// What a name of the host's own stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A tool that the host answers.
    Host(HostTool),
    /// The one that stands for another.
    Call,
}

/// All of them, [`READ`] first, as if a server offered them.
static TOOLS: LazyLock<[Arc<Tool>; 4]> = LazyLock::new(|| {
    [&read_result(), &Own::Search.definition(), &Own::Describe.definition(), &Own::Call.definition()].map(tool)
});

/// The one that pages through results.
pub(super) fn reader() -> &'static Arc<Tool> {
    &TOOLS[0]
}

/// Those by which others are found and called.
pub(super) fn finders() -> &'static [Arc<Tool>] {
    &TOOLS[1..]
}

/// What a name stands for, and its definition.
pub(super) fn named(name: &str) -> Option<(Named, &'static Arc<Tool>)> {
    let place = TOOLS.iter().position(|tool| tool.public == name)?;
    let named = match place {
        0 => Named::Host(HostTool::Read),
        1 => Named::Host(HostTool::Search),
        2 => Named::Host(HostTool::Describe),
        _ => Named::Call,
    };
    Some((named, &TOOLS[place]))
}

fn tool(definition: &Value) -> Arc<Tool> {
    let text = |key: &str| definition.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = text("name");
    Arc::new(Tool {
        id: ToolId { server: String::new(), name: name.clone() },
        public: name,
        description: text("description"),
        schema: definition.get("inputSchema").cloned().unwrap_or_else(|| json!({"type": "object"})),
        hints: Hints::listed(definition),
    })
}

fn read_result() -> Value {
    json!({
        "name": READ,
        "description": "Reads on in a result that was too long to be shown whole: a piece of it, or with `find` the places \
                        where a text stands in it.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "handle": {"type": "string", "description": "As the result gave it."},
                "unit": {"type": "string", "enum": ["characters", "lines"], "default": "characters"},
                "from": {"type": "integer", "minimum": 0, "description": "The first character, from 0, or line, from 1."},
                "count": {"type": "integer", "minimum": 1, "description": "How many characters or lines."},
                "find": {"type": "string", "description": "A text to look for; upper and lower case are the same."}
            },
            "required": ["handle"],
            "additionalProperties": false
        },
        "annotations": {"readOnlyHint": true, "openWorldHint": false}
    })
}
