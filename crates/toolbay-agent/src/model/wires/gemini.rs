//! Google, Gemini: `generateContent`.
//!
//! All answers in one turn, in the order of the calls; a signature of thoughts goes back on the very part that carried it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    fault::Trouble,
    marked::{self, Bit},
    pieces::{Numbering, count, keep, kept, object, say, stop, text, written_json},
    speech::{self, Ear, Question},
};
use crate::{
    model::{Choice, Defined, Heard, Reply, Stop, Usage, Wire},
    transcript::{Answer, Intent, Message, Outcome, Piece, Said},
};

pub(super) fn request(question: &Question<'_>) -> Value {
    let ask = question.ask;
    let mut document = json!({
        "systemInstruction": {"parts": [{"text": marked::system(&ask.transcript.system)}]},
        "contents": contents(&ask.transcript.messages),
    });
    if !ask.tools.is_empty() {
        let tool = |tool: &Defined| json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema});
        document["tools"] = json!([{"functionDeclarations": ask.tools.iter().map(tool).collect::<Value>()}]);
        let mode = match ask.choice {
            Choice::Auto => "AUTO",
            Choice::None => "NONE",
            Choice::Required => "ANY",
        };
        document["toolConfig"] = json!({"functionCallingConfig": {"mode": mode}});
    }
    if let Some(limit) = ask.limit {
        document["generationConfig"] = json!({"maxOutputTokens": limit});
    }
    document
}

fn contents(messages: &[Message]) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut given = BTreeSet::new();
    for message in messages {
        let (role, parts) = match message {
            Message::User(parts) => ("user", marked::bits(parts).iter().map(part).collect()),
            Message::Model(said) => {
                given.extend(said.intents().filter(|intent| given_id(intent)).map(|intent| intent.id.as_str()));
                ("model", said_parts(said))
            }
            Message::Tools(answers) => ("user", results(answers, &given)),
        };
        match turns.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, all)) if *last == role => all.extend(parts),
            Some(_) | None => turns.push((role, parts)),
        }
    }
    turns.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

fn part(bit: &Bit<'_>) -> Value {
    match bit {
        Bit::Text(text) => json!({"text": text}),
        Bit::Image { media, data } => json!({"inlineData": {"mimeType": media, "data": data}}),
    }
}

/// Whether the provider gave the id, and so wants it again.
fn given_id(intent: &Intent) -> bool {
    intent.kept.as_ref().and_then(|value| kept(Wire::Gemini, value)).is_some_and(|frame| frame.get("id").is_some())
}

fn said_parts(said: &Said) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut signature: Option<&Value> = None;
    for piece in &said.pieces {
        match piece {
            Piece::Text(words) if words.is_empty() => {}
            Piece::Text(words) => {
                let mut part = json!({"text": words});
                if let Some(signature) = signature.take() {
                    part["thoughtSignature"] = signature.clone();
                }
                parts.push(part);
            }
            Piece::Intent(intent) => {
                let call = json!({"name": intent.name, "args": object(intent)});
                let mut part = json!({"functionCall": call});
                if let Some(frame) = intent.kept.as_ref().and_then(|value| kept(Wire::Gemini, value)) {
                    if let Some(signature) = frame.get("thoughtSignature") {
                        part["thoughtSignature"] = signature.clone();
                    }
                    if let Some(id) = frame.get("id") {
                        part["functionCall"]["id"] = id.clone();
                    }
                }
                parts.push(part);
            }
            Piece::Kept(value) => match kept(Wire::Gemini, value) {
                Some(frame) if frame.get("signs").is_some() => signature = frame.get("signs"),
                Some(part) => parts.push(part.clone()),
                None => {}
            },
        }
    }
    parts
}

fn results(answers: &[Answer], given: &BTreeSet<&str>) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut pictures = Vec::new();
    for answer in answers {
        let (words, more) = marked::words(&answer.parts);
        if !more.is_empty() {
            pictures.push(json!({"text": format!("Pictures in the result of {}:", answer.name)}));
            pictures.extend(more.iter().map(part));
        }
        let outcome = match answer.outcome {
            Outcome::Success => "output",
            Outcome::Failure => "error",
        };
        let mut response = json!({"name": answer.name, "response": {outcome: words}});
        if given.contains(answer.id.as_str()) {
            response["id"] = answer.id.as_str().into();
        }
        parts.push(json!({"functionResponse": response}));
    }
    parts.extend(pictures);
    parts
}

/// Reads one reply.
#[derive(Debug)]
pub(super) struct Reading {
    numbering: Numbering,
    pieces: Vec<Piece>,
    /// Whether the last piece of text is signed, and so closed.
    closed: bool,
    stop: Option<Stop>,
    usage: Usage,
}

impl Reading {
    pub(super) fn new(numbering: Numbering) -> Self {
        Self { numbering, pieces: vec![], closed: false, stop: None, usage: Usage::default() }
    }

    fn part(&mut self, part: &Value, heard: &mut Ear<'_>) {
        let signature = part.get("thoughtSignature").filter(|signature| signature.is_string());
        let words = part.get("text").and_then(Value::as_str);
        if part["functionCall"].is_object() {
            return self.call(&part["functionCall"], signature, heard);
        }
        match (words, signature) {
            (Some(words), _) if part["thought"] == true => {
                heard(Heard::Thought(words));
                if signature.is_some() {
                    self.pieces.push(Piece::Kept(keep(Wire::Gemini, part.clone())));
                }
            }
            (Some(words), None) => {
                if self.closed && !words.is_empty() {
                    self.pieces.push(Piece::Text(String::new()));
                    self.closed = false;
                }
                say(&mut self.pieces, words);
                heard(Heard::Text(words));
            }
            (Some(""), Some(_)) => self.pieces.push(Piece::Kept(keep(Wire::Gemini, part.clone()))),
            (Some(words), Some(signature)) => {
                self.pieces.push(Piece::Kept(keep(Wire::Gemini, json!({"signs": signature}))));
                self.pieces.push(Piece::Text(words.to_owned()));
                self.closed = true;
                heard(Heard::Text(words));
            }
            (None, _) if part.as_object().is_some_and(|part| !part.is_empty()) => {
                self.pieces.push(Piece::Kept(keep(Wire::Gemini, part.clone())));
            }
            (None, _) => {}
        }
    }

    fn call(&mut self, call: &Value, signature: Option<&Value>, heard: &mut Ear<'_>) {
        let mut frame = Map::new();
        if let Some(signature) = signature {
            frame.insert("thoughtSignature".into(), signature.clone());
        }
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        if let Some(id) = id {
            frame.insert("id".into(), id.into());
        }
        let name = text(call, "name").to_owned();
        heard(Heard::Intent(&name));
        let kept = (!frame.is_empty()).then(|| keep(Wire::Gemini, Value::Object(frame)));
        let (id, arguments) = (self.numbering.or_next(id), written_json(&call["args"]));
        self.pieces.push(Piece::Intent(Intent { id, name, arguments, kept }));
    }
}

impl speech::Reader for Reading {
    fn event(&mut self, event: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        if event["error"].is_object() {
            return Err(Trouble::told(&event["error"]));
        }
        let candidate = &event["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, heard);
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.stop = Some(told(reason));
        }
        if event["promptFeedback"]["blockReason"].is_string() {
            self.stop = Some(Stop::Refused);
        }
        let usage = &event["usageMetadata"];
        if usage.is_object() {
            self.usage = Usage {
                input: count(usage, "promptTokenCount").saturating_add(count(usage, "toolUsePromptTokenCount")),
                cached: count(usage, "cachedContentTokenCount"),
                output: count(usage, "candidatesTokenCount").saturating_add(count(usage, "thoughtsTokenCount")),
            };
        }
        Ok(())
    }

    fn whole(&mut self, document: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        self.event(document, heard)?;
        if self.stop.is_none() && document["candidates"].is_null() {
            return Err(Trouble::unreadable("it has no `candidates`"));
        }
        self.stop.get_or_insert(Stop::End);
        Ok(())
    }

    /// The stream has no last word of its own.
    fn over(&self) -> bool {
        false
    }

    fn reply(self: Box<Self>) -> Result<Reply, Trouble> {
        let told = self.stop.ok_or_else(Trouble::cut)?;
        let said = Said { pieces: self.pieces };
        let stop = stop(told, &said);
        Ok(Reply { said, stop, usage: self.usage })
    }
}

fn told(reason: &str) -> Stop {
    match reason {
        "STOP" => Stop::End,
        "MAX_TOKENS" => Stop::Length,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            Stop::Refused
        }
        other => Stop::Other(other.to_owned()),
    }
}
