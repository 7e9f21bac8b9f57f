//! A conversation, as no provider writes it: what people, the model and tools said, in order. Not for the words of a
//! provider: see [`model`](crate::model).

use serde_json::{Map, Value};

/// What was said so far; grows at its end alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// What the model is told before everything else; the same throughout a conversation, so that providers can keep it.
    pub system: String,
    /// In the order in which it was said.
    pub messages: Vec<Message>,
}

/// One turn of one of those who speak.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Of the person, with what the application put beside it.
    User(Vec<Part>),
    /// Of the model.
    Model(Said),
    /// Of tools: one result for each intent of the message before, in the order of the intents.
    Tools(Vec<Answer>),
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub what: Content,
    /// Where it comes from, where neither the person nor the application wrote it.
    pub origin: Option<Origin>,
}

/// What a piece is.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Words.
    Text(String),
    /// A picture, in base64.
    Image {
        /// Its type, such as `image/png`.
        media: String,
        /// Its bytes, in base64.
        data: String,
    },
}

/// The server, and the thing of it, that a piece comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The server.
    pub server: String,
    /// A tool's own name, or the URI of a resource.
    pub what: String,
}

impl Part {
    /// Words of the person or the application.
    pub fn text(text: impl Into<String>) -> Self {
        Self { what: Content::Text(text.into()), origin: None }
    }

    /// The piece, marked with where it comes from.
    #[must_use]
    pub fn from(self, server: impl Into<String>, what: impl Into<String>) -> Self {
        Self { origin: Some(Origin { server: server.into(), what: what.into() }), ..self }
    }
}

/// What a model said in one turn, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// Piece by piece.
    pub pieces: Vec<Piece>,
}

/// A piece of what a model said.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Words for the person.
    Text(String),
    /// A tool that it wants called.
    Intent(Intent),
    /// What only its provider understands, and wants back as it was and where it was: thoughts, signatures.
    Kept(Value),
}

/// A tool that the model wants called.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    /// What its answer is known by; made up where the provider has no such thing.
    pub id: String,
    /// The name it was shown by.
    pub name: String,
    /// What the model wrote as arguments.
    pub arguments: Written,
    /// What the provider wants back on this very piece, such as a signature of thoughts.
    pub kept: Option<Value>,
}

/// Arguments as a model wrote them.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// An object.
    Object(Map<String, Value>),
    /// No object: text that is no JSON, or JSON of another kind.
    Unreadable(String),
}

/// What a tool, or whoever answers in its place, says to an intent.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The intent's.
    pub id: String,
    /// The name the tool was shown by; some providers want it again.
    pub name: String,
    /// What the model is told.
    pub parts: Vec<Part>,
    /// Whether the call did not succeed.
    pub outcome: Outcome,
}

/// Whether a call succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did.
    Success,
    /// It did not; the parts say why.
    Failure,
}

impl Said {
    /// Its words for the person.
    pub fn text(&self) -> String {
        self.pieces
            .iter()
            .filter_map(|piece| if let Piece::Text(text) = piece { Some(text.as_str()) } else { None })
            .collect()
    }

    /// The tools it wants called, in order.
    pub fn intents(&self) -> impl Iterator<Item = &Intent> {
        self.pieces.iter().filter_map(|piece| if let Piece::Intent(intent) = piece { Some(intent) } else { None })
    }
}
