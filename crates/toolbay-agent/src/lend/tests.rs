use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::*;
use crate::{
    model::{Ask, Choice, Heard, Model, ModelError, Reply, Stop, Usage, Wire},
    person::Sampling,
    transcript::{Intent, Message, Piece, Said, Transcript, Written},
};

/// A conversation, the names of tools, the choice and the limit.
type Asked = (Transcript, Vec<String>, Choice, Option<u32>);

/// Says one thing, and keeps what it was asked.
struct Scripted {
    reply: Reply,
    asked: Mutex<Vec<Asked>>,
}

impl Scripted {
    fn saying(pieces: Vec<Piece>, stop: Stop) -> Arc<Self> {
        let reply = Reply { said: Said { pieces }, stop, usage: Usage::default() };
        Arc::new(Self { reply, asked: Mutex::default() })
    }

    fn words(text: &str) -> Arc<Self> {
        Self::saying(vec![Piece::Text(text.into())], Stop::End)
    }
}

impl Model for Scripted {
    fn wire(&self) -> Wire {
        Wire::OpenAiChat
    }

    fn ask<'a>(
        &'a self,
        ask: Ask<'a>,
        _: &'a mut (dyn FnMut(Heard<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let tools = ask.tools.iter().map(|tool| tool.name.clone()).collect();
        self.asked.lock().unwrap().push((ask.transcript.clone(), tools, ask.choice, ask.limit));
        Box::pin(async { Ok(self.reply.clone()) })
    }
}

fn asking(text: &str) -> Value {
    json!({"maxTokens": 100, "messages": [{"role": "user", "content": {"type": "text", "text": text}}]})
}

async fn ask(lender: &Lender, params: &Value) -> Result<Value, String> {
    lender.ask(&Sampling { server: "s", params }).await
}

#[tokio::test]
async fn words_go_to_the_model_and_back() {
    let model = Scripted::words("one two END three");
    let lender = Lender::new("m:1", model.clone());
    let mut params = asking("count");
    params["systemPrompt"] = json!("Be brief.");
    params["stopSequences"] = json!(["", "END", "three"]);
    let expected = json!({
        "role": "assistant", "model": "m:1", "content": {"type": "text", "text": "one two "}, "stopReason": "stopSequence",
    });
    assert_eq!(ask(&lender, &params).await, Ok(expected));
    let asked = model.asked.lock().unwrap();
    assert_eq!((asked[0].0.system.as_str(), asked[0].3), ("Be brief.", Some(100)));
}

#[tokio::test]
async fn tools_are_used_under_the_servers_own_names() {
    let intent =
        |name: &str, arguments| Piece::Intent(Intent { id: "1".into(), name: name.into(), arguments, kept: None });
    let arguments = Map::from_iter([("city".to_owned(), json!("Oslo"))]);
    let model = Scripted::saying(vec![intent("look_up_", Written::Object(arguments.clone()))], Stop::Tools);
    let lender = Lender::new("m", model.clone());
    let mut params = asking("weather");
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    params["tools"] = json!([{"name": "look up!", "inputSchema": schema}]);
    params["toolChoice"] = json!({"mode": "required"});
    let shown = {
        let _ = ask(&lender, &params).await.unwrap();
        let asked = model.asked.lock().unwrap();
        assert_eq!(asked[0].2, Choice::Required);
        asked[0].1[0].clone()
    };
    let model = Scripted::saying(vec![intent(&shown, Written::Object(arguments))], Stop::Tools);
    let said = ask(&Lender::new("m", model), &params).await.unwrap();
    let used = json!([{"type": "tool_use", "id": "1", "name": "look up!", "input": {"city": "Oslo"}}]);
    assert_eq!((&said["content"], &said["stopReason"]), (&used, &json!("toolUse")));
    // The server comes back with what its tool gave.
    let model = Scripted::words("rain");
    params["messages"] = json!([
        params["messages"][0],
        {"role": "assistant", "content": used},
        {"role": "user", "content": [{"type": "tool_result", "toolUseId": "1", "content": [{"type": "text", "text": "5 °C"}]}]},
    ]);
    assert_eq!(ask(&Lender::new("m", model.clone()), &params).await.unwrap()["content"]["text"], "rain");
    let asked = model.asked.lock().unwrap();
    let Some(Message::Tools(answers)) = asked[0].0.messages.last() else { panic!("{:?}", asked[0].0) };
    assert_eq!((answers[0].id.as_str(), &answers[0].name), ("1", &shown));
}

#[tokio::test]
async fn hints_choose_before_priorities() {
    let lender = Lender::new("anthropic:claude-opus", Scripted::words("")).also("openai:gpt-mini", Scripted::words(""));
    let check = |wishes: Value, expected: &str| {
        assert_eq!(lender.chosen(&json!({"modelPreferences": wishes})), expected, "{wishes}");
    };
    check(json!({}), "anthropic:claude-opus");
    check(json!({"hints": [{"name": "unknown"}, {"name": "GPT"}, {"name": "claude"}]}), "openai:gpt-mini");
    check(json!({"costPriority": 0.9, "intelligencePriority": 0.2}), "openai:gpt-mini");
    check(json!({"speedPriority": 0.3, "intelligencePriority": 0.8}), "anthropic:claude-opus");
    check(json!({"hints": [{"name": "claude"}], "costPriority": 1.0}), "anthropic:claude-opus");
}

#[tokio::test]
async fn a_question_that_cannot_be_put_is_refused_with_the_reason() {
    let lender = Lender::new("m", Scripted::words("x"));
    let mut sound = asking("a");
    let message = |role: &str, content: Value| json!([{"role": role, "content": content}]);
    for (messages, why) in [
        (message("user", json!([{"type": "audio", "data": "", "mimeType": "audio/wav"}])), "audio"),
        (message("assistant", json!({"type": "text", "text": "a"})), "the user's"),
        (message("system", json!({"type": "text", "text": "a"})), "neither"),
        (message("user", json!([{"type": "tool_result", "toolUseId": "x", "content": []}])), "nobody used"),
        (json!([]), "the user's"),
    ] {
        sound["messages"] = messages;
        assert!(ask(&lender, &sound).await.unwrap_err().contains(why), "{why}");
    }
    let without = json!({"messages": asking("a")["messages"]});
    assert!(ask(&lender, &without).await.unwrap_err().contains("maxTokens"));
}

#[tokio::test]
async fn no_server_has_more_than_its_share() {
    let model = Scripted::words("x");
    let lender = Lender::new("m", model.clone()).within(LendLimits { tokens: 50, asks: 2, ..LendLimits::default() });
    for _ in 0..2 {
        ask(&lender, &asking("a")).await.unwrap();
    }
    assert!(ask(&lender, &asking("a")).await.unwrap_err().contains("2 times"));
    let params = asking("a");
    assert!(lender.ask(&Sampling { server: "other", params: &params }).await.is_ok());
    assert!(model.asked.lock().unwrap().iter().all(|asked| asked.3 == Some(50)));
}
