//! One wire among five: how a question is written and a reply is read. No IO.

use serde_json::Value;

use super::{anthropic, fault::Trouble, gemini, ollama, openai_chat, openai_responses, pieces::Numbering};
use crate::model::{Ask, Heard, ModelError, Reply, Wire};

/// Who listens while a model speaks.
pub(super) type Ear<'e> = dyn FnMut(Heard<'_>) + Send + 'e;

/// How a reply comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Piece by piece, as it is said.
    #[default]
    Stream,
    /// As one document.
    Whole,
}

/// Whose service it is that speaks a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum House {
    /// The provider's own.
    #[default]
    Own,
    /// Another that speaks like it, found by its base URL.
    Compatible,
}

/// A question with all that its document depends on.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What is asked.
    pub ask: Ask<'a>,
    /// The model's name at its provider.
    pub model: &'a str,
    /// How the reply shall come.
    pub delivery: Delivery,
    /// Whose service is asked.
    pub house: House,
}

/// The document in which a question goes out. The same question makes the same bytes.
pub fn request(wire: Wire, question: &Question<'_>) -> Value {
    match wire {
        Wire::Anthropic => anthropic::request(question),
        Wire::OpenAiChat => openai_chat::request(question),
        Wire::OpenAiResponses => openai_responses::request(question),
        Wire::Gemini => gemini::request(question),
        Wire::Ollama => ollama::request(question),
    }
}

/// Reads a reply that came as one document; `asked` is the question it answers.
pub fn reply(wire: Wire, asked: Ask<'_>, document: &Value) -> Result<Reply, ModelError> {
    let mut reader = reader(wire, asked);
    reader.whole(document, &mut |_| ()).and_then(|()| reader.reply()).map_err(|trouble| trouble.error)
}

/// Reads one reply.
pub(super) trait Reader: Send {
    /// Takes an event of a stream.
    fn event(&mut self, event: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble>;

    /// Takes the reply where it comes as one document.
    fn whole(&mut self, document: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble>;

    /// Whether nothing more has to come.
    fn over(&self) -> bool;

    /// What was said; an error where the end is missing.
    fn reply(self: Box<Self>) -> Result<Reply, Trouble>;
}

/// Reads the reply to `asked`.
pub(super) fn reader(wire: Wire, asked: Ask<'_>) -> Box<dyn Reader> {
    let numbering = Numbering::after(asked.transcript);
    match wire {
        Wire::Anthropic => Box::new(anthropic::Reading::default()),
        Wire::OpenAiChat => Box::new(openai_chat::Reading::new(numbering)),
        Wire::OpenAiResponses => Box::new(openai_responses::Reading::new(numbering)),
        Wire::Gemini => Box::new(gemini::Reading::new(numbering)),
        Wire::Ollama => Box::new(ollama::Reading::new(numbering)),
    }
}
