//! Random values made from the schemas themselves: of one revision, or of all of them at once, so that every member that
//! any revision declares turns up, also beside members it never met.

use serde_json::{Map, Number, Value, json};
use toolbay_protocol::Revision;

use super::schema::Spec;

/// A deterministic source of chance (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: &str) -> Self {
        Self(seed.bytes().fold(0x9e37, |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(byte.into())))
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn one_in(&mut self, limit: usize) -> bool {
        self.below(limit) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Whose members a value has.
#[derive(Clone, Copy)]
pub(crate) enum Whose {
    /// One revision's.
    Only(Revision),
    /// Every revision's.
    All,
}

pub(crate) struct Generator<'s> {
    pub(crate) spec: &'s Spec,
    pub(crate) chance: Chance,
}

/// Keys for objects that fix none; few, so that they meet.
const KEYS: [&str; 4] = ["a", "b", "x-vendor", "Ünï \"q\""];
const FILLED: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];
const TEXTS: [&str; 6] = ["", "text", "a \"quoted\" \\ text\n", "日本語", "\u{1f980}\u{7}", "2025-01-12T15:00:58Z"];

impl<'s> Generator<'s> {
    /// A value of the definition at `path`.
    pub(crate) fn named(&mut self, path: &str, whose: Whose, depth: usize) -> Value {
        let name = path.rsplit('/').next().unwrap_or(path);
        if let "JSONValue" | "JSONObject" = name {
            return if name == "JSONObject" { self.open_object(depth) } else { self.plain(depth) };
        }
        let whose = if name.starts_with("InputRe") && name != "InputRequiredResult" {
            Whose::Only(Revision::LATEST) // what is asked in the middle of a call has no older form to mix in
        } else {
            whose
        };
        let spec = self.spec;
        let mut variants = spec.variants(path);
        if let Whose::Only(revision) = whose {
            variants.retain(|(of, _)| *of == revision);
        }
        self.of_variants(&variants, whose, depth)
    }

    fn of_variants(&mut self, variants: &[(Revision, &'s Value)], whose: Whose, depth: usize) -> Value {
        let (revision, schema) = *self.chance.pick(variants);
        if schema.get("properties").is_some_and(Value::is_object) {
            self.object(variants, whose, depth)
        } else {
            self.value(schema, revision, whose, depth)
        }
    }

    /// An object with members of all variants.
    fn object(&mut self, variants: &[(Revision, &'s Value)], whose: Whose, depth: usize) -> Value {
        let objects: Vec<_> = variants.iter().filter(|(_, schema)| schema.get("properties").is_some()).collect();
        let mut members = Map::new();
        for (_, schema) in &objects {
            for name in schema["properties"].as_object().into_iter().flat_map(Map::keys) {
                if members.contains_key(name) {
                    continue;
                }
                // What bending fills in may be absent before.
                let filled = matches!(whose, Whose::All) && FILLED.contains(&name.as_str());
                let required = !filled && objects.iter().all(|(_, schema)| requires(schema, name));
                if !required && !self.chance.one_in(2 + depth / 2) {
                    continue;
                }
                let declaring: Vec<_> =
                    objects.iter().filter_map(|(of, schema)| Some((*of, schema["properties"].get(name)?))).collect();
                // What was an open object once and has named members now is a capability; strange members are not tested.
                let named = name != "_meta" && declaring.iter().any(|of| self.names_members(of));
                let fitting: Vec<_> = declaring.into_iter().filter(|of| !named || self.names_members(of)).collect();
                let (of, property) = *self.chance.pick(&fitting);
                let whose = if name == "_meta" { Whose::Only(of) } else { whose };
                let mut value = self.value(property, of, whose, depth + 1);
                if let ("_meta", Value::Object(meta)) = (name.as_str(), &mut value) {
                    meta.insert("com.example/kept".to_owned(), self.any(depth + 2));
                }
                members.insert(name.clone(), value);
            }
        }
        // Strange members are for whole JSON Schemas alone: elsewhere another revision could not declare them.
        let strange = |schema: &Value| {
            schema.pointer("/properties/$schema").is_some() && schema.get("additionalProperties") == Some(&json!({}))
        };
        if objects.iter().all(|(_, schema)| strange(schema)) {
            members.extend(self.open_object(depth).as_object().cloned().unwrap_or_default());
        }
        Value::Object(members)
    }

    fn value(&mut self, schema: &'s Value, revision: Revision, whose: Whose, depth: usize) -> Value {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return self.named(target.trim_start_matches("#/$defs/"), whose, depth);
        }
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            return self.chance.pick(choices).clone();
        }
        if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
            let alternative = self.chance.pick(alternatives);
            return self.value(alternative, revision, whose, depth);
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => return self.any(depth),
        };
        match *self.chance.pick(&kinds) {
            "object" => self.typed_object(schema, revision, whose, depth),
            "array" => {
                let length = self.chance.below(3);
                (0..length).map(|_| self.value(&schema["items"], revision, whose, depth + 1)).collect()
            }
            "string" => self.text(schema),
            "integer" => json!(self.chance.below(1000)),
            "number" if schema.get("maximum").is_some() => json!([0.0, 0.25, 1.0][self.chance.below(3)]),
            "number" => [json!(0), json!(-2.5), json!(1e30), json!(7)][self.chance.below(4)].clone(),
            "boolean" => json!(self.chance.one_in(2)),
            "null" => Value::Null,
            other => panic!("a schema speaks of {other:?}"),
        }
    }

    fn typed_object(&mut self, schema: &'s Value, revision: Revision, whose: Whose, depth: usize) -> Value {
        match schema.get("additionalProperties") {
            Some(values @ Value::Object(_)) if schema.get("properties").is_none() => {
                let mut members = Map::new();
                for _ in 0..self.chance.below(3) {
                    let key = *self.chance.pick(&KEYS);
                    members.insert(key.to_owned(), self.value(values, revision, whose, depth + 1));
                }
                Value::Object(members)
            }
            _ if self.names_members(&(revision, schema)) => self.object(&[(revision, schema)], whose, depth),
            Some(Value::Bool(false)) => json!({}),
            _ => self.open_object(depth),
        }
    }

    fn names_members(&self, (revision, schema): &(Revision, &'s Value)) -> bool {
        let of = self.spec.revisions.iter().find(|of| of.revision == *revision).expect("every revision is loaded");
        let members = of.follow(schema).and_then(|schema| schema.get("properties")?.as_object());
        members.is_some_and(|declared| !declared.is_empty())
    }

    fn text(&mut self, schema: &Value) -> Value {
        match schema.get("format").and_then(Value::as_str) {
            Some("uri") => json!(*self.chance.pick(&["https://a.example/b?c#d", "file:///a%20b", "urn:x:y"])),
            Some("uri-template") => json!(*self.chance.pick(&["file:///{+path}", "x://y"])),
            Some("byte") => json!(*self.chance.pick(&["", "AAECAw=="])),
            _ => json!(*self.chance.pick(&TEXTS)),
        }
    }

    fn open_object(&mut self, depth: usize) -> Value {
        let mut members = Map::new();
        for _ in 0..self.chance.below(3) {
            members.insert((*self.chance.pick(&KEYS)).to_owned(), self.plain(depth + 1));
        }
        Value::Object(members)
    }

    /// What the newest schema calls a JSON value: it leaves out fractions and null.
    fn plain(&mut self, depth: usize) -> Value {
        match self.chance.below(if depth > 5 { 3 } else { 5 }) {
            0 => json!(*self.chance.pick(&TEXTS)),
            1 => json!([0_i64, -1, i64::MAX, i64::MIN][self.chance.below(4)]),
            2 => json!(self.chance.one_in(2)),
            3 => (0..self.chance.below(3)).map(|_| self.plain(depth + 2)).collect(),
            _ => self.open_object(depth + 1),
        }
    }

    /// Any JSON at all.
    fn any(&mut self, depth: usize) -> Value {
        match self.chance.below(6) {
            0 => Value::Null,
            1 => Value::Number(Number::from_f64([0.5, -1e300, 1e-9][self.chance.below(3)]).expect("finite")),
            2 => self.open_object(depth),
            _ => self.plain(depth),
        }
    }
}

fn requires(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|required| required.iter().any(|known| known == name))
}
