//! What goes wrong below the protocol, in words that say whose fault it is and what to do: connections that do not come
//! about, answers that are no success.

use std::{error::Error as StdError, io, time::Duration};

use http::{StatusCode, Uri};
use toolbay_protocol::{ErrorObject, Id};

use super::place::Shown;
use crate::{Error, Kind};

/// A connection that did not come about.
pub(super) fn unreachable(url: &Uri, error: Box<dyn StdError + Send + Sync>) -> Error {
    let authority = url.authority().map(|authority| authority.as_str()).unwrap_or_default();
    if let Some(ours) = find::<Error>(&*error) {
        return ours.clone();
    }
    if let Some(tls) = find::<rustls::Error>(&*error) {
        let what = format!("TLS with {authority} failed: {}", tls_advice(tls));
        return Error::new(Kind::Unreachable, what).caused_by(tls.clone());
    }
    let refused = find::<io::Error>(&*error).map(io::Error::kind);
    let what = match refused {
        _ if says(&*error, "dns error") => {
            let host = url.host().unwrap_or_default();
            format!("the host {host} cannot be found (DNS): is it spelt right, and is the network up?")
        }
        Some(io::ErrorKind::ConnectionRefused) => {
            format!("nothing listens at {authority} (connection refused): is the server running, is the port right?")
        }
        Some(io::ErrorKind::TimedOut) => {
            format!("{authority} does not answer: is it up, and does a firewall let us through?")
        }
        Some(_) | None => format!("no connection to {authority}"),
    };
    Error::new(Kind::Unreachable, what).caused_by(Wrapped(error))
}

fn tls_advice(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InvalidCertificate(_) => {
            "its certificate is not trusted on this machine (SSL_CERT_FILE names further authorities)"
        }
        rustls::Error::InvalidMessage(_) => "does it speak TLS at all? Perhaps the address should begin with http://",
        _ => "the two found no common ground",
    }
}

/// A connection that did not come about in time.
pub(super) fn slow(url: &Uri, limit: Duration) -> Error {
    let authority = url.authority().map(|authority| authority.as_str()).unwrap_or_default();
    let what = format!("no connection to {authority} within {:.1} s (limit `connect`): is it up?", limit.as_secs_f64());
    Error::new(Kind::Unreachable, what)
}

/// A request that brought no answer.
pub(super) fn unanswered(url: &Uri, error: hyper_util::client::legacy::Error) -> Error {
    if let Some(ours) = find::<Error>(&error) {
        return ours.clone();
    }
    Error::closed(format!("{} broke the connection before it answered", Shown(url))).caused_by(error)
}

/// An answer that ended too early.
pub(super) fn broken(error: hyper::Error) -> Error {
    Error::closed("the connection broke in the middle of an answer").caused_by(error)
}

/// The first cause of type `E`.
fn find<'e, E: StdError + 'static>(error: &'e (dyn StdError + 'static)) -> Option<&'e E> {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // An io error hides what it wraps from `source`.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        at = match inner {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

fn says(error: &(dyn StdError + 'static), word: &str) -> bool {
    error.to_string().contains(word) || error.source().is_some_and(|cause| says(cause, word))
}

/// A boxed error as a cause.
#[derive(Debug)]
struct Wrapped(Box<dyn StdError + Send + Sync>);

impl std::fmt::Display for Wrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Wrapped {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// An answer that is no success.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// Its status.
    pub(crate) status: StatusCode,
    /// The JSON-RPC error in its body, and the request it names.
    pub(crate) error: Option<(Option<Id>, ErrorObject)>,
    /// What else it says; an excerpt.
    pub(crate) text: String,
    /// What sort of text that is.
    pub(crate) page: Page,
    /// When to come back.
    pub(crate) retry_after: Option<String>,
}

/// Whether an answer was meant for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// A web page.
    Web,
    /// Anything else.
    Other,
}

impl Refusal {
    /// Whether it says nothing about what is spoken at this place: authorization, overload, outage.
    pub(super) fn is_no_verdict(&self) -> bool {
        matches!(self.status.as_u16(), 401 | 403 | 407 | 429) || self.status.is_server_error()
    }

    /// The error of a call, or of a meeting, that came to this.
    pub(super) fn to_error(&self, url: &Uri) -> Error {
        let (url, status) = (Shown(url), self.status.as_u16());
        let (kind, what, advice) = match status {
            401 => (
                Kind::Unauthorized,
                format!("{url} wants authorization (HTTP 401)"),
                ": put a header into its configuration, or mend the one there".into(),
            ),
            403 => (
                Kind::Unauthorized,
                format!("{url} refuses access (HTTP 403)"),
                ": look at the authorization header in its configuration".into(),
            ),
            404 => (Kind::Incompatible, format!("{url} is not there (HTTP 404)"), RIGHT_PATH.into()),
            405 => (Kind::Incompatible, format!("{url} does not take such requests (HTTP 405)"), RIGHT_PATH.into()),
            413 => (Kind::Limit, format!("{url} finds the message too large (HTTP 413)"), String::new()),
            429 | 503 => (Kind::Busy, format!("{url} has no room for this now (HTTP {status})"), self.again()),
            500..=599 => (
                Kind::Unreachable,
                format!("{url} answers HTTP {status}"),
                ": an outage of the server, or of a proxy before it".into(),
            ),
            _ => (Kind::Misbehaved, format!("{url} answers HTTP {status}"), String::new()),
        };
        Error::new(kind, what + &self.said() + &advice)
    }

    fn again(&self) -> String {
        self.retry_after.as_ref().map(|after| format!(": try again after {after}")).unwrap_or_default()
    }

    fn said(&self) -> String {
        match &self.error {
            Some((_, error)) => format!(" and says {:?}", excerpt(&error.to_string())),
            None if self.page == Page::Web => " and answers with a web page".into(),
            None if self.text.is_empty() => String::new(),
            None => format!(" and says {:?}", self.text),
        }
    }
}

/// What to do about an address where nothing of the kind is.
const RIGHT_PATH: &str = ": is the path right?";

/// A success that holds a page for people instead of a message.
pub(super) fn web_page(url: &Uri) -> Error {
    let what = format!("{} answers with a web page instead of a message: is the path right?", Shown(url));
    Error::new(Kind::Incompatible, what)
}

/// The beginning of a foreign text, on one line.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 200;
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST + 1).collect();
    let line = line.trim();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_nobody_vouches_for_is_called_so() {
        let inner = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let outer = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, inner));
        let error = unreachable(&"https://h/mcp".parse().unwrap(), Box::new(outer));
        assert_eq!(error.kind(), Kind::Unreachable);
        let what = error.to_string();
        assert!(what.contains("not trusted on this machine") && what.contains("UnknownIssuer"), "{what}");
    }

    #[test]
    fn foreign_text_is_cut_and_kept_on_one_line() {
        assert_eq!(excerpt(" a\nb\u{1b}[0m "), "a b [0m");
        let long = excerpt(&"ü".repeat(500));
        assert_eq!((long.chars().count(), long.ends_with('…')), (201, true));
    }
}
