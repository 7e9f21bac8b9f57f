//! What the model said, as the server is told.
// spec: client/sampling

use serde_json::{Value, json};

use super::question::Question;
use crate::{
    model::{Reply, Stop},
    transcript::{Intent, Piece, Written},
};

/// A result of `sampling/createMessage`.
pub(super) fn written(reply: &Reply, model: &str, question: &Question) -> Value {
    let (mut blocks, mut stopped) = (vec![], None);
    for piece in &reply.said.pieces {
        match piece {
            Piece::Text(text) => {
                let end =
                    question.stops.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| text.find(&**stop)).min();
                blocks.push(json!({"type": "text", "text": &text[..end.unwrap_or(text.len())]}));
                if end.is_some() {
                    stopped = Some("stopSequence");
                    break;
                }
            }
            Piece::Intent(intent) => blocks.push(used(intent, question)),
            // What only its provider understands stays here: the server cannot bring it back.
            Piece::Kept(_) => {}
        }
    }
    let uses = blocks.iter().any(|block| block["type"] == "tool_use");
    let reason = stopped.unwrap_or(match &reply.stop {
        _ if uses => "toolUse",
        Stop::Length => "maxTokens",
        Stop::Refused => "refusal",
        Stop::End | Stop::Tools | Stop::Paused | Stop::Other(_) => "endTurn",
    });
    // One block stands alone, as servers of all revisions know it.
    let content = match blocks.len() {
        0 => json!({"type": "text", "text": ""}),
        1 if !uses => blocks.remove(0),
        _ => Value::Array(blocks),
    };
    json!({"role": "assistant", "model": model, "content": content, "stopReason": reason})
}

/// A tool that the model wants used, under the server's own names.
fn used(intent: &Intent, question: &Question) -> Value {
    let tool = question.tools.iter().find(|tool| tool.defined().name == intent.name);
    let name = tool.map_or(&*intent.name, |tool| &*tool.tool().id.name);
    let fitting = tool.and_then(|tool| tool.arguments(&intent.arguments).ok());
    // What does not fit is the server's to refuse: it has the schema, and goes on with the model.
    let input = fitting.unwrap_or_else(|| match &intent.arguments {
        Written::Object(object) => object.clone(),
        Written::Unreadable(_) => serde_json::Map::new(),
    });
    json!({"type": "tool_use", "id": intent.id, "name": name, "input": input})
}
