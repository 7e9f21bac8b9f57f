//! Why a call came to nothing, by whose fault; and what a result says beyond its content.

use std::fmt;

use serde::de::DeserializeOwned;
use toolbay_protocol::{ErrorObject, Raw, types::CallToolResult};
use toolbay_transport::Error;

/// Why a call came to nothing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// The server said no, in good order.
    Refused(ErrorObject),
    /// The server could not be reached, or was lost, or did not answer in time.
    Link(Error),
    /// The server answered, but not in a way that makes sense.
    Misfit(String),
    /// The tool failed; what it says.
    Tool(String),
    /// This client was put together in a way that the protocol does not allow; nothing was connected.
    Setup(String),
}

impl ClientError {
    pub(crate) fn misfit(what: impl fmt::Display) -> Self {
        Self::Misfit(what.to_string())
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => write!(f, "the server refuses: {error}"),
            Self::Link(error) => error.fmt(f),
            Self::Misfit(what) => write!(f, "the server's answer does not fit: {what}"),
            Self::Tool(what) => write!(f, "the tool failed: {what}"),
            Self::Setup(what) => write!(f, "the client is put together wrongly: {what}"),
        }
    }
}

impl std::error::Error for ClientError {}

impl From<Error> for ClientError {
    fn from(error: Error) -> Self {
        Self::Link(error)
    }
}

impl From<ErrorObject> for ClientError {
    fn from(error: ErrorObject) -> Self {
        Self::Refused(error)
    }
}

/// What is read from the result of a tool.
pub trait ResultExt {
    /// All its texts, one to a line.
    fn texts(&self) -> String;

    /// Its structured content; where there is none, its first text read as JSON. A failure of the tool is an error.
    fn json<T: DeserializeOwned>(&self) -> Result<T, ClientError>;
}

impl ResultExt for CallToolResult {
    fn texts(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(|block| block.as_text()).collect();
        texts.join("\n")
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T, ClientError> {
        if self.failed() {
            return Err(ClientError::Tool(self.texts()));
        }
        match (&self.structured_content, self.content.first().and_then(|block| block.as_text())) {
            (Some(structured), _) => structured.read().map_err(ClientError::misfit),
            (None, Some(text)) => serde_json::from_str(text).map_err(ClientError::misfit),
            (None, None) => Raw::NULL.read().map_err(ClientError::misfit),
        }
    }
}
