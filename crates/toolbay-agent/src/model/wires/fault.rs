//! What goes wrong with a provider: whose fault it is, and whether asking again may help.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use serde_json::Value;
use toolbay_gateway::errands::{Error, Kind};

use crate::model::{ModelError, Why};

/// How much of a provider's own words is told, in characters.
const TOLD: usize = 500;

/// A failed try.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trouble {
    pub(super) error: ModelError,
    pub(super) again: Again,
}

/// Whether to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// It would end the same way.
    Never,
    /// Later, where nothing was heard yet; after that time, if the provider says so.
    Later(Option<Duration>),
}

impl Trouble {
    /// Asking again does not help.
    pub(super) fn lasting(why: Why, what: impl Into<String>) -> Self {
        Self { error: ModelError { why, what: what.into() }, again: Again::Never }
    }

    /// Asking again may help.
    pub(super) fn passing(why: Why, what: impl Into<String>) -> Self {
        Self { error: ModelError { why, what: what.into() }, again: Again::Later(None) }
    }

    /// The end of a reply is missing.
    pub(super) fn cut() -> Self {
        Self::passing(Why::Reply, "the provider's reply ends too early, before it is complete; ask again")
    }

    /// A reply that is none.
    pub(super) fn unreadable(what: &str) -> Self {
        Self::lasting(Why::Reply, format!("the provider's reply cannot be read: {what}"))
    }

    /// What the way to the provider says.
    pub(super) fn on_the_way(error: &Error) -> Self {
        match error.kind() {
            Kind::Unreachable => Self::passing(Why::Unreachable, error.to_string()),
            Kind::Closed | Kind::Overdue => Self::passing(Why::Unreachable, error.to_string()),
            _ => Self::lasting(Why::Reply, error.to_string()),
        }
    }

    /// An error that a provider tells where a reply was expected, in the middle of a stream for one.
    pub(super) fn told(error: &Value) -> Self {
        let (kind, message) = (kind(error), message(error));
        let what = format!("the provider broke off: {message}");
        match judged(&kind, &message) {
            Some(Why::Provider) | None => Self::passing(Why::Provider, what),
            Some(why) => Self::lasting(why, what),
        }
    }

    /// An answer that is no success.
    pub(super) fn refused(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let document: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let error = document.get(0).unwrap_or(&document);
        let error = error.get("error").unwrap_or(error);
        let message = match error {
            Value::Null => excerpt(&String::from_utf8_lossy(body)),
            error => message(error),
        };
        // What it calls a bad question may be better known by its status.
        let judged = judged(&kind(error), &message).filter(|why| *why != Why::Question);
        let why = judged.unwrap_or_else(|| by_status(status));
        let what = format!("{}: HTTP {}: {message}", blame(why), status.as_u16());
        let passing = matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504 | 529);
        let again = if passing && why == Why::Provider { Again::Later(asked(headers, error)) } else { Again::Never };
        Self { error: ModelError { why, what }, again }
    }
}

fn blame(why: Why) -> &'static str {
    match why {
        Why::Key => "the provider does not accept the key, or the key may not do this",
        Why::Question => "the provider does not accept the question",
        Why::TooLong => "the question is longer than the model can read",
        Why::Provider => "the provider is overloaded or out of order",
        Why::Unreachable => "the provider cannot be reached",
        Why::Reply => "the provider's reply cannot be read",
    }
}

fn by_status(status: StatusCode) -> Why {
    match status.as_u16() {
        401..=403 => Why::Key,
        413 => Why::TooLong,
        408 | 429 | 500.. => Why::Provider,
        _ => Why::Question,
    }
}

/// What the provider calls it, all names it gives at once.
fn kind(error: &Value) -> String {
    let names = ["type", "code", "status"].map(|name| error.get(name).and_then(Value::as_str).unwrap_or_default());
    let reasons = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let reasons = reasons.filter_map(|detail| detail.get("reason").and_then(Value::as_str));
    names.into_iter().chain(reasons).collect::<Vec<_>>().join(" ").to_ascii_lowercase()
}

fn judged(kind: &str, message: &str) -> Option<Why> {
    let message = message.to_ascii_lowercase();
    let named = |names: &[&str]| names.iter().any(|name| kind.contains(name));
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if named(&["authentication_error", "permission_error", "api_key_invalid", "invalid_api_key", "insufficient_quota"])
        || named(&["billing", "unauthenticated", "permission_denied"])
    {
        return Some(Why::Key);
    }
    if named(&["context_length_exceeded", "request_too_large"])
        || says(&["prompt is too long", "maximum context length", "context window", "exceed context limit"])
        || says(&["exceeds the maximum number of tokens", "context length"])
    {
        return Some(Why::TooLong);
    }
    if named(&["overloaded", "rate_limit", "server_error", "resource_exhausted", "unavailable", "api_error"])
        || named(&["timeout_error", "internal"])
        || says(&["overloaded"])
    {
        return Some(Why::Provider);
    }
    named(&["invalid_request", "invalid_argument", "invalid_prompt", "not_found"]).then_some(Why::Question)
}

/// A provider's own words, wherever it puts them.
fn message(error: &Value) -> String {
    let place = ["message", "detail", "error"].iter().find_map(|name| error.get(name).and_then(Value::as_str));
    match place.or(error.as_str()) {
        Some(text) => excerpt(text),
        None => excerpt(&error.to_string()),
    }
}

fn excerpt(text: &str) -> String {
    let plain = |symbol: char| if symbol.is_control() { ' ' } else { symbol };
    let mut shown: String = text.trim().chars().take(TOLD).map(plain).collect();
    if text.trim().chars().nth(TOLD).is_some() {
        shown.push('…');
    }
    if shown.is_empty() { "it says nothing".into() } else { shown }
}

/// When the provider wants to be asked again. Dates are not read: all five write seconds.
fn asked(headers: &HeaderMap, error: &Value) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let delay = |detail: &Value| detail.get("retryDelay")?.as_str()?.strip_suffix('s')?.parse::<f64>().ok();
    let seconds = header("retry-after-ms")
        .map(|milliseconds| milliseconds / 1000.0)
        .or_else(|| header("retry-after"))
        .or_else(|| details.filter_map(delay).next())?;
    Duration::try_from_secs_f64(seconds).ok()
}
