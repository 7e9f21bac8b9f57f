//! OpenAI, Chat Completions, and whoever speaks the same.
//!
//! One message for each result; it holds words alone, so pictures follow in a message of the user after all of them.

use serde_json::{Map, Value, json};

use super::{
    fault::Trouble,
    marked::{self, Bit},
    pieces::{Numbering, count, keep, kept, object, say, stop, text, written, written_json},
    speech::{self, Delivery, Ear, House, Question},
};
use crate::{
    model::{Choice, Defined, Heard, Reply, Stop, Usage, Wire},
    transcript::{Answer, Intent, Message, Outcome, Piece, Said},
};

pub(super) fn request(question: &Question<'_>) -> Value {
    let ask = question.ask;
    let mut messages = vec![json!({"role": "system", "content": marked::system(&ask.transcript.system)})];
    for message in &ask.transcript.messages {
        match message {
            Message::User(parts) => user(&marked::bits(parts), &mut messages),
            Message::Model(said) => messages.extend(assistant(said)),
            Message::Tools(answers) => results(answers, &mut messages),
        }
    }
    let mut document = json!({"model": question.model, "messages": messages});
    if !ask.tools.is_empty() {
        document["tools"] = ask.tools.iter().map(tool).collect();
        document["tool_choice"] = choice(ask.choice).into();
    }
    if let Some(limit) = ask.limit {
        let name = match question.house {
            House::Own => "max_completion_tokens",
            House::Compatible => "max_tokens",
        };
        document[name] = limit.into();
    }
    if question.delivery == Delivery::Stream {
        document["stream"] = true.into();
        document["stream_options"] = json!({"include_usage": true});
    }
    document
}

pub(super) fn choice(choice: Choice) -> &'static str {
    match choice {
        Choice::Auto => "auto",
        Choice::None => "none",
        Choice::Required => "required",
    }
}

fn tool(tool: &Defined) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
    json!({"type": "function", "function": function})
}

fn user(bits: &[Bit<'_>], messages: &mut Vec<Value>) {
    let content = match bits {
        [] => return,
        [Bit::Text(text)] => Value::from(&**text),
        bits => bits.iter().map(part).collect(),
    };
    messages.push(json!({"role": "user", "content": content}));
}

fn part(bit: &Bit<'_>) -> Value {
    match bit {
        Bit::Text(text) => json!({"type": "text", "text": text}),
        Bit::Image { media, data } => json!({"type": "image_url", "image_url": {"url": data_url(media, data)}}),
    }
}

pub(super) fn data_url(media: &str, data: &str) -> String {
    format!("data:{media};base64,{data}")
}

fn assistant(said: &Said) -> Option<Value> {
    let call = |intent: &Intent| {
        let function = json!({"name": intent.name, "arguments": Value::Object(object(intent)).to_string()});
        let mut call = json!({"id": intent.id, "type": "function", "function": function});
        if let Some(Value::Object(more)) = intent.kept.as_ref().and_then(|value| kept(Wire::OpenAiChat, value)) {
            more.iter().for_each(|(name, value)| call[name] = value.clone());
        }
        call
    };
    let calls: Vec<Value> = said.intents().map(call).collect();
    let words = said.text();
    if calls.is_empty() && words.trim().is_empty() {
        return None;
    }
    let content = if words.is_empty() { Value::Null } else { words.into() };
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
        // Those that give thoughts want them back within a round of calls, and some refuse them elsewhere.
        for piece in &said.pieces {
            if let Piece::Kept(value) = piece
                && let Some(Value::Object(thoughts)) = kept(Wire::OpenAiChat, value)
            {
                thoughts.iter().for_each(|(name, value)| message[name] = value.clone());
            }
        }
    }
    Some(message)
}

fn results(answers: &[Answer], messages: &mut Vec<Value>) {
    let mut pictures = Vec::new();
    for answer in answers {
        let (words, more) = told_result(answer);
        messages.push(json!({"role": "tool", "tool_call_id": answer.id, "content": words}));
        pictures.extend(more);
    }
    user(&pictures, messages);
}

/// A result in words, where there is no other way to say that it is a failure; and its pictures.
pub(super) fn told_result(answer: &Answer) -> (String, Vec<Bit<'_>>) {
    let (words, mut pictures) = marked::words(&answer.parts);
    if !pictures.is_empty() {
        let note = format!("Pictures in the result of {} ({}):", answer.name, answer.id);
        pictures.insert(0, Bit::Text(note.into()));
    }
    let words = match answer.outcome {
        Outcome::Success => words,
        Outcome::Failure => format!("The call failed.\n{words}"),
    };
    (words, pictures)
}

/// Reads one reply.
#[derive(Debug)]
pub(super) struct Reading {
    numbering: Numbering,
    words: String,
    calls: Vec<Call>,
    thoughts: Map<String, Value>,
    stop: Option<Stop>,
    refused: bool,
    usage: Usage,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    kept: Map<String, Value>,
}

impl Reading {
    pub(super) fn new(numbering: Numbering) -> Self {
        let (words, calls, thoughts) = (String::new(), vec![], Map::new());
        Self { numbering, words, calls, thoughts, stop: None, refused: false, usage: Usage::default() }
    }

    fn take(&mut self, delta: &Value, heard: &mut Ear<'_>) {
        self.think(delta, heard);
        for name in ["content", "refusal"] {
            let words = text(delta, name);
            if !words.is_empty() {
                self.refused |= name == "refusal";
                self.words.push_str(words);
                heard(Heard::Text(words));
            }
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(call, heard);
        }
    }

    fn think(&mut self, delta: &Value, heard: &mut Ear<'_>) {
        let mut told = false;
        for name in ["reasoning_content", "reasoning"] {
            let thought = text(delta, name);
            if thought.is_empty() {
                continue;
            }
            let known = self.thoughts.entry(name).or_insert_with(|| String::new().into());
            *known = (known.as_str().unwrap_or_default().to_owned() + thought).into();
            // Some write the same under both names.
            if !told {
                heard(Heard::Thought(thought));
            }
            told = true;
        }
        if let Some(details) = delta["reasoning_details"].as_array() {
            let known = self.thoughts.entry("reasoning_details").or_insert_with(|| Value::Array(vec![]));
            known.as_array_mut().expect("it was made as one").extend(details.iter().cloned());
        }
    }

    fn call(&mut self, part: &Value, heard: &mut Ear<'_>) {
        let (index, id) = (part["index"].as_u64(), text(part, "id"));
        let (name, arguments) = (text(&part["function"], "name"), &part["function"]["arguments"]);
        // Some compatible servers give every call the same index, or none.
        let goes_on = |call: &&mut Call| (id.is_empty() || call.id == id || name.is_empty()) && call.index == index;
        let call = match self.calls.iter_mut().rev().find(goes_on).filter(|_| index.is_some() || name.is_empty()) {
            Some(call) => call,
            None => {
                self.calls.push(Call { index, ..Call::default() });
                self.calls.last_mut().expect("it was just put there")
            }
        };
        if call.id.is_empty() {
            call.id = id.to_owned();
        }
        if call.name.is_empty() && !name.is_empty() {
            call.name = name.to_owned();
            heard(Heard::Intent(name));
        }
        match arguments {
            Value::String(more) => call.arguments.push_str(more),
            Value::Null => {}
            object => call.arguments = object.to_string(),
        }
        if let Some(more) = part.get("extra_content") {
            call.kept.insert("extra_content".into(), more.clone());
        }
    }

    fn end(&mut self, choice: &Value, document: &Value) {
        self.stop = choice["finish_reason"].as_str().map(told).or(self.stop.take());
        self.count(document);
    }

    fn count(&mut self, document: &Value) {
        let usage = &document["usage"];
        if usage.is_object() {
            self.usage = Usage {
                input: count(usage, "prompt_tokens"),
                cached: count(&usage["prompt_tokens_details"], "cached_tokens"),
                output: count(usage, "completion_tokens"),
            };
        }
    }
}

impl speech::Reader for Reading {
    fn event(&mut self, event: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        if event["error"].is_object() || event["error"].is_string() {
            return Err(Trouble::told(&event["error"]));
        }
        let choice = &event["choices"][0];
        self.take(&choice["delta"], heard);
        self.end(choice, event);
        Ok(())
    }

    fn whole(&mut self, document: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        if document["error"].is_object() || document["error"].is_string() {
            return Err(Trouble::told(&document["error"]));
        }
        let choice = &document["choices"][0];
        if !choice["message"].is_object() {
            return Err(Trouble::unreadable("it has no `choices[0].message`"));
        }
        let mut message = choice["message"].clone();
        for (index, call) in (0_u64..).zip(message["tool_calls"].as_array_mut().into_iter().flatten()) {
            call["index"] = index.into();
        }
        self.take(&message, heard);
        self.end(choice, document);
        self.stop.get_or_insert(Stop::End);
        Ok(())
    }

    /// Usage comes after the end, so the stream is read to its own.
    fn over(&self) -> bool {
        false
    }

    fn reply(mut self: Box<Self>) -> Result<Reply, Trouble> {
        let told = self.stop.ok_or_else(Trouble::cut)?;
        let mut pieces = Vec::new();
        if !self.thoughts.is_empty() {
            pieces.push(Piece::Kept(keep(Wire::OpenAiChat, Value::Object(self.thoughts))));
        }
        say(&mut pieces, &self.words);
        for Call { id, name, arguments, kept, .. } in self.calls {
            let kept = (!kept.is_empty()).then(|| keep(Wire::OpenAiChat, Value::Object(kept)));
            let arguments = match written(&arguments) {
                // Some write the object as text, twice.
                unreadable @ crate::transcript::Written::Unreadable(_) => serde_json::from_str::<String>(&arguments)
                    .map_or(unreadable, |inner| written_json(&Value::String(inner))),
                object @ crate::transcript::Written::Object(_) => object,
            };
            pieces.push(Piece::Intent(Intent { id: self.numbering.or_next(Some(&id)), name, arguments, kept }));
        }
        let said = Said { pieces };
        let stop = stop(if self.refused { Stop::Refused } else { told }, &said);
        Ok(Reply { said, stop, usage: self.usage })
    }
}

fn told(reason: &str) -> Stop {
    match reason {
        "stop" => Stop::End,
        "tool_calls" | "function_call" => Stop::Tools,
        "length" => Stop::Length,
        "content_filter" => Stop::Refused,
        other => Stop::Other(other.to_owned()),
    }
}
