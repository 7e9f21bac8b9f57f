//! The person an agent works for, and what it must ask them.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use crate::toolbox::{Tool, ToolId};

/// A call that somebody has to agree to.
#[derive(Clone, Debug)]
pub struct Approval<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// What it would be called with.
    pub arguments: &'a Map<String, Value>,
    /// What will happen, in words: whether it changes or destroys, as far as that is known.
    pub effect: String,
}

/// What a person says to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// This once.
    Once,
    /// From now on, in this project.
    Always,
    /// With these arguments instead, this once.
    Edited(Map<String, Value>),
    /// No, for that reason, which the model is told.
    No(Option<String>),
}

/// A question of a server to the person.
#[derive(Clone, Debug, PartialEq)]
pub enum Elicitation {
    /// A form to be filled in.
    Form {
        /// The server that asks.
        server: String,
        /// What it wants to know, in its words.
        message: String,
        /// What the answer must be, as the server wrote it.
        schema: Value,
    },
    /// A page to be visited.
    Url {
        /// The server that asks.
        server: String,
        /// Why, in its words.
        message: String,
        /// The page; nobody opens it unasked.
        url: String,
    },
}

/// What a person says to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    /// It is answered; a page has no content.
    Accept(Option<Map<String, Value>>),
    /// They do not want to answer.
    Decline,
    /// They went away, or there is nobody.
    Cancel,
}

/// A server that wants to use the model.
#[derive(Clone, Debug)]
pub struct Sampling<'a> {
    /// The server.
    pub server: &'a str,
    /// What it would ask the model, whole.
    pub params: &'a Value,
}

/// The person, or whoever stands in for them.
pub trait Person: Send + Sync {
    /// Whether a call may be made.
    fn approve<'a>(&'a self, approval: Approval<'a>) -> BoxFuture<'a, Verdict>;

    /// Answers a server's question.
    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, Answered>;

    /// Answers a server that wants to use the model: a result of `sampling/createMessage`, or why there is none.
    fn sample<'a>(&'a self, sampling: Sampling<'a>) -> BoxFuture<'a, Result<Value, String>>;

    /// The roots a server may know of: entries of `roots/list`.
    fn roots(&self) -> BoxFuture<'_, Vec<Value>>;

    /// A call runs on: progress, or a line of its server's log.
    fn told(&self, tool: &ToolId, what: &str);
}

/// Nobody: every call that needs a yes is refused, every question cancelled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Person for Nobody {
    fn approve<'a>(&'a self, _: Approval<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async { Verdict::No(Some("nobody is there to agree".into())) })
    }

    fn elicit(&self, _: Elicitation) -> BoxFuture<'_, Answered> {
        Box::pin(async { Answered::Cancel })
    }

    fn sample<'a>(&'a self, _: Sampling<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async { Err("no server may use the model here".into()) })
    }

    fn roots(&self) -> BoxFuture<'_, Vec<Value>> {
        Box::pin(async { vec![] })
    }

    fn told(&self, _: &ToolId, _: &str) {}
}
