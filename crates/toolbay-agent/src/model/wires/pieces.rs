//! What the wires share: arguments, ids that are made up, what a provider wants back.

use serde_json::{Map, Value};

use crate::{
    model::{Stop, Wire},
    transcript::{Intent, Message, Piece, Said, Transcript, Written},
};

/// Makes ids for intents of providers that give none: the number of the intent in its conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbering(usize);

impl Numbering {
    /// For what follows a transcript.
    pub(super) fn after(transcript: &Transcript) -> Self {
        let intents = |message: &Message| match message {
            Message::Model(said) => said.intents().count(),
            Message::User(_) | Message::Tools(_) => 0,
        };
        Self(transcript.messages.iter().map(intents).sum())
    }

    /// The next id.
    pub(super) fn next(&mut self) -> String {
        self.0 += 1;
        format!("call-{}", self.0)
    }

    /// This id, or the next one where it is none.
    pub(super) fn or_next(&mut self, id: Option<&str>) -> String {
        id.filter(|id| !id.is_empty()).map_or_else(|| self.next(), str::to_owned)
    }
}

/// Arguments that came as text; no text is no arguments.
pub(super) fn written(text: &str) -> Written {
    if text.trim().is_empty() {
        return Written::Object(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Written::Object(object),
        Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) | Err(_) => {
            Written::Unreadable(text.to_owned())
        }
    }
}

/// Arguments that came as JSON, or as text that holds it; nothing is no arguments.
pub(super) fn written_json(value: &Value) -> Written {
    match value {
        Value::Object(object) => Written::Object(object.clone()),
        Value::Null => Written::Object(Map::new()),
        Value::String(text) => written(text),
        other => Written::Unreadable(other.to_string()),
    }
}

/// Arguments as every provider takes them back. None takes what is no object, so such text becomes one.
pub(super) fn object(intent: &Intent) -> Map<String, Value> {
    match &intent.arguments {
        Written::Object(object) => object.clone(),
        Written::Unreadable(text) => Map::from_iter([("unreadable".to_owned(), Value::from(text.as_str()))]),
    }
}

/// Marks what a provider wants back, so that no other gets it.
pub(super) fn keep(wire: Wire, value: Value) -> Value {
    Value::Object(Map::from_iter([(wire.to_string(), value)]))
}

/// What was kept for this provider, if it was for this one.
pub(super) fn kept(wire: Wire, value: &Value) -> Option<&Value> {
    value.as_object()?.get(&wire.to_string())
}

/// Adds words to those that were said last.
pub(super) fn say(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(text),
        Some(Piece::Intent(_) | Piece::Kept(_)) | None if !text.is_empty() => pieces.push(Piece::Text(text.to_owned())),
        Some(Piece::Intent(_) | Piece::Kept(_)) | None => {}
    }
}

/// Why a reply ended, as what is in it shows: compatible servers say `stop` where they want tools called.
pub(super) fn stop(told: Stop, said: &Said) -> Stop {
    match told {
        Stop::End if said.intents().next().is_some() => Stop::Tools,
        Stop::End | Stop::Tools | Stop::Length | Stop::Refused | Stop::Paused | Stop::Other(_) => told,
    }
}

/// A text of a document, or none.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A count of a document, or zero.
pub(super) fn count(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// Puts `more` into a document, objects into objects.
pub(super) fn merge(document: &mut Value, more: &Value) {
    match (document, more) {
        (Value::Object(document), Value::Object(more)) => {
            for (name, value) in more {
                merge(document.entry(name.as_str()).or_insert(Value::Null), value);
            }
        }
        (document, more) => *document = more.clone(),
    }
}
