//! The entries of the registry as they were typed: which there are, and the keys that servers do not have.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use toolbay_protocol::Raw;

use super::{
    error::Reason,
    source::{At, Source},
    tree,
    warn::Remarks,
    written::{Reader, number, text, wrong_kind},
};

/// The keys of an entry that a server does not have.
pub(super) const KEYS: [&str; 9] =
    ["name", "transport", "description", "category", "enabled", "expires_at", "inputSchema", "body", "poll"];

/// What is typed of an entry beside what is typed of a server.
#[derive(Debug, Default)]
pub(super) struct ToolBody {
    pub(super) description: Option<String>,
    pub(super) category: Option<String>,
    pub(super) expires: Option<At<String>>,
    pub(super) schema: Option<Raw>,
    pub(super) call: Option<At<String>>,
    pub(super) poll: Option<PollBody>,
}

/// `poll` as typed.
#[derive(Debug)]
pub(super) enum PollBody {
    /// It speaks the protocol.
    Never,
    /// It is polled.
    So { url: Option<At<String>>, attempts: Option<At<f64>>, interval: Option<At<f64>> },
}

/// The entries that have a name; the others are remarks.
pub(super) fn entries<'v, 'a>(
    tools: Option<&'v Array<'a>>,
    source: &Source<'_>,
    remarks: &mut Remarks<'_>,
) -> Vec<(At<&'v str>, &'v Object<'a>)> {
    let mut entries = vec![];
    for (number, element) in tools.iter().flat_map(|tools| &tools.elements).enumerate() {
        let name = element.as_object().and_then(|object| {
            let name = object.properties.iter().find(|property| property.name.as_str() == "name")?;
            Some((object, At { value: &*name.value.as_string_lit()?.value, at: tree::start(&name.value) }))
        });
        match name {
            Some((object, name)) => entries.push((name, object)),
            None => {
                let what = match element {
                    Value::Object(_) => "has no text `name`".to_owned(),
                    other => format!("is {}, not an object", tree::kind(other)),
                };
                let at = source.place(tree::start(element));
                remarks.warn(tree::start(element), format!("entry {} of `tools` ({at}) {what}; left out", number + 1));
            }
        }
    }
    entries
}

impl Reader<'_, '_> {
    /// Reads a key that entries alone have; whether it is one.
    pub(super) fn tool_property(&mut self, property: &ObjectProp<'_>) -> Result<bool, Reason> {
        let source = self.source;
        let Some(tool) = &mut self.tool else { return Ok(false) };
        let (key, value) = (property.name.as_str(), &property.value);
        if KEYS.contains(&key) && value.as_null_keyword().is_some() {
            return Ok(true);
        }
        match key {
            "name" => {}
            "description" => tool.description = Some(text(value, key, source)?.value),
            "category" => tool.category = Some(text(value, key, source)?.value),
            "expires_at" => tool.expires = Some(text(value, key, source)?),
            "inputSchema" => match value {
                Value::Object(_) => tool.schema = Some(Raw::of(&json(value))),
                other => return Err(wrong_kind(other, key, "a JSON Schema, as { \"type\": \"object\" }", source)),
            },
            "body" => tool.call = Some(text(value, key, source)?),
            "poll" => {
                let poll = self.poll(value)?;
                self.tool.get_or_insert_default().poll = Some(poll);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn poll(&mut self, value: &Value<'_>) -> Result<PollBody, Reason> {
        let object = match value {
            Value::BooleanLit(flag) if flag.value => {
                return Ok(PollBody::So { url: None, attempts: None, interval: None });
            }
            Value::BooleanLit(_) => return Ok(PollBody::Never),
            Value::Object(object) => object,
            other => return Err(wrong_kind(other, "poll", "true, false or { \"attempts\": 30 }", self.source)),
        };
        let (mut url, mut attempts, mut interval) = (None, None, None);
        for property in &object.properties {
            match property.name.as_str() {
                "url" => url = Some(text(&property.value, "poll.url", self.source)?),
                "attempts" => attempts = Some(number(&property.value, "poll.attempts", self.source)?),
                "interval" => interval = Some(number(&property.value, "poll.interval", self.source)?),
                other => {
                    let message =
                        self.of(&format!("`poll.{other}` is not a known key (known are url, attempts, interval)"));
                    self.remarks.warn(tree::key_start(property), message);
                }
            }
        }
        Ok(PollBody::So { url, attempts, interval })
    }
}

/// A value as JSON without comments; of the keys that are given twice, the last.
fn json(value: &Value<'_>) -> serde_json::Value {
    use serde_json::Value as Json;
    match value {
        Value::StringLit(text) => Json::String(text.value.to_string()),
        Value::NumberLit(number) => number.value.parse().map(Json::Number).unwrap_or(Json::Null),
        Value::BooleanLit(flag) => Json::Bool(flag.value),
        Value::Object(object) => {
            Json::Object(object.properties.iter().map(|one| (one.name.as_str().to_owned(), json(&one.value))).collect())
        }
        Value::Array(list) => Json::Array(list.elements.iter().map(json).collect()),
        Value::NullKeyword(_) => Json::Null,
    }
}
