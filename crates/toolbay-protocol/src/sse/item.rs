//! What a stream says, and what can be wrong with it. Not for reading it: see `read`.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

/// Something a stream said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// An event with data.
    Message(Message),
    /// An event without data, whose id or delay still counts.
    Priming(Priming),
}

/// An event with data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What to send as `Last-Event-ID` from now on, if the event gave one.
    pub id: Option<String>,
    /// The kind of event.
    pub name: Name,
    /// How long to wait before reconnecting from now on, if the event said so.
    pub retry: Option<Duration>,
    /// The payload, valid UTF-8 and not empty; a slice of the pushed chunk when it came whole in one `data:` line.
    pub data: Bytes,
}

/// What an event without data leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priming {
    /// What to send as `Last-Event-ID` from now on, if the event gave one.
    pub id: Option<String>,
    /// How long to wait before reconnecting from now on, if the event said so.
    pub retry: Option<Duration>,
}

/// The kind of an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Name {
    /// `message`, or no name at all.
    #[default]
    Message,
    /// `endpoint`, the first event of the transport of 2024-11-05.
    Endpoint,
    /// Anything else; a client ignores it.
    Other(String),
}

/// What is wrong with a stream; its writer is to blame. Reading may go on with the next event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamFault {
    /// An event grew beyond the limit; the rest of it is thrown away.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// An event was not UTF-8 and was thrown away.
    NotUtf8,
}

impl fmt::Display for StreamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => {
                write!(
                    f,
                    "the peer sent an event larger than the limit of {limit} bytes; raise the limit if it is meant"
                )
            }
            Self::NotUtf8 => f.write_str("the peer sent an event that is not UTF-8"),
        }
    }
}

impl std::error::Error for StreamFault {}

impl Item {
    /// The id of the event, to be remembered for resuming.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Message(message) => message.id.as_deref(),
            Self::Priming(priming) => priming.id.as_deref(),
        }
    }

    /// The delay the event asks for before reconnecting.
    pub fn retry(&self) -> Option<Duration> {
        match self {
            Self::Message(message) => message.retry,
            Self::Priming(priming) => priming.retry,
        }
    }
}

impl Name {
    pub(super) fn of(text: String) -> Self {
        match text.as_str() {
            "" | "message" => Self::Message,
            "endpoint" => Self::Endpoint,
            _ => Self::Other(text),
        }
    }
}
