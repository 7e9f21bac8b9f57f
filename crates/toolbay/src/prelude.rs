//! What most servers and clients need.

pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};

pub use crate::{
    Client, Ctx, Fail, Json, Prompt, Resource, Server, State, Template, Tool, ToolError,
    client::ResultExt,
    data, http, ok, prompt, resource,
    server::{Completing, Elicited, Suggestions},
    stdio, tool, tool_error,
    types::{CallToolResult, ContentBlock, PromptMessage},
};
