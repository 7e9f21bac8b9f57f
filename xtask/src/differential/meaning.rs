//! What was heard, compared in meaning: without what names only the way, and without what only one of two eras writes.

use std::sync::OnceLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use super::play::Mark;

/// What the eras write each for itself: whether a result is whole, how long it may be kept, who answered.
const STAMPS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];
const SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// What is said below the level that the client asked for, by servers that know of no levels.
const QUIET: [&str; 3] = ["debug", "info", "notice"];
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Where something is asked for that cannot be had.
const FAILS: [&str; 4] = ["unknown", "isError", "read", "prompt"];

/// How one feature went: what was heard without the bay, in the revision of the server, and behind it.
pub(super) fn compare(feature: &str, (direct, up): (&Value, &str), (through, down): (&Value, &str)) -> Mark {
    let crosses = up != down;
    let plain = |heard: &Value| {
        let minted = minted().replace_all(&heard.to_string(), "MINTED").into_owned();
        let mut heard = serde_json::from_str(&minted).expect("what is replaced stands within strings");
        plain(&mut heard, crosses);
        heard
    };
    let (there, here) = (plain(direct), plain(through));
    let ours = "unknown names are refused by the bay itself: it passes on what a server offers";
    if feature == "unknown" && refused(&there) && refused(&here) {
        return if there == here { Mark::Same } else { Mark::Instead(ours) };
    }
    if there.get("broken").is_some() || there.is_null() || (!FAILS.contains(&feature) && fails(&there)) {
        return Mark::Different(format!("    without the bay already: {}", short(&there)));
    }
    if here.get("broken").is_some() {
        return same(&there, &here);
    }
    if let Some(result) = there.get("result") {
        // A task in a revision that has them, a call like any other in one that has others.
        return same(&said(result), &said(here.get("result").unwrap_or(&here)));
    }
    if feature == "log" && crosses && there["told"] == true && there["outcome"] == here["outcome"] {
        return Mark::Instead("2026-07-28 has no line of log that belongs to no request");
    }
    same(&there, &here)
}

/// Names of sessions, tasks and visits that a server made up.
fn minted() -> &'static Regex {
    static MINTED: OnceLock<Regex> = OnceLock::new();
    let uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    MINTED.get_or_init(|| Regex::new(uuid).expect("it is a regular expression"))
}

fn same(there: &Value, here: &Value) -> Mark {
    if there == here {
        return Mark::Same;
    }
    Mark::Different(differences("", there, here).join("\n"))
}

/// What was asked in the course of it, and what came of it.
fn said(heard: &Value) -> Value {
    json!([heard["asked"], heard["outcome"]])
}

/// Whether each of these calls came to an error, be it the server's own or a tool's.
fn refused(heard: &Value) -> bool {
    let error = |said: &Value| said["outcome"]["code"].is_i64() || said["outcome"]["isError"] == true;
    heard.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(error))
}

/// Whether any call in it came to an error.
fn fails(heard: &Value) -> bool {
    match heard {
        Value::Array(items) => items.iter().any(fails),
        Value::Object(object) => {
            let error = |said: &Value| said["code"].is_i64() || said["isError"] == true;
            object.get("outcome").is_some_and(error) || object.values().any(fails)
        }
        _ => false,
    }
}

fn plain(value: &mut Value, crosses: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| plain(item, crosses)),
        Value::Object(object) => {
            object.values_mut().for_each(|value| plain(value, crosses));
            bare(object, crosses);
        }
        _ => {}
    }
}

fn bare(object: &mut Map<String, Value>, crosses: bool) {
    if let Some(meta) = object.get_mut("_meta").and_then(Value::as_object_mut) {
        [SERVER, RELATED].iter().for_each(|key| drop(meta.remove(*key)));
        if meta.is_empty() {
            object.remove("_meta");
        }
    }
    // Minted for each question.
    object.remove("elicitationId");
    // Many servers ask for the roots when it suits them; that they know them shows in what they say.
    if let Some(asked) = object.get_mut("asked").and_then(Value::as_array_mut) {
        asked.retain(|asked| asked[0] != "roots/list");
    }
    if let Some(notes) = object.get_mut("notes").and_then(Value::as_array_mut) {
        notes.retain(|note| !QUIET.iter().any(|level| note[1]["level"] == *level));
    }
    if crosses {
        STAMPS.iter().for_each(|key| drop(object.remove(*key)));
        // A tool of 2025-11-25 says whether it runs as a task.
        object.remove("execution");
    }
    if object.get("code") == Some(&json!(-32002)) {
        object.insert("code".into(), json!(-32602));
    }
}

/// Where the two differ, at most a few places.
fn differences(at: &str, there: &Value, here: &Value) -> Vec<String> {
    let deeper = match (there, here) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            keys.flat_map(|key| differences(&format!("{at}/{key}"), &there[key], &here[key])).collect()
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let places = one.iter().zip(other).enumerate();
            places.flat_map(|(place, (one, other))| differences(&format!("{at}/{place}"), one, other)).collect()
        }
        _ if there == here => vec![],
        _ => vec![format!("    {at}: direct {}, through {}", short(there), short(here))],
    };
    deeper.into_iter().take(8).collect()
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(600) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
