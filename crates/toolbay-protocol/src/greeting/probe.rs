//! How a client finds out what a server speaks: `server/discover` first, the handshake where that is not understood
//! (spec: basic/transports/stdio and streamable-http, "backward compatibility").

use std::sync::Arc;

use super::{Introduction, Meeting, legacy, modern, modern::Discovered};
use crate::{
    exchange::Outcome,
    fault::{ErrorObject, code},
    method::Method,
    raw::Raw,
    revision::{Era, Revision},
};

/// What to do next.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// Send this request, as this client (whose revision says whether an envelope travels with it).
    Send(Arc<Introduction>, Method, Raw),
    /// The server was lost over an unknown request; start it again, then ask [`Probe::next`].
    Restart,
    /// Nothing here speaks Streamable HTTP: try HTTP with two endpoints (2024-11-05).
    TwoEndpoints,
    /// Met. After a handshake, `notifications/initialized` is due.
    Met(Meeting),
    /// No common ground; why.
    Failed(String),
}

/// What came of the last request.
#[derive(Debug)]
pub enum Came {
    /// An answer.
    Answer(Outcome),
    /// An HTTP status that is no success, with the JSON-RPC error in its body, if one was.
    Status(u16, Option<ErrorObject>),
    /// No answer in time.
    Silence,
    /// The server went away.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Discover,
    Rediscover,
    Initialize,
    Restarted,
    Reprobe,
}

/// The search itself; it only decides, somebody else sends and waits.
#[derive(Debug)]
pub struct Probe {
    us: Introduction,
    stage: Stage,
    revision: Revision,
    handshake: Revision,
    scope: Scope,
}

/// Which revisions may be found.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scope {
    Any,
    One,
}

impl Probe {
    /// A search that begins with the newest revision.
    pub fn new(us: Introduction) -> Self {
        let (revision, handshake) = (Revision::LATEST, Revision::LATEST_LEGACY);
        Self { us, stage: Stage::Discover, revision, handshake, scope: Scope::Any }
    }

    /// A search that goes straight to the handshake, where the server is known to need it.
    pub fn legacy(us: Introduction) -> Self {
        Self { stage: Stage::Initialize, ..Self::new(us) }
    }

    /// A search for one revision and no other.
    pub fn pinned(us: Introduction, revision: Revision) -> Self {
        let any = Self::new(us);
        match revision.era() {
            Era::Legacy => Self { stage: Stage::Initialize, handshake: revision, scope: Scope::One, ..any },
            Era::Modern => Self { revision, scope: Scope::One, ..any },
        }
    }

    /// The client that searches.
    pub fn client(&self) -> &Introduction {
        &self.us
    }

    /// What to do at the start, or after a restart.
    pub fn next(&self) -> Next {
        match self.stage {
            Stage::Discover | Stage::Rediscover | Stage::Reprobe => {
                Next::Send(Arc::new(self.us.in_revision(self.revision)), Method::Discover, Raw::EMPTY)
            }
            Stage::Initialize | Stage::Restarted => {
                let us = Arc::new(self.us.in_revision(self.handshake));
                let offer = legacy::offer(&us);
                Next::Send(us, Method::Initialize, offer)
            }
        }
    }

    /// What to do after what came.
    pub fn came(&mut self, came: Came) -> Next {
        match self.stage {
            Stage::Discover | Stage::Rediscover | Stage::Reprobe => self.after_discover(came),
            Stage::Initialize | Stage::Restarted => self.after_initialize(came),
        }
    }

    fn after_discover(&mut self, came: Came) -> Next {
        match came {
            Came::Answer(Ok(result)) => match modern::discovered(&result) {
                Discovered::Met(meeting) => Next::Met(meeting),
                Discovered::OnlyLegacy | Discovered::NotDiscovery => self.fall_back(),
                Discovered::Unknown(versions) => Next::Failed(format!("it speaks only {}", versions.join(", "))),
            },
            Came::Answer(Err(error)) => self.after_error(&error),
            Came::Status(status @ (500..=599), _) => Next::Failed(format!("it answers HTTP {status}: an outage")),
            Came::Status(status @ (401 | 403), _) => Next::Failed(format!(
                "it answers HTTP {status}: it wants authorization (`headers` in its configuration)"
            )),
            Came::Status(_, Some(error)) => self.after_error(&error),
            // Never keyed to one code, nor to an answer at all (spec).
            Came::Status(..) | Came::Silence => self.fall_back(),
            Came::End if self.scope == Scope::One => Next::Failed("it went away during `server/discover`".into()),
            Came::End => {
                self.stage = Stage::Restarted;
                Next::Restart
            }
        }
    }

    fn after_error(&mut self, error: &ErrorObject) -> Next {
        if is_modern(error.code) {
            return Next::Failed(format!("it refuses `server/discover`: {error}"));
        }
        if error.code != code::UNSUPPORTED_VERSION {
            return self.fall_back();
        }
        let named = error.data.as_ref().and_then(|data| data.get("supported"));
        let named = named.and_then(|all| all.read::<Vec<String>>().ok()).unwrap_or_default();
        match Revision::newest_of(Era::Modern, named.iter().map(String::as_str)) {
            Some(revision) if self.stage == Stage::Discover => {
                (self.stage, self.revision) = (Stage::Rediscover, revision);
                self.next()
            }
            Some(_) => Next::Failed(format!("it refuses a revision that it names: {error}")),
            None if !named.is_empty() && named.iter().all(|date| Revision::parse(date).is_some()) => self.fall_back(),
            None => Next::Failed(format!("it speaks only {}", named.join(", "))),
        }
    }

    fn fall_back(&mut self) -> Next {
        if self.scope == Scope::One {
            return Next::Failed(format!("it does not speak revision {}", self.revision));
        }
        if self.stage == Stage::Reprobe {
            return Next::Failed("it refuses both `initialize` and `server/discover`".into());
        }
        self.stage = Stage::Initialize;
        self.next()
    }

    fn after_initialize(&mut self, came: Came) -> Next {
        match came {
            Came::Answer(Ok(result)) => match legacy::accept(&result) {
                Ok(meeting) if self.scope == Scope::One && meeting.revision != self.handshake => {
                    Next::Failed(format!("it speaks revision {}, not {}", meeting.revision, self.handshake))
                }
                Ok(meeting) => Next::Met(meeting),
                Err(why) => Next::Failed(why),
            },
            // A slow probe had locked the peer to the modern era.
            Came::Answer(Err(error)) | Came::Status(_, Some(error)) if error.code == code::UNSUPPORTED_VERSION => {
                if self.stage == Stage::Restarted || self.scope == Scope::One {
                    return Next::Failed(format!("it refuses `initialize`: {error}"));
                }
                self.stage = Stage::Reprobe;
                self.next()
            }
            // spec: basic/transports, the older transport answers a POST with one of these
            Came::Status(400 | 404 | 405, None) => Next::TwoEndpoints,
            Came::Status(status @ (401 | 403), _) => Next::Failed(format!(
                "it answers HTTP {status}: it wants authorization (`headers` in its configuration)"
            )),
            // The same, in words that say nothing of the modern era.
            Came::Status(400 | 404 | 405, Some(error)) if !is_modern(error.code) => Next::TwoEndpoints,
            Came::Status(status, Some(error)) => Next::Failed(format!("it answers HTTP {status}: {error}")),
            Came::Status(status, None) => Next::Failed(format!("it answers `initialize` with HTTP {status}")),
            Came::Answer(Err(error)) => Next::Failed(format!("it refuses `initialize`: {error}")),
            Came::Silence => Next::Failed("it does not answer `initialize`".into()),
            Came::End => Next::Failed("it went away during `initialize`".into()),
        }
    }
}

/// Whether only a modern server says so; one that does not know a revision is asked for others first.
fn is_modern(code: i64) -> bool {
    matches!(code, code::HEADER_MISMATCH | code::MISSING_CAPABILITY)
}
