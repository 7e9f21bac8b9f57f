//! What a server would ask the model, as a conversation of ours.
// spec: client/sampling

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    model::{
        Choice, Wire,
        compile::{Compiled, compile, name_of},
    },
    toolbox::{Hints, Tool, ToolId},
    transcript::{Answer, Content, Intent, Message, Outcome, Part, Piece, Said, Transcript, Written},
};

/// So many messages, and so many tools, are read.
const MESSAGES: usize = 1_000;
const TOOLS: usize = 128;

/// A question of a server.
pub(super) struct Question {
    pub(super) transcript: Transcript,
    pub(super) tools: Vec<Compiled>,
    pub(super) choice: Choice,
    /// The most tokens that the answer may have.
    pub(super) tokens: u32,
    /// Where it is to stop.
    pub(super) stops: Vec<String>,
}

/// Reads a question for a wire; why it cannot be asked.
pub(super) fn read(params: &Value, wire: Wire, most: u32) -> Result<Question, String> {
    let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |key: &str| params.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let tokens = params.get("maxTokens").and_then(Value::as_u64).ok_or("`maxTokens` is no number of tokens")?;
    if list("messages").len() > MESSAGES || list("tools").len() > TOOLS {
        return Err(format!("no more than {MESSAGES} messages and {TOOLS} tools are put to the model"));
    }
    let tools: Vec<Compiled> = list("tools").iter().map(|tool| defined(tool, wire)).collect::<Result<_, _>>()?;
    let mut messages = vec![];
    for message in list("messages") {
        let read = read_message(message, &tools, &messages)?;
        messages.extend(read);
    }
    if !matches!(messages.last(), Some(Message::User(_) | Message::Tools(_))) {
        return Err("the last message must be the user's".into());
    }
    let choice = params.get("toolChoice").and_then(|choice| choice.get("mode")?.as_str());
    Ok(Question {
        transcript: Transcript { system: text("systemPrompt"), messages },
        choice: match choice {
            Some("required") => Choice::Required,
            Some("none") => Choice::None,
            _ => Choice::Auto,
        },
        tools,
        tokens: u32::try_from(tokens).unwrap_or(u32::MAX).clamp(1, most),
        stops: list("stopSequences").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

fn defined(tool: &Value, wire: Wire) -> Result<Compiled, String> {
    let name = tool.get("name").and_then(Value::as_str).ok_or("a tool has no name")?;
    let id = ToolId { server: String::new(), name: name.to_owned() };
    let shown = name_of(wire, name, &id);
    let text = |key: &str| tool.get(key).and_then(Value::as_str);
    let tool = Tool {
        id,
        public: name.to_owned(),
        description: text("description").or_else(|| text("title")).unwrap_or_default().to_owned(),
        schema: tool.get("inputSchema").cloned().unwrap_or_else(|| serde_json::json!({"type": "object"})),
        hints: Hints::default(),
    };
    Ok(compile(wire, &shown, &Arc::new(tool)))
}

/// One message, as one of ours or two: results of tools stand apart from what is said.
fn read_message(message: &Value, tools: &[Compiled], before: &[Message]) -> Result<Vec<Message>, String> {
    let blocks = match message.get("content") {
        Some(Value::Array(blocks)) => blocks.iter().collect(),
        Some(block @ Value::Object(_)) => vec![block],
        _ => return Err("a message has no content".into()),
    };
    match message.get("role").and_then(Value::as_str) {
        Some("assistant") => {
            let pieces = blocks.into_iter().map(|block| piece(block, tools)).collect::<Result<_, _>>()?;
            Ok(vec![Message::Model(Said { pieces })])
        }
        Some("user") => {
            let (mut answers, mut parts) = (vec![], vec![]);
            for block in blocks {
                match block.get("type").and_then(Value::as_str) {
                    Some("tool_result") => answers.push(answered(block, before)?),
                    _ => parts.push(part(block)?),
                }
            }
            let tools = (!answers.is_empty()).then_some(Message::Tools(answers));
            let said = (!parts.is_empty()).then_some(Message::User(parts));
            Ok(tools.into_iter().chain(said).collect())
        }
        _ => Err("a message is neither the user's nor the assistant's".into()),
    }
}

fn piece(block: &Value, tools: &[Compiled]) -> Result<Piece, String> {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match block.get("type").and_then(Value::as_str) {
        Some("text") => Ok(Piece::Text(text("text"))),
        Some("tool_use") => {
            let own = text("name");
            // A name that is no tool's any more is shown as it was.
            let shown = tools.iter().find(|tool| tool.tool().id.name == own);
            let name = shown.map_or(own, |tool| tool.defined().name.clone());
            let input = block.get("input").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
            Ok(Piece::Intent(Intent { id: text("id"), name, arguments: Written::Object(input), kept: None }))
        }
        other => Err(format!("content of type {other:?} is none that an assistant says")),
    }
}

fn answered(block: &Value, before: &[Message]) -> Result<Answer, String> {
    let id = block.get("toolUseId").and_then(Value::as_str).ok_or("a tool result has no `toolUseId`")?;
    let intents =
        before.iter().rev().filter_map(|message| if let Message::Model(said) = message { Some(said) } else { None });
    let intent = intents.flat_map(Said::intents).find(|intent| intent.id == id);
    let name = intent.ok_or_else(|| format!("a tool result answers {id:?}, which nobody used"))?.name.clone();
    let blocks = block.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut parts = blocks.iter().map(part).collect::<Result<Vec<_>, _>>()?;
    if parts.is_empty()
        && let Some(structured) = block.get("structuredContent")
    {
        parts.push(Part::text(structured.to_string()));
    }
    let failed = block.get("isError") == Some(&Value::Bool(true));
    Ok(Answer { id: id.to_owned(), name, parts, outcome: if failed { Outcome::Failure } else { Outcome::Success } })
}

fn part(block: &Value) -> Result<Part, String> {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match block.get("type").and_then(Value::as_str) {
        Some("text") => Ok(Part::text(text("text"))),
        Some("image") => {
            Ok(Part { what: Content::Image { media: text("mimeType"), data: text("data") }, origin: None })
        }
        other => Err(format!("content of type {} cannot be put to the model", other.unwrap_or("(none)"))),
    }
}
