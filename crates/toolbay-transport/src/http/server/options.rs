//! How an endpoint is run. Every limit has a finite default and is named in the error that it causes.

use std::{fmt, sync::Arc, time::Duration};

use http::{HeaderValue, StatusCode, request};
use toolbay_protocol::{peer::Allowance, scan};

use crate::Principal;

/// How an endpoint is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it is.
    pub path: Path,
    /// The two endpoints of 2024-11-05, where they are offered.
    pub sse: Option<Pair>,
    /// By which names it may be called (`Host`); any other is how a rebound domain looks.
    pub hosts: Names,
    /// Pages of which origins may call it (`Origin`); requests that no page sent carry none.
    pub origins: Names,
    /// Who is calling.
    pub admit: Admit,
    /// What else may be looked at, by whoever may knock at all: how the server does, for one.
    pub pages: Pages,
    /// How large a message may be.
    pub request_bytes: usize,
    /// How deep and wide its JSON may be, and how many of them an array may hold.
    pub json: scan::Limits,
    /// How large the head of a request may be, its names and values together.
    pub head_bytes: usize,
    /// How long a message may take to come in.
    pub read_timeout: Duration,
    /// How many legacy sessions may be open.
    pub sessions: usize,
    /// How long a session lasts after its client was last heard of; calls that still run are cancelled then.
    pub session_idle: Duration,
    /// What one client may have going at once.
    pub allowance: Allowance,
    /// How much is kept of each session's streams, for clients that come back.
    pub replay: Replay,
    /// How long a client is told to wait before it comes back.
    pub retry: Duration,
    /// After how much silence a sign of life is sent. A call that takes longer is answered as a stream.
    pub keep_alive: Duration,
    /// How long calls in flight may go on after a shutdown.
    pub grace: Duration,
    /// How many connections [`serve`](super::serve()) holds; more wait to be accepted.
    pub connections: usize,
    /// How long a connection may be silent before [`serve`](super::serve()) closes it; also how long the head of a request
    /// may take.
    pub connection_idle: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            path: Path::At("/mcp".into()),
            sse: None,
            hosts: Names::Loopback,
            origins: Names::Loopback,
            admit: Admit::default(),
            pages: Pages::default(),
            request_bytes: 4 << 20,
            json: scan::Limits::DEFAULT,
            head_bytes: 16 << 10,
            read_timeout: Duration::from_secs(60),
            sessions: 10_000,
            session_idle: Duration::from_secs(30 * 60),
            allowance: Allowance::default(),
            replay: Replay { events: 256, bytes: 1 << 20 },
            retry: Duration::from_secs(1),
            keep_alive: Duration::from_secs(15),
            grace: Duration::from_secs(5),
            connections: 16_384,
            connection_idle: Duration::from_secs(120),
        }
    }
}

/// Where an endpoint is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// At this path alone.
    At(Box<str>),
    /// Wherever the application routes to it.
    Anywhere,
}

/// The paths of the two endpoints of 2024-11-05.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Where the stream is opened.
    pub stream: Box<str>,
    /// Where messages are posted.
    pub messages: Box<str>,
}

impl Default for Pair {
    fn default() -> Self {
        Self { stream: "/sse".into(), messages: "/messages".into() }
    }
}

/// Which names are let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// Those of this machine (`localhost`, `127.0.0.1`, `[::1]`) with any port.
    Loopback,
    /// These: `host` (any port), `host:port`, or a whole origin (`https://host`).
    Only(Vec<String>),
    /// All; for an endpoint that is meant to be reached from anywhere and asks for a token.
    Any,
}

/// How much is kept for clients that come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    /// How many events a session.
    pub events: usize,
    /// How many bytes a session.
    pub bytes: usize,
}

/// Tells who is calling, from the head of a request.
#[derive(Clone)]
pub struct Admit(Arc<Judge>);

type Judge = dyn Fn(&request::Parts) -> Result<Principal, Refused> + Send + Sync;

impl Admit {
    /// Admits by `judge`, which should be quick: slow checks belong before the endpoint.
    pub fn by(judge: impl Fn(&request::Parts) -> Result<Principal, Refused> + Send + Sync + 'static) -> Self {
        Self(Arc::new(judge))
    }

    pub(super) fn judge(&self, head: &request::Parts) -> Result<Principal, Refused> {
        (self.0)(head)
    }
}

/// A [`Principal`] that the application put into the request's extensions, else the local user.
impl Default for Admit {
    fn default() -> Self {
        Self::by(|head| Ok(head.extensions.get::<Principal>().cloned().unwrap_or(Principal::Local)))
    }
}

impl fmt::Debug for Admit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Admit")
    }
}

/// Pages beside the endpoint, by path, made anew for each GET.
#[derive(Clone, Default)]
pub struct Pages(Option<Arc<Write>>);

type Write = dyn Fn(&str, &str) -> Option<Page> + Send + Sync;

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its status.
    pub status: StatusCode,
    /// Its media type.
    pub kind: &'static str,
    /// What stands in it.
    pub text: String,
}

impl Pages {
    /// The pages that `write` knows, by path and query; it should be quick.
    pub fn by(write: impl Fn(&str, &str) -> Option<Page> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(write)))
    }

    pub(super) fn at(&self, path: &str, query: &str) -> Option<Page> {
        self.0.as_ref().and_then(|write| write(path, query))
    }
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pages")
    }
}

/// Why somebody is not let in.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// 401 or 403.
    pub status: StatusCode,
    /// What to do about it, for `WWW-Authenticate`.
    pub challenge: Option<HeaderValue>,
    /// One sentence for people.
    pub message: String,
}

impl Refused {
    /// 401: whoever this is must show a token.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        let challenge = Some(HeaderValue::from_static("Bearer"));
        Self { status: StatusCode::UNAUTHORIZED, challenge, message: message.into() }
    }

    /// 403: whoever this is may not.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, challenge: None, message: message.into() }
    }
}
