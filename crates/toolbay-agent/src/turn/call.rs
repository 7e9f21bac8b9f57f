//! A call as the turn knows it: what an intent was read as, what was decided of it, what it gave.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    toolbox::Tool,
    transcript::{Outcome, Part},
};

/// What an intent was read as.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A call that can be made.
    Call {
        /// What is called.
        target: Target,
        /// With what, as it fits the target.
        arguments: Map<String, Value>,
        /// Whether others may be in flight at the same time.
        beside: Beside,
    },
    /// Nothing that can be called; the model is told why.
    Not(String),
}

/// What is called.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A tool of a server; somebody has to decide.
    Tool(Arc<Tool>),
    /// A tool of the host itself, which reaches nothing that the model may not see.
    Host(HostTool),
}

/// A tool of the host itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostTool {
    /// Finds tools by what they do.
    Search,
    /// Shows the definition of one.
    Describe,
    /// Pages through a result that was too long to be shown.
    Read,
}

/// Whether a call may be in flight while others are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// It may.
    Others,
    /// It has to be alone.
    Nobody,
}

/// A call that the model wants made.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its place among the intents of its message.
    pub place: usize,
    /// The intent's id.
    pub id: String,
    /// The name that the model wrote.
    pub sent: String,
    /// What is called.
    pub target: Target,
    /// With what.
    pub arguments: Map<String, Value>,
    /// Whether others may be in flight at the same time.
    pub beside: Beside,
}

/// What was decided of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    /// It may be made.
    Allowed,
    /// It may be made with these arguments instead; they fit.
    Edited(Map<String, Value>),
    /// It may not be made; the model is told why.
    Denied(String),
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// What the model is told.
    pub parts: Vec<Part>,
    /// Whether it succeeded.
    pub outcome: Outcome,
}

impl Given {
    /// Something that did not succeed, in the host's words.
    pub fn failure(why: impl Into<String>) -> Self {
        Self { parts: vec![Part::text(why)], outcome: Outcome::Failure }
    }

    /// Something that succeeded, in the host's words.
    pub fn success(what: impl Into<String>) -> Self {
        Self { parts: vec![Part::text(what)], outcome: Outcome::Success }
    }
}
