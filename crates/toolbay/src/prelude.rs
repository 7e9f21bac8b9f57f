//! What most servers and clients need.

pub use serde_json::json;

pub use crate::{
    Client, Ctx, Fail, Json, Prompt, Resource, Server, State, Template, Tool, ToolError,
    client::ResultExt,
    data, http, ok, prompt, resource,
    server::{Completing, Elicited, Suggestions},
    stdio, tool, tool_error,
    types::{CallToolResult, ContentBlock, PromptMessage},
};
