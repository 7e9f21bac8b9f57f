//! What a handler may fail with, told apart by who reads it: the model, the client, or only the author.

use std::{
    any::Any,
    error::Error as StdError,
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use toolbay_protocol::ErrorObject;

/// What handlers return; any `std::error::Error` becomes a [`Fail`] with `?`.
pub type Result<T, E = Fail> = std::result::Result<T, E>;

/// `Ok` of a handler that is a closure, where the compiler could not tell what `?` makes of errors.
pub fn ok<T>(value: T) -> Result<T> {
    Ok(value)
}

/// A failure that the model should read and can do something about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    message: String,
    hint: Option<String>,
}

impl ToolError {
    /// A failure in one sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// The same failure, with what the model may try instead.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl StdError for ToolError {}

/// A [`ToolError`] whose message is written as with `format!`.
///
/// ```
/// let error = toolbay::tool_error!("no order {}", 7).hint("list the orders first");
/// assert_eq!(error.to_string(), "no order 7 (list the orders first)");
/// ```
#[macro_export]
macro_rules! tool_error {
    ($($text:tt)*) => { $crate::ToolError::new(::std::format!($($text)*)) };
}

/// Why a handler came to no answer. Made by `?` from any error:
///
/// - a [`ToolError`] is shown to the model;
/// - an [`ErrorObject`] goes to the client, as a protocol error;
/// - anything else is reported to the author, and the model is told a reference number (or, in a debug build, the error
///   itself).
///
/// It is no `std::error::Error` itself, which is what makes `?` work for all of them; what is none either becomes one with
/// [`Fail::other`].
pub struct Fail(Box<Reason>);

/// The kinds of [`Fail`].
#[derive(Debug)]
pub(crate) enum Reason {
    /// For the model.
    Tool(ToolError),
    /// For the client.
    Protocol(ErrorObject),
    /// For the author.
    Foreign(Box<dyn StdError + Send + Sync>),
    /// None at all: the caller was asked something, and will come back with the answer.
    Suspended,
}

impl Fail {
    /// A failure for the author, of an error that is no `std::error::Error` itself and so does not become one with `?`:
    /// a boxed one, one of `anyhow`, a text.
    ///
    /// ```
    /// async fn work() -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    ///     Err("out of coal".into())
    /// }
    ///
    /// let tool: toolbay::Tool = toolbay::Tool::new("work", "Works", || async { work().await.map_err(toolbay::Fail::other) });
    /// ```
    pub fn other(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let error = match error.into().downcast::<ToolError>() {
            Ok(error) => return Self(Box::new(Reason::Tool(*error))),
            Err(error) => error,
        };
        Self(Box::new(match error.downcast::<ErrorObject>() {
            Ok(error) => Reason::Protocol(*error),
            Err(error) => Reason::Foreign(error),
        }))
    }

    pub(crate) fn suspended() -> Self {
        Self(Box::new(Reason::Suspended))
    }

    pub(crate) fn reason(self) -> Reason {
        *self.0
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Fail {
    fn from(error: E) -> Self {
        let mut error = Some(error);
        let any: &mut dyn Any = &mut error;
        if let Some(error) = any.downcast_mut::<Option<ToolError>>().and_then(Option::take) {
            return Self(Box::new(Reason::Tool(error)));
        }
        if let Some(error) = any.downcast_mut::<Option<ErrorObject>>().and_then(Option::take) {
            return Self(Box::new(Reason::Protocol(error)));
        }
        let error = error.expect("it was taken only where it was one of the two");
        Self(Box::new(Reason::Foreign(Box::new(error))))
    }
}

impl fmt::Debug for Fail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Reason::Tool(error) => error.fmt(f),
            Reason::Protocol(error) => error.fmt(f),
            Reason::Foreign(error) => error.fmt(f),
            Reason::Suspended => f.write_str("the caller was asked something and will come back"),
        }
    }
}

/// What the model is told of an error that was not meant for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// A number under which the author finds it in the log.
    Referenced,
    /// The error itself, with its causes.
    Shown,
}

impl Default for Foreign {
    fn default() -> Self {
        if cfg!(debug_assertions) { Self::Shown } else { Self::Referenced }
    }
}

/// Something that went wrong in a handler, for the author's log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The tool, prompt or resource.
    pub subject: String,
    /// What went wrong, with its causes.
    pub what: String,
    /// The number that the other side was told.
    pub reference: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "toolbay: {} failed ({}): {}", self.subject, self.reference, self.what)
    }
}

/// An error and its causes in one line.
pub(crate) fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text
}

/// A number that names one report of this process.
pub(crate) fn reference() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    format!("ref-{:x}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_mark_keeps_who_an_error_is_for() {
        let fail = |error: Fail| error.reason();
        assert!(matches!(fail(ToolError::new("x").into()), Reason::Tool(_)));
        assert!(matches!(fail(ErrorObject::invalid_params("x").into()), Reason::Protocol(_)));
        assert!(matches!(fail(std::fmt::Error.into()), Reason::Foreign(_)));
        let nested = (|| -> Result<()> { Err(ToolError::new("x"))? })();
        assert!(matches!(nested.unwrap_err().reason(), Reason::Tool(_)));
        let boxed = |error: Box<dyn StdError + Send + Sync>| Fail::other(error).reason();
        assert!(matches!(boxed("x".into()), Reason::Foreign(_)));
        assert!(matches!(boxed(ToolError::new("x").into()), Reason::Tool(_)));
        assert!(matches!(boxed(ErrorObject::internal("x").into()), Reason::Protocol(_)));
    }
}
