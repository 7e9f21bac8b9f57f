//! Messages written by hand, and what came back.

use anyhow::{Result, bail};
use serde_json::{Value, json};

/// The newest revision of the envelope.
pub(crate) const ENVELOPE: &str = "2026-07-28";
/// The newest revision that begins with a handshake.
pub(crate) const HANDSHAKE: &str = "2025-11-25";

/// How requests introduce themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Talk {
    /// `initialize` first.
    Handshake,
    /// Each request carries its envelope.
    Envelope,
}

impl Talk {
    /// In the names of targets.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Envelope => "envelope",
        }
    }

    /// Params with what every request must carry.
    pub(crate) fn dress(self, mut params: Value) -> Value {
        if self == Self::Envelope {
            let meta = envelope();
            let own = params["_meta"].take();
            params["_meta"] = meta;
            for (key, value) in own.as_object().into_iter().flatten() {
                params["_meta"][key] = value.clone();
            }
        }
        params
    }
}

/// The envelope of a client without capabilities.
pub(crate) fn envelope() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": ENVELOPE,
        "io.modelcontextprotocol/clientInfo": { "name": "faults", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A request; the id is JSON text, so that it can be wrong.
pub(crate) fn request(talk: Talk, id: &str, method: &str, params: Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{}}}"#, talk.dress(params))
}

/// A notification.
pub(crate) fn notification(talk: Talk, method: &str, params: Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{}}}"#, talk.dress(params))
}

/// The opening of a handshake.
pub(crate) fn initialize(id: &str) -> String {
    let params = json!({
        "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": { "name": "faults", "version": "1" },
    });
    request(Talk::Handshake, id, "initialize", params)
}

/// What came back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// The HTTP status, where there is one.
    pub(crate) status: Option<u16>,
    /// The message, as it was written.
    pub(crate) text: String,
    /// Messages that came before it.
    pub(crate) notes: Vec<String>,
}

impl Answer {
    /// The message; null where it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// The code of its error.
    pub(crate) fn code(&self) -> Option<i64> {
        self.json()["error"]["code"].as_i64()
    }

    /// Whether it says that a tool failed, or is an error.
    pub(crate) fn is_failure(&self) -> bool {
        let message = self.json();
        message["error"].is_object() || message["result"]["isError"] == true
    }

    /// In a few words.
    pub(crate) fn told(&self) -> String {
        let status = self.status.map(|status| format!("{status} ")).unwrap_or_default();
        match self.code() {
            Some(code) => format!("{status}{code} {}", self.json()["error"]["message"].as_str().unwrap_or_default()),
            None if self.text.is_empty() => format!("{status}nothing"),
            None => format!("{status}{}", self.text.chars().take(120).collect::<String>()),
        }
    }

    /// One of these codes, and over HTTP one of these statuses (none: any).
    pub(crate) fn refused(&self, codes: &[i64], statuses: &[u16]) -> Result<String> {
        let code = self.code().is_some_and(|code| codes.contains(&code));
        let status = self.status.is_none_or(|status| statuses.is_empty() || statuses.contains(&status));
        if code && status { Ok(self.told()) } else { bail!("answered {}", self.told()) }
    }

    /// A status that refuses, without a server at fault.
    pub(crate) fn status(&self, statuses: &[u16]) -> Result<String> {
        match self.status {
            Some(status) if statuses.contains(&status) => Ok(self.told()),
            _ => bail!("answered {}", self.told()),
        }
    }

    /// A result, not an error.
    pub(crate) fn served(&self) -> Result<String> {
        if self.json()["result"].is_object() { Ok(self.told()) } else { bail!("answered {}", self.told()) }
    }
}

/// Whether a message is an answer.
pub(crate) fn is_answer(text: &str) -> bool {
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    message.get("method").is_none() && (message.get("result").is_some() || message.get("error").is_some())
}
