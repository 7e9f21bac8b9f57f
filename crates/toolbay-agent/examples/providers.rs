//! For `cargo xtask providers`: writes questions of every wire (`questions`), or is a scripted model until its input ends
//! (`serve`). Not for users: `Agent` is.
#![expect(clippy::print_stdout, reason = "it is read by a program")]

use std::io::Read as _;

use serde_json::{Map, Value, json};
use toolbay_agent::{
    model::{
        Ask, Choice, Defined, Wire,
        wires::{Delivery, House, Question, reply, request},
    },
    transcript::{Answer, Content, Message, Outcome, Part, Piece, Transcript},
};
use toolbay_testkit::model::{Dialect, Ending, ModelServer, Turn};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("questions") => questions(),
        Some("serve") => serve(),
        _ => println!("questions | serve"),
    }
}

fn tools() -> Vec<Defined> {
    let properties = json!({"city": {"type": "string", "description": "Where"}, "days": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["city"]});
    let tool = |name: &str| Defined { name: name.into(), description: "Tells it.".into(), schema: schema.clone() };
    ["weather", "clock"].map(tool).into()
}

fn user(text: &str) -> Message {
    Message::User(vec![Part::text(text)])
}

fn image() -> Part {
    Part { what: Content::Image { media: "image/png".into(), data: "iVBORw0KGgo=".into() }, origin: None }
}

/// A reply with thoughts, words and two calls, as each provider writes it.
fn document(wire: Wire) -> Value {
    let arguments = json!({"city": "Oslo"});
    match wire {
        Wire::Anthropic => json!({"stop_reason": "tool_use", "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}, {"type": "redacted_thinking", "data": "c2ln"},
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": arguments},
            {"type": "tool_use", "id": "toolu_2", "name": "clock", "input": arguments},
        ]}),
        Wire::OpenAiChat => {
            json!({"choices": [{"finish_reason": "tool_calls", "message": {"content": "Let me see.", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": arguments.to_string()}},
                {"id": "call_2", "type": "function", "function": {"name": "clock", "arguments": arguments.to_string()}},
            ]}}]})
        }
        Wire::OpenAiResponses => json!({"status": "completed", "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm"}], "encrypted_content": "c2ln"},
            {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [
                {"type": "output_text", "text": "Let me see.", "annotations": []}]},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": arguments.to_string(), "status": "completed"},
            {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "clock", "arguments": arguments.to_string(), "status": "completed"},
        ]}),
        Wire::Gemini => json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [
            {"text": "Let me see.", "thoughtSignature": "c2ln"},
            {"functionCall": {"id": "f1", "name": "weather", "args": arguments}, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "clock", "args": arguments}},
        ]}}]}),
        Wire::Ollama => {
            json!({"done": true, "done_reason": "stop", "message": {"content": "Let me see.", "thinking": "Hm", "tool_calls": [
                {"function": {"name": "weather", "arguments": arguments}}, {"function": {"name": "clock", "arguments": arguments}},
            ]}})
        }
    }
}

/// The conversations, by name.
fn conversations(wire: Wire) -> Vec<(&'static str, Transcript)> {
    let with = |messages: Vec<Message>| Transcript { system: "Be brief.".into(), messages };
    let plain = with(vec![user("How is it in Oslo?")]);
    let ask = Ask { transcript: &plain, tools: &[], choice: Choice::Auto, limit: None };
    let said = reply(wire, ask, &document(wire)).expect("it is as the provider writes it").said;
    let bare = toolbay_agent::transcript::Said {
        pieces: said.pieces.iter().filter(|piece| !matches!(piece, Piece::Kept(_))).cloned().collect(),
    };
    let answers = |said: &toolbay_agent::transcript::Said, parts: &[Part], outcome: Outcome| {
        let answer = |intent: &toolbay_agent::transcript::Intent| {
            let (id, name) = (intent.id.clone(), intent.name.clone());
            Answer { id, name, parts: parts.to_vec(), outcome }
        };
        Message::Tools(said.intents().map(answer).collect())
    };
    let round = |parts: &[Part], outcome: Outcome| {
        let answers = answers(&said, parts, outcome);
        with(vec![user("How is it?"), Message::Model(said.clone()), answers, user("And now?")])
    };
    let rain = [Part::text("rain").from("met", "weather")];
    let bare_answers = answers(&bare, &rain, Outcome::Success);
    vec![
        ("plain", plain),
        ("picture", with(vec![Message::User(vec![Part::text("What is it?"), image()])])),
        ("results, thoughts back", round(&rain, Outcome::Success)),
        ("results of errors", round(&rain, Outcome::Failure)),
        ("empty results", round(&[], Outcome::Success)),
        ("results with pictures", round(&[Part::text("see"), image().from("met", "map")], Outcome::Success)),
        ("calls of another model", with(vec![user("How is it?"), Message::Model(bare), bare_answers])),
    ]
}

fn questions() {
    let tools = tools();
    for wire in Wire::ALL {
        for (name, transcript) in conversations(wire) {
            for (choice, delivery) in [
                (Choice::Auto, Delivery::Stream),
                (Choice::None, Delivery::Whole),
                (Choice::Required, Delivery::Stream),
            ] {
                let ask = Ask { transcript: &transcript, tools: &tools, choice, limit: Some(1000) };
                let question = Question { ask, model: "model-x", delivery, house: House::Own };
                let document = request(wire, &question);
                let name = format!("{name}, {choice:?}").to_lowercase();
                println!("{}", json!({"wire": wire.to_string(), "case": name, "document": document}));
            }
        }
    }
}

fn serve() {
    let server = ModelServer::answering(|question| match question.model.as_str() {
        "calls" => Turn::intents([("weather", json!({"city": "Osló", "days": 2})), ("clock", json!({}))])
            .saying("Let me see.")
            .thinking("Hm?"),
        "long" => Turn::text("It rains and rains").ending(Ending::Length),
        "locked" => Turn::fails(401, "no such key"),
        "busy" => Turn::overloaded(),
        _ => Turn::text("It rains."),
    });
    let names = Wire::ALL.iter().map(Wire::to_string).zip(Dialect::ALL);
    let places: Map<String, Value> = names.map(|(wire, dialect)| (wire, server.base_url(dialect).into())).collect();
    println!("{}", Value::Object(places));
    let mut rest = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut rest);
    server.complaints().iter().for_each(|complaint| println!("{complaint}"));
}
