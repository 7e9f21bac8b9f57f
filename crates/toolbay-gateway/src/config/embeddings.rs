//! `embeddings`, beside all servers: the endpoint that is asked what tools and requests mean. A flaw in it is told, and tools
//! are found by words alone then.

use std::time::Duration;

use jsonc_parser::ast::{Object, Value};

use super::{
    expand::{Standing, Variables},
    filled, keys,
    resolve::workspace,
    secret::Secret,
    source::Source,
    surroundings::Surroundings,
    tree,
    url::Url,
    warn::{Remarks, nearest},
};
use crate::embeddings::Settings;

/// The most numbers a vector may have, and the most texts that may be sent at once.
const WIDEST: f64 = 8192.0;
const BATCH: f64 = 256.0;
/// The longest an answer about tools, and a search, may wait, in seconds.
const TIMEOUT: f64 = 600.0;
const BUDGET: f64 = 10.0;
/// The longest text that may be written here.
const LONGEST: usize = 1000;
const KEYS: [&str; 9] =
    ["url", "model", "key", "dimensions", "batch", "timeout", "budget", "queryPrefix", "passagePrefix"];

/// What is wrong, and where.
type Flaw = (usize, String);

/// Reads it.
pub(super) fn read(
    root: &Object<'_>,
    source: &Source<'_>,
    around: &Surroundings<'_>,
    remarks: &mut Remarks<'_>,
) -> Option<Settings> {
    let written = root.properties.iter().find(|property| property.name.as_str() == "embeddings")?;
    if written.value.as_null_keyword().is_some() {
        return None;
    }
    let variables = Variables { around, workspace: workspace(source.file, around), session_dir: Standing::Variable };
    match settings(&written.value, &variables, remarks) {
        Ok(settings) => Some(settings),
        Err((at, problem)) => {
            remarks.warn(at, format!("`embeddings` is passed over, and tools are found by words alone: {problem}"));
            None
        }
    }
}

fn settings(value: &Value<'_>, variables: &Variables<'_>, remarks: &mut Remarks<'_>) -> Result<Settings, Flaw> {
    let shape = r#"write an object, as { "url": "http://…/v1/embeddings", "model": "…" }"#;
    let Value::Object(object) = value else {
        return Err((tree::start(value), format!("it is {}; {shape}", tree::kind(value))));
    };
    let mut seen: Vec<&str> = vec![];
    for property in &object.properties {
        let (key, at) = (property.name.as_str(), tree::key_start(property));
        if seen.contains(&key) {
            return Err((at, format!("`{key}` is given twice; keep one")));
        }
        seen.push(key);
        if !KEYS.contains(&key) && !keys::is_comment(key) {
            let near = nearest(key, KEYS).map_or(" and is ignored".into(), |near| format!("; did you mean `{near}`?"));
            remarks.warn(at, format!("`embeddings.{key}` is not a known key{near}"));
        }
    }
    let (url, at) = url(object, variables, remarks)?;
    let model = text(object, "model", variables)?.filter(|model| !model.trim().is_empty());
    let mut read = Settings::new(url, model.ok_or_else(|| missing(value, "model", "the name of the model"))?);
    read.key = text(object, "key", variables)?.filter(|key| !key.is_empty()).map(Secret::new);
    if read.key.is_some() && !read.url.is_encrypted() && !read.url.is_loopback() {
        remarks.warn(at, "`embeddings.key` is sent unencrypted; use https");
    }
    read.dimensions = number(object, "dimensions", 1.0, WIDEST)?.map(whole("dimensions", object)).transpose()?;
    if let Some(batch) = number(object, "batch", 1.0, BATCH)? {
        read.batch = whole("batch", object)(batch)?;
    }
    if let Some(timeout) = number(object, "timeout", 0.001, TIMEOUT)? {
        read.timeout = Duration::from_secs_f64(timeout);
    }
    if let Some(budget) = number(object, "budget", 0.001, BUDGET)? {
        read.budget = Duration::from_secs_f64(budget);
    }
    read.query = text(object, "queryPrefix", variables)?.unwrap_or_default();
    read.passage = text(object, "passagePrefix", variables)?.unwrap_or_default();
    Ok(read)
}

fn url(object: &Object<'_>, variables: &Variables<'_>, remarks: &mut Remarks<'_>) -> Result<(Url, usize), Flaw> {
    let at = find(object, "url").map_or(object.range.start, tree::start);
    let written = text(object, "url", variables)?;
    let written = written.ok_or_else(|| (at, "it has no `url`; add \"url\": \"http://…/v1/embeddings\"".into()))?;
    let url = Url::parse(&written).map_err(|why| (at, format!("`url`: {}; {}", why.problem, why.remedy)))?;
    if let Some(name) = url.secret_parameters().next() {
        remarks
            .warn(at, format!("`{name}` in `embeddings.url` looks secret; use `embeddings.key` if the endpoint can"));
    }
    if !url.uri().path().trim_end_matches('/').ends_with("embeddings") {
        remarks.note(at, "`embeddings.url` is called as it is written; most endpoints end in /v1/embeddings");
    }
    Ok((url, at))
}

fn missing(value: &Value<'_>, key: &str, what: &str) -> Flaw {
    (tree::start(value), format!("it has no `{key}`; add {what}"))
}

/// What stands under a key; `null` says nothing.
fn find<'v, 'a>(object: &'v Object<'a>, key: &str) -> Option<&'v Value<'a>> {
    let value = &object.properties.iter().find(|property| property.name.as_str() == key)?.value;
    value.as_null_keyword().is_none().then_some(value)
}

fn text(object: &Object<'_>, key: &str, variables: &Variables<'_>) -> Result<Option<String>, Flaw> {
    let Some(value) = find(object, key) else { return Ok(None) };
    let filled = filled::text(key, value, variables)?;
    if filled.len() > LONGEST || filled.contains(['\0', '\r', '\n']) {
        return Err((tree::start(value), format!("`{key}` is longer than {LONGEST} bytes, or holds a line break")));
    }
    Ok(Some(filled))
}

fn number(object: &Object<'_>, key: &str, least: f64, most: f64) -> Result<Option<f64>, Flaw> {
    let Some(value) = find(object, key) else { return Ok(None) };
    let number = value.as_number_lit().and_then(|number| number.value.parse::<f64>().ok());
    let number = number.filter(|number| (least..=most).contains(number));
    let number = number.ok_or_else(|| (tree::start(value), format!("`{key}` is no number from {least} to {most}")))?;
    Ok(Some(number))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only numbers within bounds come by")]
fn whole<'v>(key: &'v str, object: &'v Object<'_>) -> impl Fn(f64) -> Result<usize, Flaw> + 'v {
    move |number| match number.fract() == 0.0 {
        true => Ok(number as usize),
        false => {
            let at = find(object, key).map_or(object.range.start, tree::start);
            Err((at, format!("`{key}` is no whole number")))
        }
    }
}
