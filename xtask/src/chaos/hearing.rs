//! What a client hears while it waits for one answer, and whether all of it was meant for it.

use serde_json::Value;

use super::acts::Act;
use super::books::Ending;

/// One wait.
pub(super) struct Hearing<'h> {
    token: &'h str,
    id: u64,
    /// The answer.
    pub(super) answer: Option<Value>,
    /// The first thing that was wrong.
    pub(super) wrong: Option<String>,
}

/// What a message wants of its hearer.
pub(super) enum Wants {
    /// Nothing.
    Nothing,
    /// That a question is answered.
    Answer(Value),
}

impl<'h> Hearing<'h> {
    /// Waits for the answer to `id`, which is about `token`.
    pub(super) fn new(token: &'h str, id: u64) -> Self {
        Self { token, id, answer: None, wrong: None }
    }

    /// Takes a message.
    pub(super) fn take(&mut self, message: Value) -> Wants {
        match (message["method"].as_str(), message.get("id")) {
            (Some("elicitation/create"), Some(id)) => {
                let (id, question) = (id.clone(), &message["params"]["message"]);
                self.check_question(question);
                return Wants::Answer(id);
            }
            (Some("notifications/progress"), None) => {
                let params = &message["params"];
                if params["progressToken"] != self.token || params["message"] != self.token {
                    self.object(format!("heard the progress of another call: {params}"));
                }
            }
            (Some(_), _) => {}
            (None, Some(id)) if *id != self.id && !id.is_null() => {
                self.object(format!("answer to another id: {}", short(&message)))
            }
            (None, _) if self.answer.is_some() => self.object(format!("a second answer: {}", short(&message))),
            (None, _) => self.answer = Some(message),
        }
        Wants::Nothing
    }

    /// A question must be this call's.
    pub(super) fn check_question(&mut self, question: &Value) {
        if question.as_str() != Some(&format!("ask {}", self.token)) {
            self.object(format!("asked what another call's server wants to know: {question}"));
        }
    }

    fn object(&mut self, what: String) {
        self.wrong.get_or_insert(format!("{what} (this call: {})", self.token));
    }
}

/// How a call ended with an answer.
pub(super) fn judged(answer: &Value, token: &str, act: Act) -> Ending {
    if let Some(error) = answer.get("error") {
        let (code, words) = (error["code"].as_i64().unwrap_or_default(), error["message"].as_str().unwrap_or_default());
        let mut named =
            words.split("tok-").skip(1).map(|rest| format!("tok-{}z", rest.split('z').next().unwrap_or_default()));
        return match named.find(|named| named != token) {
            Some(_) => Ending::Wrong(format!("another call's error: {words} (this call: {token})")),
            None if act == Act::Error && words == format!("own {token}") => Ending::Own,
            None => Ending::Error(code, words.to_owned()),
        };
    }
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    let own = match act {
        Act::Ask if text == format!("own {token} refused") => return Ending::Refused,
        Act::Ask => text == format!("own {token} {token}"),
        Act::Big => {
            text.starts_with(&format!("own {token} x")) && text.ends_with(&format!("x {token}")) && text.len() > 300_000
        }
        _ => text == format!("own {token}"),
    };
    if own { Ending::Own } else { Ending::Wrong(format!("answered {} (this call: {token})", short(answer))) }
}

/// The beginning of a message.
pub(super) fn short(message: &Value) -> String {
    message.to_string().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_another_calls_is_wrong() {
        let text = |text: &str| json!({"id": 1, "result": {"content": [{"type": "text", "text": text}]}});
        let error = |words: &str| json!({"id": 1, "error": {"code": -32000, "message": words}});
        assert_eq!(judged(&text("own tok-a-1z"), "tok-a-1z", Act::Plain), Ending::Own);
        assert!(matches!(judged(&text("own tok-a-12z"), "tok-a-1z", Act::Plain), Ending::Wrong(_)));
        assert!(matches!(judged(&text("stray tok-a-1z"), "tok-a-1z", Act::Twice), Ending::Wrong(_)));
        assert_eq!(judged(&error("own tok-a-1z"), "tok-a-1z", Act::Error), Ending::Own);
        assert!(matches!(judged(&error("own tok-b-1z"), "tok-a-1z", Act::Error), Ending::Wrong(_)));
        assert!(matches!(judged(&error("gone"), "tok-a-1z", Act::Plain), Ending::Error(-32000, _)));

        let mut hearing = Hearing::new("tok-a-1z", 7);
        hearing.take(
            json!({"method": "notifications/progress", "params": {"progressToken": "tok-a-1z", "message": "tok-a-1z"}}),
        );
        hearing.take(json!({"id": 7, "result": {}}));
        assert!(hearing.wrong.is_none());
        hearing.take(json!({"id": 7, "result": {}}));
        assert!(hearing.wrong.is_some_and(|what| what.contains("second answer")));
    }
}
