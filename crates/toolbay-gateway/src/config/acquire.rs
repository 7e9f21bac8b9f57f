//! `acquire`, beside all servers: where servers are looked for that are not in the file, and the numbers of that search.
//! A flaw in it is told, and nothing is added of its own accord then.

use std::time::Duration;

use jsonc_parser::ast::{Array, Object, Value};

use super::{
    keys, tree,
    warn::{Remarks, nearest},
};
use crate::registry::acquire::{Remote, Settings};

/// The longest that one of the times may be.
const DAY: f64 = 86_400.0;
const KEYS: [&str; 7] = ["sources", "cooldown", "similarity", "retries", "lifetime", "most", "remote"];

/// What is wrong, and where.
type Flaw = (usize, String);

/// Reads it.
pub(super) fn read(root: &Object<'_>, remarks: &mut Remarks<'_>) -> Settings {
    let written = root.properties.iter().find(|property| property.name.as_str() == "acquire");
    let Some(written) = written.filter(|property| property.value.as_null_keyword().is_none()) else {
        return Settings::default();
    };
    settings(&written.value, remarks).unwrap_or_else(|(at, problem)| {
        remarks.warn(at, format!("`acquire` is passed over: {problem}"));
        Settings::default()
    })
}

fn settings(value: &Value<'_>, remarks: &mut Remarks<'_>) -> Result<Settings, Flaw> {
    let Value::Object(object) = value else {
        let what = format!(r#"it is {}; write an object, as {{ "remote": "add" }}"#, tree::kind(value));
        return Err((tree::start(value), what));
    };
    let mut settings = Settings::default();
    for property in &object.properties {
        let (key, value) = (property.name.as_str(), &property.value);
        match key {
            "sources" => {
                settings.sources =
                    list(key, value)?.elements.iter().map(|each| source(each)).collect::<Result<_, _>>()?
            }
            "cooldown" => settings.cooldown = seconds(key, value)?,
            "similarity" => settings.similarity = number(key, value, 0.0, 1.0)?,
            "retries" => {
                settings.pauses =
                    list(key, value)?.elements.iter().map(|each| seconds(key, each)).collect::<Result<_, _>>()?;
            }
            "lifetime" => settings.lifetime = seconds(key, value)?,
            "most" => settings.most = count(key, value)?,
            "remote" => settings.remote = remote(value)?,
            _ if keys::is_comment(key) => {}
            _ => {
                let near =
                    nearest(key, KEYS).map_or(" and is ignored".into(), |near| format!("; did you mean `{near}`?"));
                remarks.warn(tree::key_start(property), format!("`acquire.{key}` is not known{near}"));
            }
        }
    }
    Ok(settings)
}

fn list<'a, 'b>(key: &str, value: &'b Value<'a>) -> Result<&'b Array<'a>, Flaw> {
    let wrong = || (tree::start(value), format!("`{key}` is {}; write a list", tree::kind(value)));
    value.as_array().ok_or_else(wrong)
}

fn source(value: &Value<'_>) -> Result<String, Flaw> {
    let address = value.as_string_lit().map(|text| text.value.to_string());
    let address = address.filter(|text| text.starts_with("https://") || text.starts_with("http://"));
    address.ok_or_else(|| (tree::start(value), "a source is no address; write one as https://registry.example".into()))
}

fn remote(value: &Value<'_>) -> Result<Remote, Flaw> {
    match value.as_string_lit().map(|text| text.value.as_ref()) {
        Some("ask") => Ok(Remote::Ask),
        Some("add") => Ok(Remote::Add),
        _ => Err((tree::start(value), "`remote` is neither \"ask\" nor \"add\"".into())),
    }
}

fn seconds(key: &str, value: &Value<'_>) -> Result<Duration, Flaw> {
    number(key, value, 0.0, DAY).map(Duration::from_secs_f64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only whole numbers from 1 to 20 come by")]
fn count(key: &str, value: &Value<'_>) -> Result<usize, Flaw> {
    let number = number(key, value, 1.0, 20.0)?;
    if number.fract() != 0.0 {
        return Err((tree::start(value), format!("`{key}` is no whole number")));
    }
    Ok(number as usize)
}

fn number(key: &str, value: &Value<'_>, least: f64, most: f64) -> Result<f64, Flaw> {
    let number = value.as_number_lit().and_then(|number| number.value.parse::<f64>().ok());
    let number = number.filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| (tree::start(value), format!("`{key}` is no number from {least} to {most}")))
}
