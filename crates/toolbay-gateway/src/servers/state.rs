//! How a server is doing.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use toolbay_protocol::Revision;

use super::circuit::Circuit;
use crate::metrics::Counted;

/// What a server offers, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Tools.
    pub tools: usize,
    /// Prompts.
    pub prompts: usize,
    /// Resources, templates included.
    pub resources: usize,
}

/// Where a server stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is being started and met.
    Connecting,
    /// It serves.
    Ready {
        /// The revision spoken with it.
        revision: Revision,
        /// What it offers.
        counts: Counts,
        /// How long it took to be ready.
        took: Duration,
    },
    /// It does not serve; why.
    Failed(String),
    /// It does not run, and is started by the next request that needs it.
    Resting {
        /// What it offered when it ran last.
        counts: Option<Counts>,
    },
    /// The configuration turns it off.
    Disabled,
}

impl Phase {
    /// Whether it is decided, for now, how this server does.
    pub fn is_settled(&self) -> bool {
        *self != Self::Connecting
    }
}

/// Why a server is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// It is to run.
    #[default]
    Begun,
    /// It rested, which is as good as serving, and somebody needs it.
    Woken,
}

/// A server and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its name in the configuration.
    pub server: Arc<str>,
    /// How it is reached, in a word.
    pub transport: &'static str,
    /// Where it stands.
    pub phase: Phase,
    /// Why it is started, where it is.
    pub cause: Cause,
    /// What was counted of it since it was first started.
    pub counted: Counted,
    /// Where its circuit stands.
    pub circuit: Circuit,
    /// What it was lost to last, also where it is back.
    pub last_error: Option<String>,
    /// Its processes, where it is a child of ours.
    pub processes: Vec<u32>,
    /// How many sessions of devices it has, where it keeps some.
    pub devices: Option<usize>,
}
