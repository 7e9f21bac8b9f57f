//! Loads the official schemas and closes them: a key that an object does not declare is an error.

use std::{collections::BTreeSet, env, fs, path::PathBuf};

use serde_json::{Map, Value, json};
use toolbay_protocol::{Feature, Revision};

/// The schemas of all revisions, oldest first.
pub(crate) struct Spec {
    pub(crate) folder: PathBuf,
    pub(crate) revisions: Vec<OfRevision>,
}

/// One revision's definitions, closed.
pub(crate) struct OfRevision {
    pub(crate) revision: Revision,
    root: Value,
}

impl Spec {
    /// The schemas; `None`, and a word about it, where they are not at hand.
    #[expect(clippy::print_stdout, reason = "whoever runs the test should learn that it proved nothing")]
    pub(crate) fn load() -> Option<Self> {
        let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/spec");
        let folder = env::var_os("TOOLBAY_SPEC").map_or_else(|| PathBuf::from(beside), PathBuf::from);
        if !folder.join("2026-07-28/schema.json").is_file() {
            println!("skipped: no official schemas (set TOOLBAY_SPEC to the folder that holds them)");
            return None;
        }
        let revisions = Revision::ALL.map(|revision| {
            let path = folder.join(revision.as_str()).join("schema.json");
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            OfRevision::new(revision, &text)
        });
        Some(Self { folder, revisions: revisions.into() })
    }

    /// The revisions that have a definition at `path`, with it.
    pub(crate) fn variants(&self, path: &str) -> Vec<(Revision, &Value)> {
        self.revisions.iter().filter_map(|of| Some((of.revision, of.find(path)?))).collect()
    }
}

impl OfRevision {
    fn new(revision: Revision, text: &str) -> Self {
        // The older files are draft-07 with `definitions`.
        let text = text.replace("#/definitions/", "#/$defs/");
        let mut root: Value = serde_json::from_str(&text).expect("an official schema is JSON");
        let object = root.as_object_mut().expect("a schema is an object");
        if let Some(definitions) = object.remove("definitions") {
            object.insert("$defs".to_owned(), definitions);
        }
        let original = object["$defs"].clone();
        for (name, definition) in object["$defs"].as_object_mut().expect("definitions stand in an object") {
            inline_all_of(definition, &original);
            if name.ends_with("Request") || name.ends_with("Notification") {
                declare_meta(definition);
            }
            if name.ends_with("Capabilities") {
                // SEP-2133 puts extensions into older handshakes too, and the object is said to be open.
                let open = json!({"type": "object", "additionalProperties": {"type": "object"}});
                definition["properties"].as_object_mut().expect("capabilities").entry("extensions").or_insert(open);
            }
            if !name.ends_with("MetaObject") {
                close(definition, revision);
            }
        }
        Self { revision, root }
    }

    /// The definition at `path` (`Tool`, or `CallToolRequest/params`), followed to where it stands.
    pub(crate) fn find(&self, path: &str) -> Option<&Value> {
        let pointer = pointer(path);
        self.follow(self.root.pointer(&pointer)?)
    }

    /// What a reference means.
    pub(crate) fn follow<'a>(&'a self, schema: &'a Value) -> Option<&'a Value> {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(target) => self.follow(self.root.pointer(target.trim_start_matches('#'))?),
            None => Some(schema),
        }
    }

    /// Checks values against the definition at `path`.
    pub(crate) fn validator(&self, path: &str) -> Option<jsonschema::Validator> {
        self.find(path)?;
        let schema = json!({"$schema": self.root["$schema"], "$defs": self.root["$defs"], "$ref": format!("#{}", pointer(path))});
        Some(jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{path}: {error}")))
    }

    /// Every method that a request or notification of this revision names.
    pub(crate) fn methods(&self) -> BTreeSet<String> {
        let definitions = self.root["$defs"].as_object().expect("definitions stand in an object");
        let named =
            |schema: &Value| schema.pointer("/properties/method/const").and_then(Value::as_str).map(str::to_owned);
        definitions.values().filter_map(named).collect()
    }
}

fn pointer(path: &str) -> String {
    format!("/$defs/{}", path.replace('/', "/properties/"))
}

/// Objects that are said in parts become one object, so that it can be closed as a whole.
fn inline_all_of(definition: &mut Value, definitions: &Value) {
    let Some(parts) = definition.get("allOf").and_then(Value::as_array) else { return };
    let mut whole = json!({"type": "object", "properties": {}, "required": []});
    for part in parts {
        let target = part["$ref"].as_str().unwrap_or_default().trim_start_matches("#/$defs/");
        let Some(part) = definitions.get(target) else { return };
        let properties = whole["properties"].as_object_mut().expect("made above");
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        let required = whole["required"].as_array_mut().expect("made above");
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
    }
    *definition = whole;
}

/// The definitions of older messages leave out the `_meta` that the base definition gives them.
fn declare_meta(definition: &mut Value) {
    if let Some(properties) = definition.pointer_mut("/properties/params/properties").and_then(Value::as_object_mut) {
        properties.entry("_meta").or_insert(json!({"type": "object"}));
    }
}

fn close(schema: &mut Value, revision: Revision) {
    let Some(map) = schema.as_object_mut() else { return };
    if map.contains_key("properties") && !map.contains_key("additionalProperties") {
        map.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        for (name, property) in properties {
            match name.as_str() {
                "_meta" => open_meta(property, revision),
                // Whole JSON Schemas, which are never rewritten.
                "inputSchema" | "outputSchema" => {
                    property.as_object_mut().and_then(|schema: &mut Map<_, _>| schema.remove("additionalProperties"));
                }
                _ => close(property, revision),
            }
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(keyword) {
            close(inner, revision);
        }
    }
    for alternative in map.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
        close(alternative, revision);
    }
}

/// `_meta` is open, but not to the protocol's own keys of another era.
fn open_meta(meta: &mut Value, revision: Revision) {
    if revision.has(Feature::Stateless) {
        return; // typed and open already
    }
    let foreign = ["protocolVersion", "clientCapabilities", "clientInfo", "logLevel", "serverInfo", "subscriptionId"]
        .map(|key| format!("io.modelcontextprotocol/{key}"));
    let mut open = json!({"type": "object", "propertyNames": {"not": {"enum": foreign}}});
    if let Some(properties) = meta.get("properties") {
        open["properties"] = properties.clone();
    }
    *meta = open;
}
