//! What most servers and clients need.

pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};

pub use crate::{
    Ctx, Fail, Json, Prompt, Resource, Server, State, Template, Tool, ToolError, http, ok,
    server::Completing,
    server::Suggestions,
    stdio, tool_error,
    types::{CallToolResult, ContentBlock, PromptMessage},
};
