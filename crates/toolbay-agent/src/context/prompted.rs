//! What a prompt gave, as messages of a transcript.

use serde_json::Value;

use crate::transcript::{Content, Message, Part, Piece, Said};

/// The messages of a `prompts/get`, each piece marked with the prompt it comes from.
pub fn prompted(server: &str, prompt: &str, result: &Value) -> Vec<Message> {
    let mut messages: Vec<Message> = vec![];
    for message in result.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let blocks = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.iter().collect(),
            Some(block) => vec![block],
            None => vec![],
        };
        let parts = blocks.into_iter().map(|block| Part { what: content(block), origin: None }.from(server, prompt));
        if message.get("role").and_then(Value::as_str) == Some("assistant") {
            let words = |part: Part| match part.what {
                Content::Text(text) => Piece::Text(text),
                Content::Image { media, .. } => Piece::Text(format!("[a picture, {media}]")),
            };
            messages.push(Message::Model(Said { pieces: parts.map(words).collect() }));
        } else if let Some(Message::User(last)) = messages.last_mut() {
            last.extend(parts);
        } else {
            messages.push(Message::User(parts.collect()));
        }
    }
    messages
}

fn content(block: &Value) -> Content {
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    let inner = block.get("resource").unwrap_or(block);
    match (text(block, "type").as_deref(), text(inner, "text")) {
        (Some("image"), _) => Content::Image {
            media: text(block, "mimeType").unwrap_or_default(),
            data: text(block, "data").unwrap_or_default(),
        },
        (Some("text" | "resource"), Some(words)) => Content::Text(words),
        (kind, _) => {
            let name = text(inner, "uri").or_else(|| text(inner, "mimeType")).unwrap_or_default();
            Content::Text(format!("[{} {name}, which cannot be shown here]", kind.unwrap_or("something")))
        }
    }
}
