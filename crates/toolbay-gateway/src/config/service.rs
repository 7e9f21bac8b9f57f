//! A service that does not speak the protocol and is one tool here, as it can be called.

use std::time::Duration;

use toolbay_protocol::Raw;

use super::running::Remote;
use crate::registry::Call;

/// Such a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Where.
    pub remote: Remote,
    /// The name of its tool.
    pub name: String,
    /// What the tool is good for.
    pub description: Option<String>,
    /// What the tool takes.
    pub schema: Raw,
    /// What is posted.
    pub call: Call,
    /// How it answers.
    pub answering: Answering,
}

/// How a service answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answering {
    /// In the answer to the call.
    AtOnce,
    /// Later: it is polled.
    Polled(Polling),
    /// So, unless it turns out to be an MCP server over HTTP+SSE.
    Unknown(Polling),
}

/// How a service is polled.
#[derive(Clone, Debug, PartialEq)]
pub struct Polling {
    /// Where; `{session_id}` stands for what the service answered.
    pub url: String,
    /// How often at most.
    pub attempts: u32,
    /// How far apart.
    pub interval: Duration,
}

impl Polling {
    /// How often at most, where nothing is said.
    pub const ATTEMPTS: u32 = 30;
    /// How far apart, where nothing is said.
    pub const INTERVAL: Duration = Duration::from_secs(1);
}
