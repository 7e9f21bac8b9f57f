//! What a client says of itself: once (handshake), or with each request (stateless).

use bytes::Bytes;
use serde_json::Value;

use super::{Device, envelope};
use crate::{
    exchange::Ask,
    fault::{Fault, Unsupported},
    method::Method,
    raw::{Kind, Object, Raw},
    revision::Revision,
    types::{ClientCapabilities, Conform},
};

/// A client, as it introduced itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Introduction {
    /// The revision that is spoken with it.
    pub revision: Revision,
    /// Its name and version (`Implementation`); only ever shown, never trusted.
    pub client: Option<Raw>,
    /// What it can do (`ClientCapabilities`).
    pub capabilities: Raw,
    /// On which of its user's devices it states to be.
    pub device: Option<Device>,
}

impl Introduction {
    /// A client of `revision` that says nothing of itself and can nothing.
    pub fn anonymous(revision: Revision) -> Self {
        Self { revision, client: None, capabilities: Raw::EMPTY, device: None }
    }

    /// The same in memory of its own, without the message that it came in, for whoever keeps it; an error where it has more
    /// than so many bytes.
    pub fn kept(self, most: usize) -> Result<Self, Fault> {
        let Self { revision, client, capabilities, device } = self;
        let size = client.as_ref().map_or(0, |client| client.as_bytes().len()) + capabilities.as_bytes().len();
        if size > most {
            let what = format!("the client says more than {most} bytes of itself (limit `introduction_bytes`)");
            return Err(Fault::params(what));
        }
        let copy = |raw: Raw| Raw::judged(Bytes::copy_from_slice(raw.as_bytes()));
        Ok(Self { revision, client: client.map(copy), capabilities: copy(capabilities), device })
    }

    /// Whether a capability was declared, by its path: `["sampling", "tools"]`.
    pub fn declares(&self, path: &[&str]) -> bool {
        let found = path.iter().try_fold(self.capabilities.clone(), |at, key| at.get(key));
        found.is_some_and(|found| found.kind() != Kind::Null && found.as_bytes() != b"false")
    }

    /// An error where this client did not declare that it answers `ask`, mode and tools included.
    pub fn admits(&self, ask: &Ask) -> Result<(), Fault> {
        let declared = match (&ask.method, mode(ask)) {
            (Method::RootsList, _) => self.declares(&["roots"]),
            (Method::CreateMessage, Mode::Tools) => self.declares(&["sampling", "tools"]),
            (Method::CreateMessage, _) => self.declares(&["sampling"]),
            (Method::Elicit, Mode::Url) => self.declares(&["elicitation", "url"]),
            // spec: client/elicitation, an empty object means form alone
            (Method::Elicit, _) => {
                self.declares(&["elicitation"])
                    && (self.declares(&["elicitation", "form"]) || !self.declares(&["elicitation", "url"]))
            }
            _ => false,
        };
        if declared && !ask.method.is_foreign_to(self.revision) {
            return Ok(());
        }
        let required = match (&ask.method, mode(ask)) {
            (Method::Elicit, Mode::Url) => serde_json::json!({"elicitation": {"url": {}}}),
            (Method::Elicit, _) => serde_json::json!({"elicitation": {"form": {}}}),
            (Method::CreateMessage, Mode::Tools) => serde_json::json!({"sampling": {"tools": {}}}),
            (Method::CreateMessage, _) => serde_json::json!({"sampling": {}}),
            (Method::RootsList, _) => serde_json::json!({"roots": {}}),
            _ => Value::Object(serde_json::Map::new()),
        };
        Err(Fault::Unsupported(Unsupported::Capability(Raw::of(&required))))
    }

    /// Writes the members of `_meta` that every modern request carries (spec: basic/index), with the capabilities of
    /// whoever stands behind it.
    pub(crate) fn write_envelope(&self, meta: &mut Object, capabilities: &Raw, log_level: Option<&str>) {
        meta.put_text(envelope::PROTOCOL_VERSION, self.revision.as_str());
        meta.put(envelope::CLIENT_CAPABILITIES, capabilities);
        if let Some(client) = &self.client {
            meta.put(envelope::CLIENT_INFO, client);
        }
        if let Some(device) = &self.device {
            meta.put_text(envelope::DEVICE, device.as_str());
        }
        if let Some(level) = log_level {
            meta.put_text(envelope::LOG_LEVEL, level);
        }
    }

    /// The same client in another revision, with the capabilities that one knows.
    #[must_use]
    pub fn in_revision(&self, revision: Revision) -> Self {
        // What cannot be read is no promise that anybody could hold us to.
        let capabilities = self.capabilities.read::<ClientCapabilities>().unwrap_or_default().conformed(revision);
        let capabilities = Raw::of(&capabilities);
        Self { revision, client: self.client.clone(), capabilities, device: self.device.clone() }
    }
}

/// Which variety of a question this is.
#[derive(PartialEq)]
enum Mode {
    Plain,
    Tools,
    Url,
}

fn mode(ask: &Ask) -> Mode {
    let Some(params) = &ask.params else { return Mode::Plain };
    if params.get("mode").as_ref().and_then(Raw::as_text).as_deref() == Some("url") {
        return Mode::Url;
    }
    let tools = params.get("tools").or_else(|| params.get("toolChoice"));
    if tools.is_some_and(|tools| tools.kind() != Kind::Null) { Mode::Tools } else { Mode::Plain }
}
