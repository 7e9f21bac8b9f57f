//! `expose`, `context`, `share` and `clients`, beside all servers: who is shown all tools, and who the few by which others
//! are found. A flaw in them is told, and all of them are passed over then.

use jsonc_parser::ast::{Object, Value};

use super::{
    keys, tree,
    warn::{Remarks, nearest},
};
use crate::meta::{Client, Expose, Exposure};

/// The keys.
pub(super) const KEYS: [&str; 4] = ["expose", "context", "share", "clients"];
/// The smallest and the largest context that can be meant, in tokens.
const TOKENS: (f64, f64) = (1_000.0, 100_000_000.0);
/// How many clients may be named.
const CLIENTS: usize = 1_000;

/// What is wrong, and where.
type Flaw = (usize, String);

/// Reads them.
pub(super) fn read(root: &Object<'_>, remarks: &mut Remarks<'_>) -> Exposure {
    let mut exposure = Exposure::default();
    for property in &root.properties {
        let (key, value) = (property.name.as_str(), &property.value);
        if !KEYS.contains(&key) || value.as_null_keyword().is_some() {
            continue;
        }
        let read = match key {
            "expose" => expose(value).map(|read| exposure.expose = read),
            "context" => tokens(value).map(|read| exposure.context = read),
            "share" => number("share", value, 0.0, 1.0).map(|read| exposure.share = read),
            _ => clients(value, &mut exposure, remarks),
        };
        if let Err((at, problem)) = read {
            let all = KEYS.map(|key| format!("`{key}`")).join(", ");
            remarks.warn(at, format!("what clients are shown is as if nothing were written ({all}): {problem}"));
            return Exposure::default();
        }
    }
    exposure
}

fn clients(value: &Value<'_>, exposure: &mut Exposure, remarks: &mut Remarks<'_>) -> Result<(), Flaw> {
    let shape = r#"write an object, as { "claude-code": { "expose": "search" } }"#;
    let Value::Object(object) = value else {
        return Err((tree::start(value), format!("`clients` is {}; {shape}", tree::kind(value))));
    };
    if object.properties.len() > CLIENTS {
        return Err((tree::start(value), format!("`clients` names more than {CLIENTS}")));
    }
    for property in &object.properties {
        let (name, at) = (property.name.as_str(), tree::key_start(property));
        if keys::is_comment(name) {
            continue;
        }
        let Value::Object(written) = &property.value else {
            return Err((
                tree::start(&property.value),
                format!("the client `{name}` is {}; {shape}", tree::kind(&property.value)),
            ));
        };
        if exposure.clients.insert(name.to_owned(), client(name, written, remarks)?).is_some() {
            return Err((at, format!("the client `{name}` is given twice; keep one")));
        }
    }
    Ok(())
}

fn client(name: &str, written: &Object<'_>, remarks: &mut Remarks<'_>) -> Result<Client, Flaw> {
    let mut client = Client::default();
    for property in &written.properties {
        match (property.name.as_str(), &property.value) {
            ("expose" | "context", Value::NullKeyword(_)) => {}
            ("expose", value) => client.expose = Some(expose(value)?),
            ("context", value) => client.context = Some(tokens(value)?),
            (key, _) if keys::is_comment(key) => {}
            (key, _) => {
                let near = nearest(key, ["expose", "context"]);
                let near = near.map_or(" and is ignored".into(), |near| format!("; did you mean `{near}`?"));
                remarks.warn(tree::key_start(property), format!("`clients.{name}.{key}` is not known{near}"));
            }
        }
    }
    Ok(client)
}

fn expose(value: &Value<'_>) -> Result<Expose, Flaw> {
    let word = value.as_string_lit().map(|text| text.value.as_ref());
    let found = Expose::WORDS.iter().find(|(known, _)| Some(*known) == word);
    let words = || Expose::WORDS.map(|(word, _)| format!("\"{word}\"")).join(", ");
    found.map(|(_, expose)| *expose).ok_or_else(|| (tree::start(value), format!("`expose` is none of {}", words())))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only whole numbers within bounds come by")]
fn tokens(value: &Value<'_>) -> Result<u32, Flaw> {
    let number = number("context", value, TOKENS.0, TOKENS.1)?;
    if number.fract() != 0.0 {
        return Err((tree::start(value), "`context` is no whole number of tokens".into()));
    }
    Ok(number as u32)
}

fn number(key: &str, value: &Value<'_>, least: f64, most: f64) -> Result<f64, Flaw> {
    let number = value.as_number_lit().and_then(|number| number.value.parse::<f64>().ok());
    let number = number.filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| (tree::start(value), format!("`{key}` is no number from {least} to {most}")))
}
