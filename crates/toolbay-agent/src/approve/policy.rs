//! What a rule may say of a call.

use serde_json::{Map, Value};

use crate::toolbox::Tool;

/// What a rule says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may be made.
    Allow,
    /// A person has to agree.
    Ask,
    /// It may not be made, for that reason, which the model is told.
    Deny(String),
}

/// Rules on calls. A tool is known to them by its [`ToolId`](crate::toolbox::ToolId) alone: other servers may have one of the same name.
pub trait Policy: Send + Sync {
    /// What holds for a call.
    fn decide(&self, tool: &Tool, arguments: &Map<String, Value>) -> Decision;

    /// A person decided for all calls of a tool from now on, as it is defined now. An error says for how long that holds
    /// instead, and why.
    fn remember(&self, tool: &Tool, decision: Decision) -> Result<(), String>;

    /// Whether what the tools of a server say of themselves is to be believed.
    fn trust(&self, server: &str) -> Trust;

    /// What a person should know who is asked about a tool, beside what it will do.
    fn remark(&self, _: &Tool) -> Option<String> {
        None
    }
}

/// Whether what the tools of a server say of themselves is to be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// It is.
    Trusted,
    /// It is not.
    #[default]
    Untrusted,
}

impl Trust {
    /// Whether a tool changes nothing, as far as that is to be believed.
    pub fn believes_read_only(self, tool: &Tool) -> bool {
        self == Self::Trusted && tool.hints.read_only == Some(true)
    }
}
