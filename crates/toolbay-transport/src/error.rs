//! What can go wrong between two programs, and whose fault it is.

use std::{error::Error as StdError, fmt, time::Duration};

/// Why a link, or a call on it, failed. What the peer answered in good order is no error of this kind.
#[derive(Debug, Clone)]
pub struct Error {
    kind: Kind,
    what: String,
    source: Option<std::sync::Arc<dyn StdError + Send + Sync>>,
}

/// The sort of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The peer could not be reached or started.
    Unreachable,
    /// No common ground with the peer.
    Incompatible,
    /// The link ended; whatever was under way is lost.
    Closed,
    /// Nothing came in time.
    Overdue,
    /// The peer broke the protocol.
    Misbehaved,
    /// A limit of ours was met.
    Limit,
    /// The peer wants authorization.
    Unauthorized,
    /// The session is unknown to the server; it must be opened again.
    SessionLost,
    /// The peer has no room for this now; later it may.
    Busy,
}

impl Error {
    /// A failure in one sentence.
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), source: None }
    }

    /// The same failure with its cause.
    #[must_use]
    pub fn caused_by(self, source: impl StdError + Send + Sync + 'static) -> Self {
        Self { source: Some(std::sync::Arc::new(source)), ..self }
    }

    /// The link is gone.
    pub fn closed(what: impl Into<String>) -> Self {
        Self::new(Kind::Closed, what)
    }

    /// Nothing came in time.
    pub fn overdue(what: &str, after: Duration) -> Self {
        Self::new(Kind::Overdue, format!("{what} took longer than {:.1} s", after.as_secs_f64()))
    }

    /// The sort of failure.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            let said = error.to_string();
            if !self.what.contains(&said) {
                write!(f, ": {said}")?;
            }
            cause = error.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
    }
}
