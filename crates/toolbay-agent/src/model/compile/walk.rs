//! A schema and what it holds, keyword by keyword: references are put in place, what is no JSON Schema is left out, and what
//! the wire has no words for goes into the description.

use serde_json::{Map, Value, json};

use super::{
    loss::{Losses, Severity},
    refs,
    renames::{self, Renames, Step},
    rules, words,
};
use crate::model::Wire;

/// How deep a schema may nest, references put in place.
const DEPTH: usize = 48;
/// How many schemas one may hold.
const SCHEMAS: usize = 4_000;
/// How many bytes of values (enumerations, defaults) it may hold.
const BYTES: usize = 256 * 1024;
/// JSON Schema's names of types.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// One walk.
pub(super) struct Walk<'s> {
    pub(super) wire: Wire,
    pub(super) losses: Losses,
    pub(super) renames: Renames,
    root: &'s Value,
    /// The references that are being put in place.
    open: Vec<String>,
    place: Vec<Step>,
    schemas: usize,
    bytes: usize,
}

impl<'s> Walk<'s> {
    pub(super) fn new(wire: Wire, root: &'s Value) -> Self {
        let (losses, renames) = (Losses::default(), Renames::default());
        Self { wire, losses, renames, root, open: vec![], place: vec![], schemas: SCHEMAS, bytes: BYTES }
    }

    /// A schema as the wire takes it.
    pub(super) fn schema(&mut self, schema: &Value, at: &str) -> Value {
        if self.schemas == 0 || at.matches('/').count() > DEPTH * 2 || self.open.len() > DEPTH {
            self.losses.add(
                Severity::Lossy,
                "",
                "too large or too deep to be shown whole; what is left out is enforced here",
            );
            return json!({});
        }
        self.schemas -= 1;
        match schema {
            Value::Object(schema) => match schema.get("$ref").or_else(|| schema.get("$dynamicRef")) {
                Some(reference) => self.referred(schema, reference, at),
                None => Value::Object(self.object(schema, at)),
            },
            Value::Bool(true) => {
                self.losses.add(Severity::Note, at, "takes anything");
                json!({})
            }
            Value::Bool(false) => {
                self.losses.add(Severity::Lossy, at, "takes nothing; enforced here");
                json!({})
            }
            _ => {
                self.losses.add(Severity::Lossy, at, "no JSON Schema; shown as if it took anything");
                json!({})
            }
        }
    }

    /// What a reference leads to, with what stands beside it.
    fn referred(&mut self, schema: &Map<String, Value>, reference: &Value, at: &str) -> Value {
        let mut beside = schema.clone();
        beside.retain(|keyword, _| keyword != "$ref" && keyword != "$dynamicRef");
        let Some(reference) = reference.as_str() else {
            self.losses.add(Severity::Lossy, at, "`$ref` is no text; left out");
            return Value::Object(self.object(&beside, at));
        };
        if self.open.iter().any(|open| open == reference) {
            self.losses.add(Severity::Lossy, at, "refers to itself; cut here and enforced here");
            return Value::Object(self.object(&beside, at));
        }
        let mut whole = match refs::local(self.root, reference) {
            Some(Value::Object(target)) => target.clone(),
            Some(_) => Map::new(),
            None => {
                let why =
                    if reference.starts_with('#') { "leads nowhere" } else { "leads elsewhere, and is not fetched" };
                self.losses.add(Severity::Lossy, at, format!("{reference:.80} {why}; shown as if it took anything"));
                return Value::Object(self.object(&beside, at));
            }
        };
        whole.extend(beside);
        self.open.push(reference.to_owned());
        let schema = self.schema(&Value::Object(whole), at);
        self.open.pop();
        schema
    }

    fn object(&mut self, schema: &Map<String, Value>, at: &str) -> Map<String, Value> {
        let (mut out, mut told) = (Map::new(), vec![]);
        for (keyword, value) in schema {
            let below = format!("{at}/{keyword}");
            if !rules::takes_keyword(self.wire, keyword) && !matches!(keyword.as_str(), "const" | "allOf" | "oneOf") {
                if !rules::is_silent(keyword) {
                    self.losses.add(Severity::Lossy, &below, "told in the description; enforced here");
                    told.push(words::constraint(keyword, value));
                }
                continue;
            }
            match self.keyword(keyword, value, &below) {
                Some(value) => drop(out.insert(keyword.clone(), value)),
                None if rules::is_silent(keyword) => {}
                None => self.losses.add(Severity::Lossy, &below, "not as JSON Schema has it; left out"),
            }
        }
        self.completed(&mut out, &mut told, at);
        words::describe(&mut out, &told);
        out
    }

    /// The value of a keyword as the wire takes it; nothing where it is none.
    fn keyword(&mut self, keyword: &str, value: &Value, at: &str) -> Option<Value> {
        let text = |value: &Value| value.is_string().then(|| value.clone());
        match keyword {
            "$defs" | "definitions" | "$schema" | "$id" | "$anchor" | "$comment" | "$vocabulary" | "$dynamicAnchor"
            | "$recursiveAnchor" => None,
            "type" => self.types(value, at),
            "title" | "description" | "format" | "pattern" | "contentMediaType" | "contentEncoding" => text(value),
            "enum" => {
                value.as_array().filter(|values| !values.is_empty()).and_then(|values| self.enumeration(values, at))
            }
            "const" => self.copied(value),
            "required" => value.as_array().map(|names| self.required(names)),
            "properties" => value.as_object().map(|properties| self.properties(properties, at)),
            "patternProperties" | "dependentSchemas" => {
                let schemas = value.as_object()?.iter();
                Some(
                    schemas
                        .map(|(name, schema)| (name.clone(), self.schema(schema, &format!("{at}/{name}"))))
                        .collect(),
                )
            }
            "items" if value.is_array() => None,
            "items" => Some(self.item(value, at)),
            "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" if value.is_boolean() => {
                Some(value.clone())
            }
            "additionalProperties"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames" => value.is_object().then(|| self.schema(value, at)),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                let schemas = value.as_array().filter(|schemas| !schemas.is_empty())?.iter().enumerate();
                Some(schemas.map(|(place, schema)| self.schema(schema, &format!("{at}/{place}"))).collect())
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
            | "maxContains" => value.is_u64().then(|| value.clone()),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number().then(|| value.clone()),
            "multipleOf" => value.as_f64().filter(|of| *of > 0.0).map(|_| value.clone()),
            "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean().then(|| value.clone()),
            "default" => self.copied(value),
            "examples" => value.is_array().then(|| self.copied(value)).flatten(),
            "dependentRequired" => {
                let lists =
                    value.as_object()?.values().all(|names| names.as_array().is_some_and(|values| all_texts(values)));
                lists.then(|| value.clone())
            }
            // What no draft knows says nothing to anybody.
            _ => None,
        }
    }

    fn types(&mut self, value: &Value, at: &str) -> Option<Value> {
        let known = |name: &str| TYPES.contains(&name);
        match value {
            Value::String(name) => known(name).then(|| value.clone()),
            Value::Array(names) => {
                let mut names: Vec<&str> = names.iter().filter_map(Value::as_str).filter(|name| known(name)).collect();
                names.dedup();
                match (names.as_slice(), self.wire) {
                    ([], _) => None,
                    ([one], _) => Some(json!(one)),
                    (names, Wire::Ollama) => {
                        let first = names.iter().find(|name| **name != "null").unwrap_or(&names[0]);
                        self.losses.add(Severity::Note, at, format!("of several types only {first} is shown"));
                        Some(json!(first))
                    }
                    (names, _) => Some(json!(names)),
                }
            }
            _ => None,
        }
    }

    fn enumeration(&mut self, values: &[Value], at: &str) -> Option<Value> {
        if self.wire != Wire::Gemini {
            return self.copied(&Value::Array(values.to_vec()));
        }
        let kept: Vec<_> = values.iter().filter(|value| value.is_string() || value.is_number()).cloned().collect();
        if kept.len() < values.len() {
            self.losses.add(Severity::Lossy, at, "only texts and numbers are shown");
        }
        if kept.is_empty() { None } else { self.copied(&Value::Array(kept)) }
    }

    fn required(&self, names: &[Value]) -> Value {
        let mut required: Vec<String> = vec![];
        for name in names.iter().filter_map(Value::as_str).map(|name| renames::on(self.wire, name)) {
            if !required.contains(&name) {
                required.push(name);
            }
        }
        required.into()
    }

    fn properties(&mut self, properties: &Map<String, Value>, at: &str) -> Value {
        let mut out = Map::new();
        for (name, schema) in properties {
            let below = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            if *schema == Value::Bool(false) {
                self.losses.add(Severity::Note, &below, "takes nothing, and is not shown");
                continue;
            }
            let shown = renames::on(self.wire, name);
            if shown != *name {
                self.losses.add(Severity::Note, &below, format!("shown as `{shown}`"));
                self.renames.add(&self.place, shown.clone(), name.clone());
            }
            self.place.push(Step::Property(shown.clone()));
            let schema = self.schema(schema, &below);
            self.place.pop();
            out.insert(shown, schema);
        }
        Value::Object(out)
    }

    fn item(&mut self, schema: &Value, at: &str) -> Value {
        self.place.push(Step::Item);
        let item = self.schema(schema, at);
        self.place.pop();
        item
    }

    /// A value as it is, as long as there is room for such.
    fn copied(&mut self, value: &Value) -> Option<Value> {
        let length = value.to_string().len();
        if length > self.bytes {
            self.losses.add(Severity::Lossy, "", "more values than are shown; enforced here");
            return None;
        }
        self.bytes -= length;
        Some(value.clone())
    }

    /// What other keywords of the same schema imply, and what only this wire wants.
    fn completed(&mut self, out: &mut Map<String, Value>, told: &mut Vec<String>, at: &str) {
        if !rules::takes_all(self.wire) {
            self.combined(out, told, at);
        }
        if !out.contains_key("type") {
            let implied =
                [("properties", "object"), ("required", "object"), ("items", "array"), ("prefixItems", "array")];
            let mut implied = implied.iter().filter(|(keyword, _)| out.contains_key(*keyword)).map(|(_, name)| *name);
            let texts = || out.get("enum").and_then(Value::as_array).is_some_and(|values| all_texts(values));
            if let Some(name) = implied.next().or_else(|| texts().then_some("string")) {
                out.insert("type".into(), name.into());
            }
        }
        let arrays =
            |types: &Value| types == "array" || types.as_array().is_some_and(|types| types.contains(&json!("array")));
        if out.get("type").is_some_and(arrays) && !out.contains_key("items") && !out.contains_key("prefixItems") {
            out.insert("items".into(), json!({}));
        }
        if self.wire == Wire::Gemini
            && let Some(Value::Array(types)) = out.get("type").cloned()
        {
            out.remove("type");
            let branches = types.into_iter().map(|name| json!({ "type": name })).collect::<Vec<_>>();
            let beside = out.insert("anyOf".into(), branches.into());
            if let Some(before) = beside {
                self.losses.add(Severity::Lossy, at, "several types beside `anyOf`; the branches are shown");
                out.insert("anyOf".into(), before);
            }
        }
    }

    /// Combinations, for wires that read a part of them.
    fn combined(&mut self, out: &mut Map<String, Value>, told: &mut Vec<String>, at: &str) {
        if let Some(value) = out.remove("const") {
            match (&value, self.wire) {
                (Value::String(_) | Value::Number(_), _) | (_, Wire::Ollama) => {
                    drop(out.insert("enum".into(), json!([value])))
                }
                _ => told.push(words::constraint("const", &value)),
            }
        }
        if let Some(Value::Array(branches)) = out.remove("allOf") {
            self.losses.add(Severity::Note, at, "`allOf` is shown as one");
            for branch in branches {
                merge(out, branch);
            }
        }
        if self.wire == Wire::Ollama
            && let Some(branches) = out.remove("oneOf")
        {
            out.entry("anyOf").or_insert(branches);
        }
        if let Some(Value::Array(branches)) = out.get("anyOf")
            && let [one] = branches.as_slice()
        {
            let one = one.clone();
            out.remove("anyOf");
            merge(out, one);
        }
    }
}

/// Everything of one schema that another does not say itself; properties and what is required are joined.
pub(super) fn merge(into: &mut Map<String, Value>, schema: Value) {
    let Value::Object(schema) = schema else { return };
    for (keyword, value) in schema {
        match (into.get_mut(&keyword), value) {
            (None, value) => drop(into.insert(keyword, value)),
            (Some(Value::Object(there)), Value::Object(more)) if keyword == "properties" => {
                for (name, property) in more {
                    there.entry(name).or_insert(property);
                }
            }
            (Some(Value::Array(there)), Value::Array(more)) if keyword == "required" => {
                for name in more {
                    if !there.contains(&name) {
                        there.push(name);
                    }
                }
            }
            (Some(_), _) => {}
        }
    }
}

fn all_texts(values: &[Value]) -> bool {
    values.iter().all(Value::is_string)
}
