//! A span that is over.

use std::time::{Duration, SystemTime};

use super::{
    attribute::{Attribute, Value},
    context::{Context, SpanId},
    labels::Labels,
};

/// A span that is over.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) context: Context,
    pub(super) parent: Option<SpanId>,
    /// Where the transport says that it comes from, where that is not the parent.
    pub(super) link: Option<Box<Context>>,
    pub(super) side: Side,
    pub(super) begun: SystemTime,
    pub(super) took: Duration,
    pub(super) labels: Labels,
    /// Said of the span alone, since there is no end to the values.
    pub(super) more: Vec<(&'static str, String)>,
    /// What came of it, in a word; on the caller's side.
    pub(super) outcome: Option<&'static str>,
    pub(super) status: Status,
}

impl Span {
    pub(super) fn attributes(&self) -> Vec<Attribute<'_>> {
        let mut all = self.labels.attributes();
        all.extend(self.more.iter().map(|(name, value)| (*name, Value::Text(value))));
        all.extend(self.outcome.map(|outcome| ("toolbay.outcome", Value::Text(outcome))));
        all
    }
}

/// Whose part of a request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    /// Of whoever is called.
    Server,
    /// Of whoever calls.
    Client,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Well, or there is nothing to say.
    Unset,
    /// With an error, in words where there are any.
    Failed(String),
}
