//! Who shares a connection to a server of the handshake with whom.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use toolbay_protocol::greeting::Introduction;
use toolbay_transport::{Caller, Principal};

use crate::{config::Isolation, sessions::Holder};

/// Whom a connection serves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    /// Whoever calls.
    Everyone,
    /// One user, in all sessions and requests of theirs.
    User(Principal),
    /// One session.
    Session(Open),
    /// One device of a user.
    Device(Box<Holder>),
}

/// A session, for as long as it is open; and after that no other.
#[derive(Clone, Debug)]
pub(crate) struct Open(Arc<Introduction>);

impl Open {
    /// The session of `caller`.
    pub(crate) fn of(caller: &Caller) -> Self {
        Self(Arc::clone(&caller.introduction))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Open {}

impl Hash for Open {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl Who {
    /// Whom the connection serves that `caller` may use.
    pub(crate) fn of(caller: &Caller, isolation: Isolation) -> Self {
        match isolation {
            Isolation::Shared => Self::Everyone,
            // A request that stands alone has no session; it is its user's.
            Isolation::PerSession if caller.session.is_some() => Self::Session(Open::of(caller)),
            Isolation::PerDevice => Self::Device(Box::new(Holder::of(caller))),
            Isolation::PerSession | Isolation::PerUser => Self::User(caller.principal.clone()),
        }
    }

    /// Whether it serves `caller`.
    pub(crate) fn is(&self, caller: &Caller) -> bool {
        match self {
            Self::Everyone => true,
            Self::User(principal) => *principal == caller.principal,
            Self::Device(holder) => **holder == Holder::of(caller),
            Self::Session(Open(session)) => Arc::ptr_eq(session, &caller.introduction),
        }
    }
}
