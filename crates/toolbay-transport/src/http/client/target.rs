//! What the owner of a connection decides: where a server is, what is sent along, how much is accepted.

use std::{fmt, time::Duration};

use http::{HeaderMap, Uri, header};
use toolbay_protocol::scan;

use super::{guard::Reach, place::Shown};
use crate::{Error, Kind};

/// A server to be reached over HTTP.
#[derive(Clone)]
pub struct Target {
    /// Its endpoint; `http` or `https`, with a host.
    pub url: Uri,
    /// What is sent with every request, `Authorization` for one. Treated as secret: never printed, never sent to another
    /// origin. What the transport sets itself (`Content-Type`, `Accept`, lengths, the protocol's own headers) stays so.
    pub headers: HeaderMap,
    /// Which transport it speaks.
    pub mode: Mode,
    /// How much is accepted of it.
    pub limits: Limits,
    /// Which addresses its name may lead to.
    pub reach: Reach,
}

/// Which transport a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Whichever it turns out to be: Streamable HTTP of either era first, then HTTP with two endpoints.
    #[default]
    Auto,
    /// HTTP with two endpoints (2024-11-05), known beforehand.
    LegacySse,
}

/// How much is accepted of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How large one message, or one event of a stream, may be.
    pub message_bytes: usize,
    /// How long a connection may take, name lookup and TLS included.
    pub connect: Duration,
    /// How many calls may be in flight at once; further ones wait.
    pub requests_in_flight: usize,
    /// How many questions of it, that belong to no call, may be open at once.
    pub questions_in_flight: usize,
    /// How deep and wide the JSON of one message may be.
    pub json: scan::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 64 << 20,
            connect: Duration::from_secs(10),
            requests_in_flight: 1024,
            questions_in_flight: 64,
            json: scan::Limits::DEFAULT,
        }
    }
}

impl Target {
    /// A server at `url` with nothing special about it.
    pub fn new(url: Uri) -> Self {
        Self { url, headers: HeaderMap::new(), mode: Mode::Auto, limits: Limits::default(), reach: Reach::Anywhere }
    }

    /// An error where the address cannot be called.
    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |what: &str| Err(Error::new(Kind::Unreachable, format!("{}: {what}", Shown(&self.url))));
        if !matches!(self.url.scheme_str(), Some("http" | "https")) {
            return wrong("the address must begin with http:// or https://");
        }
        match self.url.authority() {
            Some(authority) if authority.as_str().contains('@') => Err(Error::new(
                Kind::Unreachable,
                "the address carries a user name or password: send them in the header `Authorization` instead",
            )),
            Some(authority) if !authority.host().is_empty() => Ok(()),
            Some(_) | None => wrong("the address names no host"),
        }
    }

    /// The headers to send with every request: marked as secret, without those that belong to the link itself.
    pub(super) fn fixed_headers(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        for name in [
            header::CONNECTION,
            header::CONTENT_LENGTH,
            header::TE,
            header::TRAILER,
            header::TRANSFER_ENCODING,
            header::UPGRADE,
        ] {
            headers.remove(name);
        }
        headers.values_mut().for_each(|value| value.set_sensitive(true));
        headers
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, headers, mode, limits, reach } = self;
        let names: Vec<_> = headers.keys().collect();
        f.debug_struct("Target")
            .field("url", &Shown(url).to_string())
            .field("headers", &names)
            .field("mode", mode)
            .field("limits", limits)
            .field("reach", reach)
            .finish()
    }
}
