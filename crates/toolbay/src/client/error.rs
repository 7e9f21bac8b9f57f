//! Why a call came to nothing, by whose fault; and what a result says beyond its content.

use std::fmt;

use serde::{Serialize, de::DeserializeOwned};
use toolbay_protocol::{ErrorObject, Raw, raw::Kind, types::CallToolResult};
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
    /// This call was put together in a way that the protocol does not allow; nothing was sent.
    Misuse(String),
}

impl ClientError {
    /// An object as a call takes it along; `Null` where there is none.
    pub(crate) fn object<T: Serialize + ?Sized>(what: &str, value: &T) -> Result<Raw, Self> {
        let raw = Raw::encode(value).map_err(|error| Self::Misuse(format!("{what} cannot be written: {error}")))?;
        match raw.kind() {
            Kind::Object | Kind::Null => Ok(raw),
            Kind::Array | Kind::String | Kind::Number | Kind::Bool => {
                Err(Self::Misuse(format!("{what} must be an object: a struct, a map or `json!({{…}})`")))
            }
        }
    }

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
            Self::Misuse(what) => write!(f, "the call is put together wrongly: {what}"),
        }
    }
}

impl std::error::Error for ClientError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // What it says itself is said already.
            Self::Link(error) => error.source(),
            Self::Refused(_) | Self::Misfit(_) | Self::Tool(_) | Self::Setup(_) | Self::Misuse(_) => None,
        }
    }
}

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
