//! The tools an agent has, whoever offers them. Not for what a model is shown of them: see [`model`](crate::model).

use std::{fmt, sync::Arc};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use toolbay_gateway::catalog::Listed;

use crate::{person::Person, planner::Failure};

/// A tool, known by its server and its own name there, whatever it is called elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolId {
    /// The server.
    pub server: String,
    /// What the server calls it.
    pub name: String,
}

impl fmt::Display for ToolId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}/{}", self.server, self.name)
    }
}

/// A tool as its server offers it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its server and its own name.
    pub id: ToolId,
    /// What it is called by those who call it here: unlike every other.
    pub public: String,
    /// What it does, for people and models.
    pub description: String,
    /// What it takes, as its server wrote it.
    pub schema: Value,
    /// What it says of itself.
    pub hints: Hints,
}

/// What a tool says of itself; worth something only where its server is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy what was there.
    pub destructive: Option<bool>,
    /// To call it twice is to call it once.
    pub idempotent: Option<bool>,
    /// It reaches into an open world.
    pub open_world: Option<bool>,
    /// Results of so many characters may be shown whole (`_meta["anthropic/maxResultSizeChars"]`).
    pub result_chars: Option<u32>,
}

impl Hints {
    /// What a definition says of its tool, as its server lists it.
    pub fn listed(definition: &Value) -> Self {
        let says = |key: &str| definition.get("annotations").and_then(|notes| notes.get(key)?.as_bool());
        Self {
            read_only: says("readOnlyHint"),
            destructive: says("destructiveHint"),
            idempotent: says("idempotentHint"),
            open_world: says("openWorldHint"),
            result_chars: result_chars(definition),
        }
    }
}

/// How many characters of a result may be shown whole, where a definition or a result says so.
pub(crate) fn result_chars(of: &Value) -> Option<u32> {
    let said = of.get("_meta")?.get("anthropic/maxResultSizeChars")?.as_u64()?;
    Some(u32::try_from(said).unwrap_or(u32::MAX))
}

/// All tools at one moment, sorted by [`ToolId`].
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    /// Another number means that something else stands here.
    pub generation: u64,
    /// The tools.
    pub tools: Vec<Arc<Tool>>,
    /// Servers that could not be reached, and why.
    pub down: Vec<(String, String)>,
}

/// Something on offer besides tools: a resource, a template, a prompt, as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its server.
    pub server: String,
    /// What it is called by those who ask for it here.
    pub public: String,
    /// Its entry in the server's list.
    pub entry: Value,
}

/// Whoever has tools. Dropping a call takes it back.
pub trait Toolbox: Send + Sync {
    /// What there is now. Cheap where nothing has changed.
    fn shelf(&self) -> BoxFuture<'_, Arc<Shelf>>;

    /// Calls a tool and gives its whole result (`content`, `structuredContent`, `isError`); questions on the way go to the
    /// person.
    fn call<'a>(
        &'a self,
        tool: &'a Tool,
        arguments: Map<String, Value>,
        person: &'a dyn Person,
    ) -> BoxFuture<'a, Result<Value, Failure>>;

    /// What else there is.
    fn items(&self, what: Listed) -> BoxFuture<'_, Vec<Item>>;

    /// Reads a resource of a server: the result of `resources/read`.
    fn read<'a>(&'a self, server: &'a str, uri: &'a str) -> BoxFuture<'a, Result<Value, Failure>>;

    /// Fills in a prompt: the result of `prompts/get`.
    fn prompt<'a>(
        &'a self,
        public: &'a str,
        arguments: Map<String, Value>,
        person: &'a dyn Person,
    ) -> BoxFuture<'a, Result<Value, Failure>>;
}
