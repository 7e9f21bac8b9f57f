//! OpenAI, Responses.
//!
//! Nothing is kept at the provider (`store` is false), so what it said goes back as it was: thoughts with what is sealed
//! in them, messages and calls in the frame they came in.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    fault::Trouble,
    marked::{self, Bit},
    openai_chat::{choice, data_url},
    pieces::{Numbering, count, keep, kept, object, say, stop, text, written},
    speech::{self, Delivery, Ear, Question},
};
use crate::{
    model::{Defined, Heard, Reply, Stop, Usage, Wire},
    transcript::{Answer, Intent, Message, Outcome, Piece, Said},
};

pub(super) fn request(question: &Question<'_>) -> Value {
    let ask = question.ask;
    let mut input = Vec::new();
    for message in &ask.transcript.messages {
        match message {
            Message::User(parts) => user(&marked::bits(parts), &mut input),
            Message::Model(said) => given_back(said, &mut input),
            Message::Tools(answers) => input.extend(answers.iter().map(result)),
        }
    }
    let mut document = json!({
        "model": question.model,
        "instructions": marked::system(&ask.transcript.system),
        "input": input,
        "store": false,
        "include": ["reasoning.encrypted_content"],
    });
    if !ask.tools.is_empty() {
        document["tools"] = ask.tools.iter().map(tool).collect();
        document["tool_choice"] = choice(ask.choice).into();
    }
    if let Some(limit) = ask.limit {
        document["max_output_tokens"] = limit.into();
    }
    if question.delivery == Delivery::Stream {
        document["stream"] = true.into();
    }
    document
}

fn tool(tool: &Defined) -> Value {
    // Left out, the provider would try a stricter schema of its own making.
    json!({
        "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema, "strict": false,
    })
}

fn user(bits: &[Bit<'_>], input: &mut Vec<Value>) {
    if !bits.is_empty() {
        input.push(json!({"type": "message", "role": "user", "content": bits.iter().map(part).collect::<Value>()}));
    }
}

fn part(bit: &Bit<'_>) -> Value {
    match bit {
        Bit::Text(text) => json!({"type": "input_text", "text": text}),
        Bit::Image { media, data } => {
            json!({"type": "input_image", "image_url": data_url(media, data), "detail": "auto"})
        }
    }
}

fn given_back(said: &Said, input: &mut Vec<Value>) {
    let mut frame = None;
    for piece in &said.pieces {
        match piece {
            Piece::Kept(value) => match kept(Wire::OpenAiResponses, value) {
                Some(message) if text(message, "type") == "message" => frame = Some(message),
                Some(item) => input.push(item.clone()),
                None => {}
            },
            Piece::Text(words) if words.is_empty() => {}
            Piece::Text(words) => input.push(match frame.take() {
                Some(frame) => {
                    let mut message = frame.clone();
                    message["content"] = json!([{"type": "output_text", "text": words, "annotations": []}]);
                    message
                }
                None => json!({"role": "assistant", "content": words}),
            }),
            Piece::Intent(intent) => input.push(call(intent)),
        }
    }
}

fn call(intent: &Intent) -> Value {
    let arguments = Value::Object(object(intent)).to_string();
    let mut call = json!({"type": "function_call", "call_id": intent.id, "name": intent.name, "arguments": arguments});
    if let Some(Value::Object(frame)) = intent.kept.as_ref().and_then(|value| kept(Wire::OpenAiResponses, value)) {
        frame.iter().for_each(|(name, value)| call[name] = value.clone());
    }
    call
}

fn result(answer: &Answer) -> Value {
    let mut bits = marked::bits(&answer.parts);
    if answer.outcome == Outcome::Failure {
        bits.insert(0, Bit::Text("The call failed.".into()));
    }
    let output = match &bits[..] {
        [] => Value::from(""),
        [Bit::Text(text)] => Value::from(&**text),
        bits => bits.iter().map(part).collect(),
    };
    json!({"type": "function_call_output", "call_id": answer.id, "output": output})
}

/// Reads one reply.
#[derive(Debug)]
pub(super) struct Reading {
    numbering: Numbering,
    items: BTreeMap<u64, Value>,
    end: Option<Value>,
}

impl Reading {
    pub(super) fn new(numbering: Numbering) -> Self {
        Self { numbering, items: BTreeMap::new(), end: None }
    }

    fn finish(&mut self, response: &Value) -> Result<(), Trouble> {
        if text(response, "status") == "failed" || response["error"].is_object() {
            return Err(Trouble::told(&response["error"]));
        }
        let mut end = response.clone();
        // Some leave out at the end what they told before.
        let output = end["output"].take();
        if self.items.is_empty() {
            let output = output.as_array().ok_or_else(|| Trouble::unreadable("it has no `output`"))?;
            self.items.extend((0..).zip(output.iter().cloned()));
        }
        self.end = Some(end);
        Ok(())
    }
}

impl speech::Reader for Reading {
    fn event(&mut self, event: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        match text(event, "type") {
            "response.output_text.delta" | "response.refusal.delta" => heard(Heard::Text(text(event, "delta"))),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                heard(Heard::Thought(text(event, "delta")));
            }
            "response.output_item.added" if text(&event["item"], "type") == "function_call" => {
                heard(Heard::Intent(text(&event["item"], "name")));
            }
            "response.output_item.done" => {
                self.items.insert(count(event, "output_index"), event["item"].clone());
            }
            "response.completed" | "response.incomplete" | "response.failed" => self.finish(&event["response"])?,
            "error" => {
                let error = if event["error"].is_object() { &event["error"] } else { event };
                return Err(Trouble::told(error));
            }
            // The beginning and end of parts, and what is not known yet.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, document: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        self.finish(document)?;
        for item in self.items.values() {
            match text(item, "type") {
                "function_call" => heard(Heard::Intent(text(item, "name"))),
                "message" => heard(Heard::Text(&words(item))),
                _ => {}
            }
        }
        Ok(())
    }

    fn over(&self) -> bool {
        self.end.is_some()
    }

    fn reply(mut self: Box<Self>) -> Result<Reply, Trouble> {
        let end = self.end.ok_or_else(Trouble::cut)?;
        let mut pieces = Vec::new();
        let mut refused = false;
        for item in self.items.into_values() {
            refused |= item["content"].as_array().into_iter().flatten().any(|part| text(part, "type") == "refusal");
            take(item, &mut self.numbering, &mut pieces);
        }
        let usage = &end["usage"];
        let usage = Usage {
            input: count(usage, "input_tokens"),
            cached: count(&usage["input_tokens_details"], "cached_tokens"),
            output: count(usage, "output_tokens"),
        };
        let said = Said { pieces };
        let told = match (text(&end, "status"), text(&end["incomplete_details"], "reason")) {
            _ if refused => Stop::Refused,
            ("incomplete", "max_output_tokens") => Stop::Length,
            ("incomplete", "content_filter") => Stop::Refused,
            ("incomplete", other) => Stop::Other(other.to_owned()),
            ("completed" | "", _) => Stop::End,
            (other, _) => Stop::Other(other.to_owned()),
        };
        let stop = stop(told, &said);
        Ok(Reply { said, stop, usage })
    }
}

fn words(item: &Value) -> String {
    let part = |part: &Value| text(part, "text").to_owned() + text(part, "refusal");
    item["content"].as_array().into_iter().flatten().map(part).collect()
}

fn take(mut item: Value, numbering: &mut Numbering, pieces: &mut Vec<Piece>) {
    let keep = |value: Value| keep(Wire::OpenAiResponses, value);
    match text(&item, "type") {
        "message" => {
            let words = words(&item);
            item["content"] = Value::Null;
            if !words.is_empty() {
                pieces.push(Piece::Kept(keep(item)));
                say(pieces, &words);
            }
        }
        "function_call" => {
            let id = numbering.or_next(item["call_id"].as_str());
            let (name, arguments) = (text(&item, "name").to_owned(), written(text(&item, "arguments")));
            let ours = ["type", "call_id", "name", "arguments"];
            let frame = item.as_object_mut().map(std::mem::take).unwrap_or_default();
            let frame: Map<_, _> = frame.into_iter().filter(|(name, _)| !ours.contains(&name.as_str())).collect();
            let kept = (!frame.is_empty()).then(|| keep(Value::Object(frame)));
            pieces.push(Piece::Intent(Intent { id, name, arguments, kept }));
        }
        // The provider keeps nothing: thoughts of which it gave only the name are not found again.
        "reasoning"
            if !item["encrypted_content"].is_string() && item["content"].as_array().is_none_or(Vec::is_empty) => {}
        _ => pieces.push(Piece::Kept(keep(item))),
    }
}
