//! One question to a model, and its reply.

use std::{fmt, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::transcript::{Said, Transcript};

/// The words a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Anthropic, Messages.
    Anthropic,
    /// OpenAI, Chat Completions, and whoever speaks the same.
    OpenAiChat,
    /// OpenAI, Responses.
    OpenAiResponses,
    /// Google, Gemini.
    Gemini,
    /// Ollama, chat.
    Ollama,
}

impl Wire {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses, Self::Gemini, Self::Ollama];
}

impl fmt::Display for Wire {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        })
    }
}

/// A tool as it is shown to a model of one wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Defined {
    /// The name it is shown by.
    pub name: String,
    /// What it does, with what its schema cannot say on this wire.
    pub description: String,
    /// What it takes, as this wire accepts it.
    pub schema: Value,
}

/// A question to a model.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// What was said so far.
    pub transcript: &'a Transcript,
    /// The tools it may want called, always in the same order within a conversation.
    pub tools: &'a [Defined],
    /// Whether it may, must or must not want one.
    pub choice: Choice,
    /// The most it may say, in tokens; the provider's own most where none is told.
    pub limit: Option<u32>,
}

/// Whether a model may want tools called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// As it sees fit.
    #[default]
    Auto,
    /// Not now; the definitions are sent all the same, so that what the provider keeps stays valid.
    None,
    /// At least one.
    Required,
}

/// What is heard while a model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard<'a> {
    /// More words for the person.
    Text(&'a str),
    /// More of what it thinks, where the provider tells.
    Thought(&'a str),
    /// It begins to want a tool of that name.
    Intent(&'a str),
    /// The provider is overloaded; it is asked again after that time.
    Again(Duration),
}

/// What a model said to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Piece by piece.
    pub said: Said,
    /// Why it ended.
    pub stop: Stop,
    /// What it took.
    pub usage: Usage,
}

/// Why a model ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has said all.
    End,
    /// It wants tools called.
    Tools,
    /// It may not say more.
    Length,
    /// It will not say it, or may not.
    Refused,
    /// It wants to be asked again, with what it said so far.
    Paused,
    /// Something else, in the provider's word.
    Other(String),
}

/// What a reply took, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read by the model, those kept by the provider among them.
    pub input: u64,
    /// Of those, kept by the provider.
    pub cached: u64,
    /// Said by the model, thoughts among them.
    pub output: u64,
}

/// A model did not reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// Whose fault it is.
    pub why: Why,
    /// What happened, and what to do.
    pub what: String,
}

/// Whose fault it is that a model did not reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The key is missing, wrong, or may not do this.
    Key,
    /// The question is not as the provider wants it.
    Question,
    /// The question is longer than the model can read.
    TooLong,
    /// The provider is overloaded or out of order, also after the retries.
    Provider,
    /// The provider cannot be reached.
    Unreachable,
    /// The reply cannot be read.
    Reply,
}

impl fmt::Display for ModelError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.what)
    }
}

impl std::error::Error for ModelError {}

/// Somebody who replies to questions. Dropping a question takes it back.
pub trait Model: Send + Sync {
    /// The words it speaks, which tools are put into.
    fn wire(&self) -> Wire;

    /// Asks; what is heard before the reply is complete is told as it comes.
    fn ask<'a>(
        &'a self,
        ask: Ask<'a>,
        heard: &'a mut (dyn FnMut(Heard<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}
