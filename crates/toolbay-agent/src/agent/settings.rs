//! How an agent works.

use std::time::Duration;

use crate::{
    results::{Pictures, ResultLimits},
    shown::Showing,
    turn::Limits,
};

/// How an agent works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the model is told before everything else.
    pub system: String,
    /// How far a turn may go.
    pub limits: Limits,
    /// Which calls of one reply may be in flight together.
    pub parallel: Parallel,
    /// How many at most.
    pub side_by_side: usize,
    /// How long a call may be silent: progress, and lines of its server's log, begin that anew. The time in which a person is
    /// asked does not count.
    pub call: Duration,
    /// How long a call may take whatever is said of it.
    pub longest_call: Duration,
    /// How long the model may take for a reply, retries among it.
    pub reply: Duration,
    /// How long a person may take to decide on a call, or to answer a server; then it is refused, or cancelled.
    pub patience: Duration,
    /// The most the model may say at once, in tokens; the provider's own most where none is told.
    pub reply_tokens: Option<u32>,
    /// How much of a result the model is shown.
    pub results: ResultLimits,
    /// What is done with pictures in results; [`Pictures::on`] the model's wire where nothing is told.
    pub pictures: Option<Pictures>,
    /// How many definitions the model is shown.
    pub showing: Showing,
}

/// Which calls of one reply may be in flight together. Those that may not are made one by one, in the order in which the
/// model wants them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parallel {
    /// None.
    Never,
    /// Those of tools that change nothing, on servers that are trusted.
    #[default]
    ReadOnly,
    /// All.
    Always,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            system: String::new(),
            limits: Limits::default(),
            parallel: Parallel::default(),
            side_by_side: 8,
            call: Duration::from_secs(120),
            longest_call: Duration::from_secs(3_600),
            reply: Duration::from_secs(600),
            patience: Duration::from_secs(3_600),
            reply_tokens: None,
            results: ResultLimits::default(),
            pictures: None,
            showing: Showing::default(),
        }
    }
}

/// How many characters a token stands for, on average.
const CHARS: usize = 4;
/// The share of the context that one result may take: one in so many.
const RESULTS: usize = 20;

impl Settings {
    /// For a model that can read so many tokens: definitions and results take no more than their share of them.
    pub fn reading(tokens: u32) -> Self {
        let usual = ResultLimits::default();
        let chars = usual.chars.min(tokens as usize * CHARS / RESULTS).max(200);
        let results = ResultLimits {
            chars,
            error: usual.error.min(chars),
            preview: usual.preview.min(chars / 2),
            page: usual.page.min(chars),
            ..usual
        };
        let showing = Showing { context: tokens, ..Showing::default() };
        Self { results, showing, ..Self::default() }
    }
}
