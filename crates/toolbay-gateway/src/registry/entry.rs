//! One entry of the registry, as it stands in the file. Nothing in it is filled in (`${VAR}` stays as it was typed).

use std::{collections::BTreeMap, fmt, time::SystemTime};

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};

use super::{error::Error, expiry::Expiry};

/// One entry.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its name, unlike any other's.
    pub name: String,
    /// What it is good for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How it is reached.
    #[serde(alias = "type")]
    pub transport: Transport,
    /// Where, unless it is a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The program, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The program's arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// What is set in the program's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "texts")]
    pub env: BTreeMap<String, String>,
    /// What sort of tool it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Whether it is offered.
    #[serde(default = "on")]
    pub enabled: bool,
    /// When it goes by itself.
    #[serde(default, rename = "expires_at")]
    pub expires_at: Option<Expiry>,
    /// What a call of it takes, where that is not said by a server (`rest`, polled `sse`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// Headers to send with each request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "texts")]
    pub headers: BTreeMap<String, String>,
    /// How long a call may take, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// What is posted to a service (`rest`, polled `sse`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Call>,
    /// Whether, and how, an `sse` service is polled; without it that is found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<Poll>,
    /// Whatever else stands there.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// How an entry is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// An MCP server that is a program of ours.
    Stdio,
    /// An MCP server over Streamable HTTP.
    Http,
    /// An MCP server over HTTP+SSE, or a service that is polled.
    Sse,
    /// A service that takes a POST.
    Rest,
}

impl Transport {
    /// How each is written.
    pub const WORDS: [(&'static str, Self); 4] =
        [("stdio", Self::Stdio), ("http", Self::Http), ("sse", Self::Sse), ("rest", Self::Rest)];
}

impl<'de> Deserialize<'de> for Transport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As the configuration reads it.
        let plain = String::deserialize(deserializer)?.to_ascii_lowercase().replace(['-', '_', ' '], "");
        match plain.as_str() {
            "stdio" | "local" => Ok(Self::Stdio),
            "http" | "streamablehttp" | "remote" => Ok(Self::Http),
            "sse" => Ok(Self::Sse),
            "rest" => Ok(Self::Rest),
            _ => Err(D::Error::custom("its transport is none of stdio, http, sse, rest")),
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(_, transport)| transport == self).map_or("", |(word, _)| word);
        f.write_str(word)
    }
}

/// What is posted to a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Call {
    /// `{"name": …, "arguments": …}`.
    #[default]
    Named,
    /// The bare arguments.
    Arguments,
}

impl Call {
    /// How each is written.
    pub const WORDS: [(&'static str, Self); 2] = [("named", Self::Named), ("arguments", Self::Arguments)];
}

/// Whether, and how, an `sse` service is polled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Poll {
    /// It is, in the usual way; or it is not.
    Whether(bool),
    /// It is, so.
    How {
        /// Where; `{session_id}` in it stands for what the service answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// How often at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempts: Option<u32>,
        /// How many seconds apart.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interval: Option<f64>,
    },
}

fn on() -> bool {
    true
}

/// An object of texts; numbers, true and false are taken as they are typed.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let table = Map::<String, Value>::deserialize(deserializer)?;
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => (name, text),
        other => (name, other.to_string()),
    };
    Ok(table.into_iter().map(text).collect())
}

impl Entry {
    /// An entry that is reached at an address.
    pub fn at(name: impl Into<String>, transport: Transport, url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::bare(name.into(), transport) }
    }

    /// An entry that is a program of ours.
    pub fn program(name: impl Into<String>, command: impl Into<String>, args: Vec<String>) -> Self {
        Self { command: Some(command.into()), args, ..Self::bare(name.into(), Transport::Stdio) }
    }

    fn bare(name: String, transport: Transport) -> Self {
        Self {
            name,
            description: String::new(),
            transport,
            url: None,
            command: None,
            args: vec![],
            env: BTreeMap::new(),
            category: None,
            enabled: true,
            expires_at: None,
            input_schema: None,
            headers: BTreeMap::new(),
            timeout: None,
            body: None,
            poll: None,
            other: Map::new(),
        }
    }

    /// The same, gone at that moment.
    pub fn until(self, moment: SystemTime) -> Self {
        Self { expires_at: Some(Expiry::at(moment)), ..self }
    }

    /// Reads an entry as it stands in a file; `null` says nothing, whatever the key.
    pub fn read(value: &Value) -> Result<Self, Error> {
        let unsound = |why: String| Error::Unsound { name: name_of(value).unwrap_or_default().to_owned(), why };
        let Value::Object(object) = value else { return Err(unsound("it is no object".into())) };
        let mut object = object.clone();
        object.retain(|_, value| !value.is_null());
        let off = object.remove("disabled").is_some_and(|off| off != Value::Bool(false));
        let entry: Self = serde_json::from_value(Value::Object(object)).map_err(|why| unsound(why.to_string()))?;
        Ok(Self { enabled: entry.enabled && !off, ..entry })
    }

    /// The entry as it is written.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("texts, numbers and values have a JSON form")
    }

    /// Whether its time is over.
    pub fn is_over(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|expiry| expiry.is_over(now))
    }
}

/// What is sent along may be secret: it is named, and not printed.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("name", &self.name)
            .field("transport", &self.transport)
            .field("enabled", &self.enabled)
            .field("expires_at", &self.expires_at)
            .field("env", &self.env.keys())
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

/// The name of an entry that may be unsound otherwise.
pub(super) fn name_of(value: &Value) -> Option<&str> {
    value.get("name")?.as_str()
}
