//! Properties whose names a wire does not take, under other names, and the way back.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{names::fingerprint, rules};
use crate::model::Wire;

/// A step from a value into it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    Property(String),
    Item,
}

/// What was renamed, by where.
#[derive(Debug, Default)]
pub(super) struct Renames(HashMap<Vec<Step>, HashMap<String, String>>);

/// The name that a wire takes for a property; the same for the same name.
pub(super) fn on(wire: Wire, name: &str) -> String {
    if rules::takes_property(wire, name) {
        return name.to_owned();
    }
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let cut: String = name.chars().map(safe).take(48).collect();
    format!("{cut}_{}", &fingerprint(&[name])[..8])
}

impl Renames {
    pub(super) fn add(&mut self, place: &[Step], shown: String, own: String) {
        self.0.entry(place.to_vec()).or_default().insert(shown, own);
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a model wrote under the names that it was shown, under those of the server.
    pub(super) fn restored(&self, written: Map<String, Value>) -> Map<String, Value> {
        if self.0.is_empty() { written } else { self.object(written, &mut vec![]) }
    }

    fn object(&self, written: Map<String, Value>, place: &mut Vec<Step>) -> Map<String, Value> {
        let here = self.0.get(place.as_slice());
        let mut own = Map::with_capacity(written.len());
        for (shown, value) in written {
            place.push(Step::Property(shown));
            let value = self.value(value, place);
            if let Some(Step::Property(shown)) = place.pop() {
                let name = here.and_then(|here| here.get(&shown)).cloned().unwrap_or(shown);
                own.insert(name, value);
            }
        }
        own
    }

    fn value(&self, value: Value, place: &mut Vec<Step>) -> Value {
        match value {
            Value::Object(object) => Value::Object(self.object(object, place)),
            Value::Array(items) => {
                place.push(Step::Item);
                let items = items.into_iter().map(|item| self.value(item, place)).collect();
                place.pop();
                Value::Array(items)
            }
            other => other,
        }
    }
}
