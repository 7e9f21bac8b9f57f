//! Serving: from plain functions to a [`Server`] that any transport can carry.
//!
//! What a revision knows or lacks is decided in `toolbay-protocol`; how bytes travel, in `toolbay-transport`. Here are
//! only the author's words: tools, prompts, resources, and the context of a call.

mod arguments;
mod around;
mod ask;
mod builder;
mod completion;
mod context;
mod deadline;
mod failure;
mod handler;
mod live;
mod output;
mod page;
mod progress;
mod prompt;
mod prompt_output;
mod registry;
mod resource;
mod resource_output;
mod serve;
mod service;
mod signal;
mod tasks;
mod tool;
mod visible;

pub use arguments::{Arguments, within};
pub use around::Next;
pub use ask::Elicited;
pub use builder::Server;
pub use completion::{Completing, Suggestions};
pub use context::Ctx;
pub use handler::{Args, Handler, State};
pub use live::{Handle, Removed};
pub use output::{Json, ToolOutput};
pub use page::Page;
pub use progress::ProgressNote;
pub use prompt::Prompt;
pub use prompt_output::PromptOutput;
pub use registry::Added;
pub use resource::{Resource, Template};
pub use resource_output::ResourceOutput;
pub use serve::{Http, Serve, Stdio, http, stdio};
pub use tasks::{MemoryStore, TaskRecord, TaskStore};
pub use tool::Tool;
pub use visible::Item;

#[cfg(test)]
mod tests;
