//! The schema of a tool itself: an object, without the keywords that providers refuse there.

use serde_json::{Map, Value, json};

use super::{
    loss::{Losses, Severity},
    walk::merge,
    words,
};

/// Keywords that a root may not have.
const REFUSED: [&str; 9] =
    ["enum", "const", "not", "if", "then", "else", "dependentSchemas", "unevaluatedProperties", "propertyNames"];

/// The root as every provider takes it; nothing where it is no object. `told` is what goes into the tool's description.
pub(super) fn folded(
    mut schema: Map<String, Value>,
    losses: &mut Losses,
    told: &mut Vec<String>,
) -> Option<Map<String, Value>> {
    let is_object = match schema.get("type") {
        None => true,
        Some(Value::Array(types)) => types.contains(&json!("object")),
        Some(name) => name == "object",
    };
    if !is_object {
        return None;
    }
    for keyword in REFUSED {
        if let Some(value) = schema.remove(keyword) {
            losses.add(Severity::Lossy, &format!("/{keyword}"), "told in the description; enforced here");
            told.push(words::constraint(keyword, &value));
        }
    }
    if let Some(Value::Array(branches)) = schema.remove("allOf") {
        losses.add(Severity::Note, "/allOf", "root allOf shown as one");
        branches.into_iter().for_each(|branch| merge(&mut schema, branch));
        // What a branch brought along is folded like the root's own.
        for keyword in REFUSED.into_iter().chain(["allOf"]) {
            if schema.remove(keyword).is_some() {
                losses.add(Severity::Lossy, &format!("/allOf/{keyword}"), "not shown; enforced here");
            }
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = schema.remove(keyword) {
            let why = format!("root {keyword} folded; branches enforced here");
            losses.add(Severity::Lossy, &format!("/{keyword}"), why);
            branch(&mut schema, branches, keyword, told);
        }
    }
    schema.insert("type".into(), "object".into());
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let names: Vec<String> = properties.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| names.iter().any(|there| there == name)));
    }
    Some(schema)
}

/// The union of the branches' properties; required is what all of them require.
fn branch(schema: &mut Map<String, Value>, branches: Vec<Value>, keyword: &str, told: &mut Vec<String>) {
    let required = |branch: &Value| -> Vec<String> {
        let names = branch.get("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let sets: Vec<Vec<String>> = branches.iter().map(required).collect();
    let common: Vec<Value> = sets
        .first()
        .into_iter()
        .flatten()
        .filter(|name| sets.iter().all(|set| set.contains(name)))
        .map(|name| name.clone().into())
        .collect();
    let word = if keyword == "oneOf" { "exactly one" } else { "at least one" };
    let shown: Vec<String> = sets.iter().filter(|set| !set.is_empty()).map(|set| set.join(" and ")).collect();
    if !shown.is_empty() {
        told.push(words::cut(&format!("{word} of these must be given: {}", shown.join("; or "))));
    }
    for branch in branches {
        let Value::Object(mut branch) = branch else { continue };
        branch.retain(|keyword, _| keyword == "properties");
        merge(schema, Value::Object(branch));
    }
    merge(schema, json!({ "required": common }));
}
