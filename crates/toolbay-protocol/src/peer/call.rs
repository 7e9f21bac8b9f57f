//! A request to be made over a link: what is asked for, and how long it may take.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::Presence;
use crate::{
    exchange::{Meta, Outgoing, Return, Wishes},
    frame::Id,
    greeting::Introduction,
    method::Method,
    raw::Raw,
};

/// How long a call may take while somebody is asked, at least: people think.
const THINKING: Duration = Duration::from_secs(600);
/// What is further away than this is never waited for.
const FOR_EVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 10);

/// A call of ours, whatever ids it travels under; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// How long a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Without a sign of life; progress begins it anew.
    pub silence: Duration,
    /// In all, come what may.
    pub total: Option<Duration>,
}

impl Default for Patience {
    fn default() -> Self {
        Self { silence: Duration::from_secs(60), total: None }
    }
}

/// A request to be made.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is asked for.
    pub method: Method,
    /// With what.
    pub params: Option<Raw>,
    /// What is wanted beside the outcome.
    pub wishes: Wishes,
    /// What somebody else, who was asked before, brings back.
    pub returning: Return,
    /// How long it may take.
    pub patience: Patience,
    /// Who stands behind it and can be asked; ourselves where nobody is named.
    pub behalf: Option<Arc<Introduction>>,
    /// What is known of the `_meta` among its parameters.
    pub meta: Meta,
    /// Whether whoever that is is there.
    pub presence: Presence,
}

impl Call {
    /// A request that wants its outcome and nothing else.
    pub fn new(method: Method, params: Option<Raw>) -> Self {
        let (wishes, returning, patience) = (Wishes::default(), Return::default(), Patience::default());
        Self {
            method,
            params,
            wishes,
            returning,
            patience,
            behalf: None,
            meta: Meta::Unknown,
            presence: Presence::default(),
        }
    }

    /// Its exchange, as `us`, under `id`. A stateless request declares what the one behind it can, not what we can.
    pub fn exchange(self, us: Arc<Introduction>, id: Id) -> Outgoing {
        let Return { answers, state } = self.returning;
        let exchange = Outgoing::new(us, id, self.method, self.params, self.wishes).knowing(self.meta);
        let exchange = match self.behalf {
            Some(behalf) => exchange.declaring(behalf.capabilities.clone()),
            None => exchange,
        };
        if answers.is_none() && state.is_none() { exchange } else { exchange.resuming(answers, state) }
    }
}

/// A call in flight, and when it is over.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) exchange: Outgoing,
    pub(super) behalf: Option<Arc<Introduction>>,
    pub(super) presence: Presence,
    patience: Patience,
    due: Instant,
    end: Option<Instant>,
}

impl Pending {
    pub(super) fn new(
        exchange: Outgoing,
        (behalf, presence): (Option<Arc<Introduction>>, Presence),
        patience: Patience,
        now: Instant,
    ) -> Self {
        let end = patience.total.map(|total| after(now, total));
        Self { exchange, behalf, presence, patience, due: after(now, patience.silence), end }
    }

    /// A sign of life came; while a question is open, the clock waits for the answer.
    pub(super) fn renew(&mut self, now: Instant) {
        let asked = if self.exchange.is_asked() { THINKING } else { Duration::ZERO };
        self.due = after(now, self.patience.silence.max(asked));
    }

    pub(super) fn due(&self) -> Instant {
        self.end.map_or(self.due, |end| end.min(self.due))
    }
}

fn after(now: Instant, wait: Duration) -> Instant {
    now + wait.min(FOR_EVER)
}
