//! A JSON Schema as far as it can hurt whoever reads it: references that lead out of it or back to themselves, types that no
//! draft knows, and other things where a schema must stand. It is judged, never changed, and in time that its size decides.

use std::{collections::HashMap, ptr};

use serde_json::{Map, Value};
use toolbay_protocol::Raw;

use super::item::shown;

/// What is wrong with a schema, as the rest of a sentence that begins with it.
pub(super) fn flaw(schema: &Raw) -> Option<String> {
    match schema.read() {
        Ok(root) => laid_out(&root).err(),
        Err(error) => Some(format!("cannot be read: {error}")),
    }
}

/// What is wrong with a JSON Schema for whoever checks values against it, as the rest of a sentence that begins with it:
/// references out of it or without end, types that no draft knows, more to look at than there is time for, or deeper than a
/// stack. It takes time that the schema's size decides, whatever the references in it.
pub fn schema_flaw(root: &Value) -> Option<String> {
    laid_out(root).map_or_else(Some, |paper| paper.deep())
}

/// A schema with its references, where nothing is wrong with those.
fn laid_out(root: &Value) -> Result<Paper<'_>, String> {
    let mut paper = Paper { root, named: HashMap::new(), referring: vec![] };
    let mut left = vec![root];
    while let Some(node) = left.pop() {
        match node {
            Value::Bool(_) => {}
            Value::Object(object) => {
                if let Some(flaw) = paper.read(node, object) {
                    return Err(flaw);
                }
                left.extend(below(object, &IN_PLACE));
                left.extend(below(object, &DEEPER));
            }
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(format!("holds {} where a schema must stand", shown(&node.to_string())));
            }
        }
    }
    match paper.foreign().or_else(|| paper.circle()).or_else(|| paper.unfolded()) {
        Some(flaw) => Err(flaw),
        None => Ok(paper),
    }
}

/// A validator goes down by a stack frame or more for each schema within, or behind, another.
const DEEPEST: u32 = 256;
/// A validator looks at so many schemas for one value at most: what two references each double is soon more than all time.
const MOST_UNFOLDED: u64 = 100_000;

/// The types of all drafts.
const TYPES: [&str; 8] = ["object", "array", "string", "number", "integer", "boolean", "null", "any"];
/// Keywords whose schemas are about the same value.
const IN_PLACE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];
/// Keywords whose schemas are about parts of it, or stand ready to be referred to.
const DEEPER: [&str; 14] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "contentSchema",
    "$defs",
    "definitions",
    "extends",
];
/// Keywords that hold schemas by name.
const BY_NAME: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Whoever validates has these at hand.
const WELL_KNOWN: [&str; 2] = ["http://json-schema.org/", "https://json-schema.org/"];

fn below<'v>(object: &'v Map<String, Value>, keywords: &[&str]) -> Vec<&'v Value> {
    let mut schemas = vec![];
    for keyword in keywords {
        match object.get(*keyword) {
            Some(Value::Object(named)) if BY_NAME.contains(keyword) => schemas.extend(named.values()),
            Some(Value::Array(several)) => schemas.extend(several),
            Some(one) => schemas.push(one),
            None => {}
        }
    }
    schemas
}

/// A schema laid out: what its references can lead to without leaving it.
struct Paper<'v> {
    root: &'v Value,
    /// What has a name of its own (`$id`, `id`, anchors).
    named: HashMap<&'v str, &'v Value>,
    /// The schemas that refer to others.
    referring: Vec<&'v Value>,
}

impl<'v> Paper<'v> {
    fn read(&mut self, node: &'v Value, object: &'v Map<String, Value>) -> Option<String> {
        for name in ["$id", "id", "$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(name)) = object.get(name) {
                self.named.insert(name.trim_end_matches('#'), node);
            }
        }
        if REFERENCES.iter().any(|key| object.get(*key).is_some_and(Value::is_string)) {
            self.referring.push(node);
        }
        let unknown = |kind: &Value| match kind {
            Value::String(kind) => !TYPES.contains(&kind.as_str()),
            // The third draft has schemas among types.
            Value::Object(_) => false,
            _ => true,
        };
        let kind = object.get("type")?;
        let wrong = match kind {
            Value::Array(kinds) => kinds.iter().find(|kind| unknown(kind)),
            kind => unknown(kind).then_some(kind),
        };
        wrong.map(|kind| format!("names the type {}, which no draft knows", shown(&kind.to_string())))
    }

    fn references(node: &'v Value) -> impl Iterator<Item = &'v str> {
        REFERENCES.iter().filter_map(|key| node.get(*key).and_then(Value::as_str))
    }

    /// A reference that leads out of the schema.
    // spec: basic/index, never fetched; what cannot be resolved is refused
    fn foreign(&self) -> Option<String> {
        let leads_out = |reference: &&str| {
            let whole = reference.split('#').next().unwrap_or_default();
            let known = || self.named.keys().any(|name| *name == whole || name.ends_with(&format!("/{whole}")));
            !whole.is_empty() && !WELL_KNOWN.iter().any(|known| whole.starts_with(known)) && !known()
        };
        let out = self.referring.iter().find_map(|node| Self::references(node).find(leads_out))?;
        Some(format!("refers to {}, which is not in it, and nothing is fetched", shown(out)))
    }

    fn target(&self, reference: &str) -> Option<&'v Value> {
        let (whole, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let from = if whole.is_empty() { self.root } else { self.named.get(whole)? };
        match fragment {
            "" => Some(from),
            pointer if pointer.starts_with('/') => from.pointer(&pointer.replace("%24", "$").replace("%25", "%")),
            anchor => self.named.get(anchor).copied(),
        }
    }

    /// A schema that, for one and the same value, is defined by itself: whoever follows it never comes to an end. (One that
    /// is about a part of its value, as of a tree, is no such circle.)
    fn circle(&self) -> Option<String> {
        let mut seen: HashMap<usize, Seen> = HashMap::new();
        for start in &self.referring {
            let mut path = vec![(*start, self.next(start))];
            seen.entry(address(start)).or_insert(Seen::OnTheWay);
            if seen.get(&address(start)) == Some(&Seen::Done) {
                continue;
            }
            while let Some((node, ways)) = path.last_mut() {
                let Some(next) = ways.pop() else {
                    seen.insert(address(node), Seen::Done);
                    path.pop();
                    continue;
                };
                match seen.get(&address(next)) {
                    Some(Seen::Done) => {}
                    Some(Seen::OnTheWay) => {
                        let reference = Self::references(start).next().unwrap_or_default();
                        return Some(format!("refers to itself without end, by way of {}", shown(reference)));
                    }
                    None => {
                        seen.insert(address(next), Seen::OnTheWay);
                        path.push((next, self.next(next)));
                    }
                }
            }
        }
        None
    }

    /// A schema by which, for one and the same value, too many others are looked at. There is no circle in it.
    fn unfolded(&self) -> Option<String> {
        let mut counts: HashMap<usize, u64> = HashMap::new();
        for start in &self.referring {
            let mut path = vec![(*start, self.next(start))];
            while let Some((node, ways)) = path.last_mut() {
                let open = ways.pop();
                match open {
                    Some(next) if counts.contains_key(&address(next)) => {}
                    Some(next) => path.push((next, self.next(next))),
                    None => {
                        let below = self.next(node).into_iter().filter_map(|next| counts.get(&address(next)));
                        let count = below.fold(1, |sum: u64, count| sum.saturating_add(*count));
                        if count > MOST_UNFOLDED {
                            return Some(format!("unfolds to more than {MOST_UNFOLDED} schemas by its references"));
                        }
                        counts.insert(address(node), count);
                        path.pop();
                    }
                }
            }
        }
        None
    }

    /// Schemas that lie too deep in each other, or behind each other's references. One that comes back to itself, as a tree
    /// does, is no deeper for it.
    fn deep(&self) -> Option<String> {
        let mut heights: HashMap<usize, Option<u32>> = HashMap::new();
        let mut path = vec![(self.root, self.within(self.root))];
        heights.insert(address(self.root), None);
        while let Some((node, ways)) = path.last_mut() {
            match ways.pop() {
                // What is on the way already is no deeper for being come back to.
                Some(next) if heights.contains_key(&address(next)) => {}
                Some(next) => {
                    heights.insert(address(next), None);
                    path.push((next, self.within(next)));
                }
                None => {
                    let known = |next: &Value| heights.get(&address(next)).copied().flatten();
                    let height = 1 + self.within(node).into_iter().filter_map(known).max().unwrap_or(0);
                    if height > DEEPEST {
                        return Some(format!("goes more than {DEEPEST} deep by its references"));
                    }
                    heights.insert(address(node), Some(height));
                    path.pop();
                }
            }
        }
        None
    }

    /// The schemas that say more of the same value, or of its parts.
    fn within(&self, node: &'v Value) -> Vec<&'v Value> {
        let mut within = self.next(node);
        within.extend(node.as_object().map(|object| below(object, &DEEPER)).unwrap_or_default());
        within
    }

    /// The schemas that say more of the same value.
    fn next(&self, node: &'v Value) -> Vec<&'v Value> {
        let mut next: Vec<_> = node.as_object().map(|object| below(object, &IN_PLACE)).unwrap_or_default();
        next.extend(Self::references(node).filter_map(|reference| self.target(reference)));
        next
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    OnTheWay,
    Done,
}

fn address(node: &Value) -> usize {
    ptr::from_ref(node).addr()
}
