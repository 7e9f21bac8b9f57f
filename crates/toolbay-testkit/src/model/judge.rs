//! What every provider refuses: results that answer nothing, calls without results, names that are none. Each reads its own
//! words into [`Step`]s; the rules are here.

use serde_json::Value;

/// One message of a conversation, as far as the rules go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Words of somebody.
    Words,
    /// Calls, each by its id or, where there are none, by its tool's name.
    Calls(Vec<String>),
    /// Results, the same way.
    Results(Vec<String>),
}

/// Each call has its result right behind it, in order, and each result its call.
pub(super) fn answered(steps: &[Step]) -> Result<(), String> {
    let mut open: Option<&Vec<String>> = None;
    for step in steps {
        match (open.take(), step) {
            (Some(calls), Step::Results(results)) if calls == results => {}
            (Some(calls), Step::Results(results)) => {
                return Err(format!("the calls {calls:?} are answered by {results:?}: each once, in their order"));
            }
            (Some(calls), Step::Words | Step::Calls(_)) => return Err(format!("the calls {calls:?} have no results")),
            (None, Step::Results(results)) => return Err(format!("the results {results:?} answer no calls")),
            (None, Step::Calls(calls)) => open = Some(calls),
            (None, Step::Words) => {}
        }
    }
    open.map_or(Ok(()), |calls| Err(format!("the calls {calls:?} have no results")))
}

/// Names a provider takes: so long at most, unique, letters, digits, `_` and whatever else it allows.
pub(super) fn names(names: &[String], most: usize, also: &str) -> Result<(), String> {
    let fits = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_' || also.contains(symbol);
    for (at, name) in names.iter().enumerate() {
        if name.is_empty() || name.len() > most || !name.chars().all(fits) {
            return Err(format!("`{name}` is no name for a tool"));
        }
        if names[..at].contains(name) {
            return Err(format!("two tools are called `{name}`"));
        }
    }
    Ok(())
}

/// A text of a document.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// A list of a document; empty where there is none.
pub(super) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// An error unless it holds.
pub(super) fn must(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// The schema of a tool is an object's.
pub(super) fn schema(schema: &Value) -> Result<(), String> {
    must(schema["type"] == "object", "a tool's schema must be of type object")?;
    let combined = ["anyOf", "oneOf", "allOf"].iter().any(|name| schema.get(name).is_some());
    must(!combined, "a tool's schema must not have anyOf, oneOf or allOf at its root")
}
