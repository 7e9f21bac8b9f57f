//! The text of a file with its tool entries, changed in place: what is not meant stays as it was typed, comments, order and
//! spaces included.

use std::path::Path;

use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::entry::name_of;
use crate::config::{self, syntax};

/// The key under which entries stand.
const TOOLS: &str = "tools";
/// The keys of an entry that are ours; what else stands there is kept when the entry is replaced.
const OURS: [&str; 16] = [
    "name",
    "description",
    "transport",
    "type",
    "url",
    "command",
    "args",
    "env",
    "category",
    "enabled",
    "disabled",
    "expires_at",
    "inputSchema",
    "headers",
    "timeout",
    "body",
];

/// Whether an entry is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    On,
    Off,
}

/// A file's text on its way to another.
pub(super) struct Sheet {
    root: CstRootNode,
    mark: &'static str,
}

impl Sheet {
    /// Reads a text; none is a file without entries.
    pub(super) fn read(text: Option<&str>, file: &Path) -> Result<Self, config::Error> {
        let text = text.unwrap_or("{\n  \"tools\": []\n}\n");
        let (mark, bare) = match text.strip_prefix('\u{feff}') {
            Some(bare) => ("\u{feff}", bare),
            None => ("", text),
        };
        // First by the reader of configurations, which says what is wrong and where.
        syntax::check(bare, file)?;
        let root = CstRootNode::parse(bare, &syntax::OPTIONS).expect("it was read a moment ago");
        Ok(Self { root, mark })
    }

    /// The text now.
    pub(super) fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }

    fn list(&self) -> Option<CstArray> {
        self.root.object_value()?.array_value(TOOLS)
    }

    /// The entries, sound or not.
    pub(super) fn entries(&self) -> Vec<Value> {
        let elements = self.list().map(|list| list.elements()).unwrap_or_default();
        elements.iter().map(|element| element.to_serde_value().unwrap_or_default()).collect()
    }

    /// Where the entry of that name stands.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.entries().iter().position(|entry| name_of(entry) == Some(name))
    }

    fn object(&self, place: usize) -> Option<CstObject> {
        self.list()?.elements().get(place)?.as_object()
    }

    /// Adds an entry at the end.
    pub(super) fn append(&self, entry: &Value) {
        let root = self.root.object_value_or_set();
        root.array_value_or_set(TOOLS).append(input(entry));
    }

    /// Puts an entry in another's place: what is not ours in that one stays.
    pub(super) fn replace(&self, place: usize, entry: &Map<String, Value>) {
        let Some(object) = self.object(place) else { return };
        for property in object.properties() {
            let key = property.decoded_name().unwrap_or_default();
            match entry.get(&key) {
                Some(value) if property.value().and_then(|old| old.to_serde_value()).as_ref() == Some(value) => {}
                Some(value) => property.set_value(input(value)),
                None if OURS.contains(&key.as_str()) || key == "poll" => property.remove(),
                None => {}
            }
        }
        for (key, value) in entry.iter().filter(|(key, _)| object.get(key).is_none()) {
            object.append(key, input(value));
        }
    }

    /// Takes an entry out.
    pub(super) fn remove(&self, place: usize) {
        if let Some(element) = self.list().and_then(|list| list.elements().get(place).cloned()) {
            element.remove();
        }
    }

    /// Turns an entry on or off; whether it was not so before.
    pub(super) fn switch(&mut self, place: usize, offer: Offer) -> bool {
        let Some(object) = self.object(place) else { return false };
        let before = self.text();
        let on = offer == Offer::On;
        set(&object, "disabled", !on);
        if !set(&object, "enabled", on) && !on {
            match object.to_string().contains('\n') {
                true => drop(object.append("enabled", false.into())),
                false => self.turn_off_in_line(place),
            }
        }
        self.text() != before
    }

    /// An entry on one line stays on it.
    fn turn_off_in_line(&mut self, place: usize) {
        let text = self.root.to_string();
        let end = syntax::end_of_last(&text, TOOLS, place);
        let Some((head, rest)) = end.and_then(|end| text.split_at_checked(end)) else { return };
        let text = format!("{head}, \"enabled\": false{rest}");
        self.root = CstRootNode::parse(&text, &syntax::OPTIONS).expect("one more key keeps it sound");
    }
}

/// Sets a flag that is there; whether it is.
fn set(object: &CstObject, key: &str, wanted: bool) -> bool {
    let Some(property) = object.get(key) else { return false };
    match property.value().and_then(|value| value.as_boolean_lit()) {
        Some(flag) => flag.set_value(wanted),
        None => property.set_value(wanted.into()),
    }
    true
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(input).collect()),
        Value::Object(object) => {
            CstInputValue::Object(object.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
