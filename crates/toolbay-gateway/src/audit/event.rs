//! One call on record; never its arguments or results.

use std::{sync::Arc, time::Duration};

use toolbay_protocol::Method;
use toolbay_transport::Principal;

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With a result.
    Done,
    /// With an error; its code.
    Failed(i64),
    /// With a question: the caller will return.
    Asked,
    /// The caller left, or took it back.
    Abandoned,
}

/// A call on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who called.
    pub principal: Principal,
    /// What was asked for.
    pub method: Method,
    /// The public name or URI, where there is one.
    pub target: Option<Arc<str>>,
    /// The server that was called, where it came to that.
    pub server: Option<Arc<str>>,
    /// How it ended.
    pub end: End,
    /// How long it took.
    pub took: Duration,
}
