//! What the protocol itself puts into `_meta` (spec: basic/index). Keys of others pass untouched.

use serde::de::DeserializeOwned;

use super::{Meta, ProgressToken};
use crate::{
    raw::{Object, Raw},
    revision::{Feature as F, Revision},
};

/// Keys of `_meta` that the spec defines.
pub mod key {
    /// Names the request that progress is about.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// The revision a request speaks (2026-07-28).
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the client can do, for this request (2026-07-28).
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Who asks (2026-07-28).
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// How much to log for this request (2026-07-28).
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Who answers (2026-07-28).
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// Which `subscriptions/listen` a notification belongs to (2026-07-28).
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// Which task a message belongs to (2025-11-25).
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// What the model may be told while a task runs (2025-11-25).
    pub const IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
}

impl Meta {
    /// The value of `key` as a `T`; `None` where it is absent or something else.
    pub fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.get(key)?.read().ok()
    }

    /// The token that progress of this request should carry.
    pub fn progress_token(&self) -> Option<ProgressToken> {
        self.read(key::PROGRESS_TOKEN)
    }
}

/// The protocol's own keys that not every revision knows.
const HISTORY: [(&str, F); 8] = [
    (key::PROTOCOL_VERSION, F::Stateless),
    (key::CLIENT_CAPABILITIES, F::Stateless),
    (key::CLIENT_INFO, F::Stateless),
    (key::LOG_LEVEL, F::Stateless),
    (key::SERVER_INFO, F::Stateless),
    (key::SUBSCRIPTION_ID, F::Stateless),
    (key::RELATED_TASK, F::CoreTasks),
    (key::IMMEDIATE_RESPONSE, F::CoreTasks),
];

/// Whether `key` is the protocol's own and `revision` does not know it.
fn is_unknown(key: &str, revision: Revision) -> bool {
    HISTORY.iter().any(|(known, since)| *known == key && !revision.has(*since))
}

/// Takes out the protocol's own keys that `revision` does not know; a `_meta` that this empties goes too.
pub(crate) fn conform_meta(meta: &mut Option<Meta>, revision: Revision) {
    let Some(keys) = meta else { return };
    let before = keys.len();
    keys.retain(|name, _| !is_unknown(name, revision));
    if keys.is_empty() && before > 0 {
        *meta = None;
    }
}

/// A `_meta` without the protocol's own keys that `revision` does not know; none where that empties it.
pub(crate) fn conformed_meta(meta: &Raw, revision: Revision) -> Option<Raw> {
    let mut kept = Object::with_capacity(meta.as_bytes().len());
    kept.append(meta, |key| is_unknown(key, revision));
    Some(kept.finish()).filter(|kept| *kept != Raw::EMPTY || *meta == Raw::EMPTY)
}

/// Whether `raw`, a `_meta`, holds a key that `revision` does not know.
pub(crate) fn needs_conform(raw: &Raw, revision: Revision) -> bool {
    raw.members().any(|member| is_unknown(&member.key, revision))
}
