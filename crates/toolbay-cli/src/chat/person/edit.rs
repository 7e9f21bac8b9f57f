//! Arguments as a person changes them.

use serde_json::{Map, Value};

use crate::chat::line::{Floor, Typed};

/// The arguments as changed; none where the person left them.
pub(super) async fn arguments(floor: &Floor<'_>, arguments: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut text = serde_json::to_string_pretty(arguments).ok()?;
    loop {
        let Typed::Line(edited) = floor.document("  arguments: ", &text).await else { return None };
        if edited.trim().is_empty() {
            return None;
        }
        match serde_json::from_str(&edited) {
            Ok(Value::Object(arguments)) => return Some(arguments),
            Ok(_) => floor.say("  that is no object: { … }"),
            Err(error) => floor.say(&format!("  that is no JSON: {error}")),
        }
        if let Typed::Interrupted | Typed::End =
            floor.answer("  Enter to edit it again, Ctrl-D to leave it: ", "").await
        {
            return None;
        }
        text = edited;
    }
}
