//! Anthropic, Messages.
//!
//! Results of tools come before words, in one message; thoughts go back with their signature; three marks for the
//! provider's cache: after the tools, after the system words, at the end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    fault::Trouble,
    marked::{self, Bit},
    pieces::{count, keep, kept, object, say, stop, text, written, written_json},
    speech::{self, Delivery, Ear, Question},
};
use crate::{
    model::{Choice, Heard, Reply, Stop, Usage, Wire},
    transcript::{Answer, Intent, Message, Outcome, Piece, Said},
};

/// How much a model may say where nobody bounds it; the provider wants a bound.
fn most(model: &str) -> u32 {
    match model {
        old if old.starts_with("claude-3-5") => 8192,
        newer if newer.starts_with("claude-3-7") => 32_000,
        old if old.starts_with("claude-3-") => 4096,
        _ => 32_000,
    }
}

pub(super) fn request(question: &Question<'_>) -> Value {
    let ask = question.ask;
    let mut document = json!({
        "model": question.model,
        "max_tokens": ask.limit.unwrap_or_else(|| most(question.model)),
        "system": [{"type": "text", "text": marked::system(&ask.transcript.system), "cache_control": ephemeral()}],
        "messages": messages(&ask.transcript.messages),
    });
    if !ask.tools.is_empty() {
        let tool = |tool: &crate::model::Defined| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema});
        let mut tools: Vec<Value> = ask.tools.iter().map(tool).collect();
        if let Some(last) = tools.last_mut() {
            last["cache_control"] = ephemeral();
        }
        document["tools"] = tools.into();
        let choice = match ask.choice {
            Choice::Auto => "auto",
            Choice::None => "none",
            Choice::Required => "any",
        };
        document["tool_choice"] = json!({"type": choice});
    }
    if question.delivery == Delivery::Stream {
        document["stream"] = true.into();
    }
    document
}

fn ephemeral() -> Value {
    json!({"type": "ephemeral"})
}

fn messages(said: &[Message]) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in said {
        let (role, blocks) = match message {
            Message::User(parts) => ("user", marked::bits(parts).iter().map(block).collect()),
            Message::Model(said) => ("assistant", said_blocks(said)),
            Message::Tools(answers) => ("user", answers.iter().map(result).collect::<Vec<_>>()),
        };
        match turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, all)) if *last == role => all.extend(blocks),
            Some(_) | None => turns.push((role, blocks)),
        }
    }
    if let Some(("user", blocks)) = turns.last_mut()
        && let Some(last) = blocks.last_mut()
    {
        last["cache_control"] = ephemeral();
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn block(bit: &Bit<'_>) -> Value {
    match bit {
        Bit::Text(text) => json!({"type": "text", "text": text}),
        Bit::Image { media, data } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media, "data": data}})
        }
    }
}

fn said_blocks(said: &Said) -> Vec<Value> {
    let block = |piece: &Piece| match piece {
        Piece::Text(text) if text.trim().is_empty() => None,
        Piece::Text(text) => Some(json!({"type": "text", "text": text})),
        Piece::Intent(intent) => {
            Some(json!({"type": "tool_use", "id": intent.id, "name": intent.name, "input": object(intent)}))
        }
        Piece::Kept(value) => kept(Wire::Anthropic, value).cloned(),
    };
    said.pieces.iter().filter_map(block).collect()
}

fn result(answer: &Answer) -> Value {
    let mut result = json!({"type": "tool_result", "tool_use_id": answer.id});
    let content: Vec<Value> = marked::bits(&answer.parts).iter().map(block).collect();
    if !content.is_empty() {
        result["content"] = content.into();
    }
    if answer.outcome == Outcome::Failure {
        result["is_error"] = true.into();
    }
    result
}

/// Reads one reply.
#[derive(Debug, Default)]
pub(super) struct Reading {
    blocks: BTreeMap<u64, Block>,
    stop: Option<Stop>,
    tally: Tally,
    over: bool,
}

#[derive(Debug)]
struct Block {
    start: Value,
    text: String,
    json: String,
    signature: String,
}

/// Tokens as this provider counts them: three sorts of input.
#[derive(Debug, Default)]
struct Tally {
    fresh: u64,
    stored: u64,
    cached: u64,
    output: u64,
}

impl Tally {
    fn take(&mut self, usage: &Value) {
        let take = |to: &mut u64, name: &str| *to = usage.get(name).and_then(Value::as_u64).unwrap_or(*to);
        take(&mut self.fresh, "input_tokens");
        take(&mut self.stored, "cache_creation_input_tokens");
        take(&mut self.cached, "cache_read_input_tokens");
        take(&mut self.output, "output_tokens");
    }

    fn usage(&self) -> Usage {
        let input = self.fresh.saturating_add(self.stored).saturating_add(self.cached);
        Usage { input, cached: self.cached, output: self.output }
    }
}

impl Reading {
    fn begin(&mut self, at: u64, start: &Value, heard: &mut Ear<'_>) {
        match text(start, "type") {
            "tool_use" => heard(Heard::Intent(text(start, "name"))),
            "text" if !text(start, "text").is_empty() => heard(Heard::Text(text(start, "text"))),
            "thinking" if !text(start, "thinking").is_empty() => heard(Heard::Thought(text(start, "thinking"))),
            _ => {}
        }
        let [text, json, signature] = [const { String::new() }; 3];
        self.blocks.insert(at, Block { start: start.clone(), text, json, signature });
    }

    fn more(&mut self, at: u64, delta: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        let block = self.blocks.get_mut(&at).ok_or_else(|| Trouble::unreadable("a piece goes on that never began"))?;
        match text(delta, "type") {
            "text_delta" => {
                block.text.push_str(text(delta, "text"));
                heard(Heard::Text(text(delta, "text")));
            }
            "thinking_delta" => {
                block.text.push_str(text(delta, "thinking"));
                heard(Heard::Thought(text(delta, "thinking")));
            }
            "input_json_delta" => block.json.push_str(text(delta, "partial_json")),
            "signature_delta" => block.signature.push_str(text(delta, "signature")),
            // Citations, and what is not known yet.
            _ => {}
        }
        Ok(())
    }
}

impl speech::Reader for Reading {
    fn event(&mut self, event: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        match text(event, "type") {
            "message_start" => self.tally.take(&event["message"]["usage"]),
            "content_block_start" => self.begin(count(event, "index"), &event["content_block"], heard),
            "content_block_delta" => self.more(count(event, "index"), &event["delta"], heard)?,
            "message_delta" => {
                self.tally.take(&event["usage"]);
                self.stop = event["delta"]["stop_reason"].as_str().map(told).or(self.stop.take());
            }
            "message_stop" => self.over = true,
            "error" => return Err(Trouble::told(&event["error"])),
            // `ping`, `content_block_stop`, and what is not known yet.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, document: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        if text(document, "type") == "error" {
            return Err(Trouble::told(&document["error"]));
        }
        let content = document["content"].as_array().ok_or_else(|| Trouble::unreadable("it has no `content`"))?;
        for (at, block) in (0..).zip(content) {
            self.begin(at, block, heard);
        }
        self.tally.take(&document["usage"]);
        self.stop = document["stop_reason"].as_str().map(told);
        self.over = true;
        Ok(())
    }

    fn over(&self) -> bool {
        self.over
    }

    fn reply(self: Box<Self>) -> Result<Reply, Trouble> {
        if !self.over {
            return Err(Trouble::cut());
        }
        let usage = self.tally.usage();
        let mut pieces = Vec::new();
        for block in self.blocks.into_values() {
            finish(block, &mut pieces);
        }
        let said = Said { pieces };
        let stop = stop(self.stop.unwrap_or(Stop::End), &said);
        Ok(Reply { said, stop, usage })
    }
}

fn finish(Block { mut start, text: more, json, signature }: Block, pieces: &mut Vec<Piece>) {
    match text(&start, "type") {
        "text" => {
            // Blocks stay apart: the provider made them so.
            let whole = text(&start, "text").to_owned() + &more;
            if !whole.is_empty() {
                pieces.push(Piece::Text(whole));
            }
        }
        "tool_use" => {
            let arguments = if json.is_empty() { written_json(&start["input"]) } else { written(&json) };
            let (id, name) = (text(&start, "id").to_owned(), text(&start, "name").to_owned());
            pieces.push(Piece::Intent(Intent { id, name, arguments, kept: None }));
        }
        "thinking" => {
            let (thinking, signature) =
                (text(&start, "thinking").to_owned() + &more, text(&start, "signature").to_owned() + &signature);
            // The provider refuses thoughts without it.
            if !signature.is_empty() {
                let block = json!({"type": "thinking", "thinking": thinking, "signature": signature});
                pieces.push(Piece::Kept(keep(Wire::Anthropic, block)));
            }
        }
        "" => say(pieces, &more),
        _ => {
            if let Ok(input) = serde_json::from_str::<Value>(&json) {
                start["input"] = input;
            }
            pieces.push(Piece::Kept(keep(Wire::Anthropic, start)));
        }
    }
}

fn told(reason: &str) -> Stop {
    match reason {
        "end_turn" | "stop_sequence" => Stop::End,
        "tool_use" => Stop::Tools,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "pause_turn" => Stop::Paused,
        "refusal" => Stop::Refused,
        other => Stop::Other(other.to_owned()),
    }
}
