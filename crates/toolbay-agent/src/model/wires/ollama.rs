//! Ollama, chat.
//!
//! There are no ids: results follow in the order of the calls, each with the name of its tool. There is no choice either:
//! a model that must not want tools is not shown them, and none can be made to want one.

use serde_json::{Value, json};

use super::{
    fault::Trouble,
    marked::{self, Bit},
    openai_chat::told_result,
    pieces::{Numbering, count, keep, kept, object, say, stop, text, written_json},
    speech::{self, Delivery, Ear, Question},
};
use crate::{
    model::{Choice, Defined, Heard, Reply, Stop, Usage, Wire},
    transcript::{Answer, Intent, Message, Piece, Said},
};

pub(super) fn request(question: &Question<'_>) -> Value {
    let ask = question.ask;
    let mut messages = vec![json!({"role": "system", "content": marked::system(&ask.transcript.system)})];
    for message in &ask.transcript.messages {
        match message {
            Message::User(parts) => messages.extend(user(&marked::bits(parts))),
            Message::Model(said) => messages.extend(assistant(said)),
            Message::Tools(answers) => results(answers, &mut messages),
        }
    }
    let stream = question.delivery == Delivery::Stream;
    let mut document = json!({"model": question.model, "messages": messages, "stream": stream});
    if !ask.tools.is_empty() && ask.choice != Choice::None {
        document["tools"] = ask.tools.iter().map(tool).collect();
    }
    let mut options = json!({"num_ctx": context(&document, ask.limit)});
    if let Some(limit) = ask.limit {
        options["num_predict"] = limit.into();
    }
    document["options"] = options;
    document
}

/// How many tokens the model's context must hold. Where nothing is told, what is longer than Ollama's own default is cut in
/// silence. It grows by doubling: each other number has the model loaded anew.
fn context(document: &Value, limit: Option<u32>) -> u32 {
    let words = document["messages"].as_array().into_iter().flatten();
    let words: usize = words.filter_map(|message| message["content"].as_str()).map(str::len).sum();
    let tools = document.get("tools").map_or(0, |tools| tools.to_string().len());
    let tokens = (words + tools) / BYTES + limit.unwrap_or(SAID) as usize;
    let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    tokens.clamp(LEAST, MOST).checked_next_power_of_two().unwrap_or(MOST)
}

/// How many bytes stand for a token, at least; what a model says where nobody says how much; and the bounds of a context.
const BYTES: usize = 3;
const SAID: u32 = 2_048;
const LEAST: u32 = 8_192;
const MOST: u32 = 131_072;

fn tool(tool: &Defined) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
    json!({"type": "function", "function": function})
}

fn user(bits: &[Bit<'_>]) -> Option<Value> {
    let mut words = String::new();
    let mut images = Vec::new();
    for bit in bits {
        match bit {
            Bit::Text(text) => {
                if !words.is_empty() {
                    words.push('\n');
                }
                words.push_str(text);
            }
            Bit::Image { data, .. } => images.push(Value::from(*data)),
        }
    }
    if words.is_empty() && images.is_empty() {
        return None;
    }
    let mut message = json!({"role": "user", "content": words});
    if !images.is_empty() {
        message["images"] = images.into();
    }
    Some(message)
}

fn assistant(said: &Said) -> Option<Value> {
    let call = |intent: &Intent| json!({"function": {"name": intent.name, "arguments": object(intent)}});
    let calls: Vec<Value> = said.intents().map(call).collect();
    let words = said.text();
    if calls.is_empty() && words.trim().is_empty() {
        return None;
    }
    let mut message = json!({"role": "assistant", "content": words});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
        let mut thoughts = said.pieces.iter().filter_map(|piece| match piece {
            Piece::Kept(value) => kept(Wire::Ollama, value),
            Piece::Text(_) | Piece::Intent(_) => None,
        });
        if let Some(thoughts) = thoughts.next_back() {
            message["thinking"] = thoughts.clone();
        }
    }
    Some(message)
}

fn results(answers: &[Answer], messages: &mut Vec<Value>) {
    let mut pictures = Vec::new();
    for answer in answers {
        let (words, more) = told_result(answer);
        messages.push(json!({"role": "tool", "tool_name": answer.name, "content": words}));
        pictures.extend(more);
    }
    messages.extend(user(&pictures));
}

/// Reads one reply.
#[derive(Debug)]
pub(super) struct Reading {
    numbering: Numbering,
    words: String,
    thoughts: String,
    intents: Vec<Intent>,
    stop: Option<Stop>,
    usage: Usage,
}

impl Reading {
    pub(super) fn new(numbering: Numbering) -> Self {
        let [words, thoughts] = [const { String::new() }; 2];
        Self { numbering, words, thoughts, intents: vec![], stop: None, usage: Usage::default() }
    }
}

impl speech::Reader for Reading {
    fn event(&mut self, event: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        if !event["error"].is_null() {
            return Err(Trouble::told(&event["error"]));
        }
        let message = &event["message"];
        let (thought, words) = (text(message, "thinking"), text(message, "content"));
        if !thought.is_empty() {
            self.thoughts.push_str(thought);
            heard(Heard::Thought(thought));
        }
        if !words.is_empty() {
            self.words.push_str(words);
            heard(Heard::Text(words));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let (name, arguments) = (text(&call["function"], "name"), written_json(&call["function"]["arguments"]));
            heard(Heard::Intent(name));
            let id = self.numbering.or_next(call["id"].as_str());
            self.intents.push(Intent { id, name: name.to_owned(), arguments, kept: None });
        }
        if event["done"] == true {
            self.stop = Some(told(text(event, "done_reason")));
            let (input, output) = (count(event, "prompt_eval_count"), count(event, "eval_count"));
            self.usage = Usage { input, cached: 0, output };
        }
        Ok(())
    }

    fn whole(&mut self, document: &Value, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        if document["error"].is_null() && !document["message"].is_object() {
            return Err(Trouble::unreadable("it has no `message`"));
        }
        self.event(document, heard)
    }

    fn over(&self) -> bool {
        self.stop.is_some()
    }

    fn reply(self: Box<Self>) -> Result<Reply, Trouble> {
        let told = self.stop.ok_or_else(Trouble::cut)?;
        let mut pieces = Vec::new();
        if !self.thoughts.is_empty() {
            pieces.push(Piece::Kept(keep(Wire::Ollama, self.thoughts.into())));
        }
        say(&mut pieces, &self.words);
        pieces.extend(self.intents.into_iter().map(Piece::Intent));
        let said = Said { pieces };
        let stop = stop(told, &said);
        Ok(Reply { said, stop, usage: self.usage })
    }
}

fn told(reason: &str) -> Stop {
    match reason {
        "stop" | "" => Stop::End,
        "length" => Stop::Length,
        other => Stop::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::context;

    #[test]
    fn the_context_grows_with_what_it_must_hold() {
        let of = |bytes: usize, limit| context(&json!({"messages": [{"content": "x".repeat(bytes)}]}), limit);
        assert_eq!((of(10, None), of(30_000, None)), (8_192, 16_384));
        assert_eq!((of(10, Some(20_000)), of(10_000_000, None)), (32_768, 131_072));
        let tools = json!({"messages": [], "tools": ["x".repeat(60_000)]});
        assert_eq!(context(&tools, None), 32_768);
    }
}
