//! `telemetry`, beside all servers: what the standard environment variables say, for those who would rather write it down.
//! A flaw in it is no reason not to serve: it is told, and no collector is.

use std::path::Path;

use jsonc_parser::ast::{Object, Value};

use super::{
    expand::{Standing, Variables},
    filled, keys,
    resolve::workspace,
    secret::Secret,
    source::Source,
    surroundings::Surroundings,
    tree,
    warn::{Remarks, nearest},
};
use crate::percent;

/// What the file says of telemetry; nothing where it has no such key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Telemetry(Vec<(&'static Key, Secret)>);

/// A key and the variable that says the same.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    key: &'static str,
    variable: &'static str,
    shape: Shape,
    /// Whether it belongs to an address: another address does without it.
    place: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Shape {
    Text,
    Number,
    /// An object of texts, written as `name=value,name=value`.
    Pairs,
}

const fn key(key: &'static str, variable: &'static str, shape: Shape, place: bool) -> Key {
    Key { key, variable, shape, place }
}

const KEYS: [Key; 7] = [
    key("endpoint", ENDPOINT, Shape::Text, true),
    key("headers", "OTEL_EXPORTER_OTLP_HEADERS", Shape::Pairs, true),
    key("protocol", "OTEL_EXPORTER_OTLP_PROTOCOL", Shape::Text, true),
    key("serviceName", "OTEL_SERVICE_NAME", Shape::Text, false),
    key("attributes", "OTEL_RESOURCE_ATTRIBUTES", Shape::Pairs, false),
    key("sampler", "OTEL_TRACES_SAMPLER", Shape::Text, false),
    key("samplerArg", "OTEL_TRACES_SAMPLER_ARG", Shape::Number, false),
];

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const ENDPOINTS: [&str; 3] = [ENDPOINT, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"];

impl Telemetry {
    /// A variable: as the environment has it, else as the file does. Where the environment names another collector, that
    /// one is sent none of the headers that the file has for its own.
    pub fn variable(&self, environment: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
        let set = |name: &str| environment(name).filter(|text| !text.trim().is_empty());
        if let Some(text) = set(name) {
            return Some(text);
        }
        let (key, value) = self.0.iter().find(|(key, _)| key.variable == name)?;
        let elsewhere = key.place && ENDPOINTS.iter().any(|endpoint| set(endpoint).is_some());
        (!elsewhere).then(|| value.reveal().to_owned())
    }

    /// The keys under which another reading of the file says something else.
    pub fn differing(&self, other: &Self) -> Vec<&'static str> {
        let value = |of: &Self, key: &Key| of.0.iter().find(|(there, _)| *there == key).map(|(_, value)| value.clone());
        KEYS.iter().filter(|key| value(self, key) != value(other, key)).map(|key| key.key).collect()
    }
}

/// Reads it.
pub(super) fn read(
    root: &Object<'_>,
    source: &Source<'_>,
    around: &Surroundings<'_>,
    remarks: &mut Remarks<'_>,
) -> Telemetry {
    let written = root.properties.iter().find(|property| property.name.as_str() == "telemetry");
    let Some(written) = written.filter(|property| property.value.as_null_keyword().is_none()) else {
        return Telemetry::default();
    };
    match entries(&written.value, source.file, around, remarks) {
        Ok(entries) => Telemetry(entries),
        Err((at, problem)) => {
            remarks.warn(at, format!("`telemetry` is passed over, and no collector is told anything: {problem}"));
            Telemetry::default()
        }
    }
}

/// What is wrong, and where.
type Flaw = (usize, String);

fn entries(
    value: &Value<'_>,
    file: &Path,
    around: &Surroundings<'_>,
    remarks: &mut Remarks<'_>,
) -> Result<Vec<(&'static Key, Secret)>, Flaw> {
    let variables = Variables { around, workspace: workspace(file, around), session_dir: Standing::Variable };
    let Value::Object(object) = value else {
        let what = format!(r#"it is {}; write an object, as {{ "endpoint": "https://…" }}"#, tree::kind(value));
        return Err((tree::start(value), what));
    };
    let mut entries: Vec<(&'static Key, Secret)> = vec![];
    for property in &object.properties {
        let (name, at) = (property.name.as_str(), tree::key_start(property));
        let Some(key) = KEYS.iter().find(|key| key.key == name) else {
            if !keys::is_comment(name) {
                let near = nearest(name, KEYS.iter().map(|key| key.key));
                let near = near.map_or(" and is ignored".into(), |near| format!("; did you mean `{near}`?"));
                remarks.warn(at, format!("`telemetry.{name}` is not a known key{near}"));
            }
            continue;
        };
        if entries.iter().any(|(there, _)| *there == key) {
            return Err((at, format!("`{name}` is given twice; keep one")));
        }
        if property.value.as_null_keyword().is_none() {
            entries.push((key, Secret::new(one(key, &property.value, &variables)?)));
        }
    }
    Ok(entries)
}

fn one(key: &Key, value: &Value<'_>, variables: &Variables<'_>) -> Result<String, Flaw> {
    match (&key.shape, value) {
        (Shape::Text, Value::StringLit(_)) => filled::text(key.key, value, variables),
        (Shape::Number, Value::NumberLit(number)) => Ok(number.value.to_owned()),
        (Shape::Pairs, Value::Object(pairs)) => {
            let pairs = pairs.properties.iter().map(|pair| {
                let name = format!("{}.{}", key.key, pair.name.as_str());
                let value = filled::text(&name, &pair.value, variables)?;
                Ok(format!("{}={}", escaped(pair.name.as_str()), escaped(&value)))
            });
            Ok(pairs.collect::<Result<Vec<_>, Flaw>>()?.join(","))
        }
        (shape, other) => {
            let wanted = match shape {
                Shape::Text => "a text",
                Shape::Number => "a number",
                Shape::Pairs => "an object of texts",
            };
            Err((tree::start(other), format!("`{}` is {}; write {wanted}", key.key, tree::kind(other))))
        }
    }
}

/// A text without what has a meaning between pairs.
fn escaped(text: &str) -> String {
    percent::escaped(text, |byte| byte.is_ascii_graphic() && !matches!(byte, b',' | b'=' | b'%' | b';'))
}
