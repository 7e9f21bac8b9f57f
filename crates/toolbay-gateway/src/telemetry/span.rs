//! A span that is over.

use std::time::{Duration, SystemTime};

use super::{
    attribute::Attribute,
    context::{Context, SpanId},
};

/// A span that is over.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) context: Context,
    pub(super) parent: Option<SpanId>,
    /// Where the transport says that it comes from, where that is not the parent.
    pub(super) link: Option<Context>,
    pub(super) name: String,
    pub(super) side: Side,
    pub(super) begun: SystemTime,
    pub(super) took: Duration,
    pub(super) attributes: Vec<Attribute>,
    pub(super) status: Status,
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
