//! A map that answers at once: a way between two places, or what lies near one.

use serde_json::{Value, json};

use super::web::{Asked, Reply, Web};

/// The map, at `/api/tools/call`.
pub fn map() -> Web {
    Web::serve(answer)
}

fn answer(asked: &Asked) -> Reply {
    if (asked.verb.as_str(), asked.target.as_str()) != ("POST", "/api/tools/call") {
        return Reply::json(404, json!({"error": "POST /api/tools/call"}));
    }
    let Ok(call) = serde_json::from_str::<Value>(&asked.body) else {
        return Reply::json(400, json!({"error": "the body is not JSON"}));
    };
    let given = call.get("arguments").unwrap_or(&call);
    let text = |keys: &[&str]| keys.iter().find_map(|key| given[*key].as_str()).filter(|text| !text.is_empty());
    let (from, to) = (text(&["origin", "from"]), text(&["destination", "to"]));
    match (from, to, text(&["query", "keyword", "location", "place", "city"])) {
        (Some(from), Some(to), _) => {
            let steps = [format!("{from} → 环路"), format!("环路 → {to}")];
            Reply::json(200, json!({"origin": from, "destination": to, "distance_km": 18.5, "steps": steps}))
        }
        (_, _, Some(query)) => {
            Reply::json(200, json!({"query": query, "places": [{"name": query, "distance_km": 1.25}]}))
        }
        _ => Reply::json(422, json!({"error": "give origin and destination, or query"})),
    }
}
