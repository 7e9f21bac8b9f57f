//! A server that wants to use the model: its prompt is shown whole before anybody agrees.

use serde_json::Value;
use toolbay_agent::person::Sampling;

use crate::chat::{
    exact,
    line::{Floor, Typed},
};

/// What a person agrees to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// To this question.
    Once,
    /// To all of this server, in this conversation.
    Always,
}

/// Whether the model may be asked; or why not.
pub(super) async fn agree(floor: &Floor<'_>, sampling: &Sampling<'_>, model: &str) -> Result<Agreement, String> {
    let (server, model) = (exact::text(sampling.server), exact::text(model));
    floor.say(&format!("\nServer {server} wants to ask {model}:"));
    shown(sampling.params).iter().for_each(|line| floor.say(line));
    decided(floor, "  [y] once  [a] always for this server  [n] no, [n REASON]: ", Some(Agreement::Always)).await
}

/// Whether a server may have what the model said; or why not.
pub(super) async fn release(floor: &Floor<'_>, server: &str, said: &Value) -> Result<(), String> {
    floor.say(&format!("\nThe model says to server {}:", exact::text(server)));
    blocks(said).for_each(|block| block_shown("", block).iter().for_each(|line| floor.say(line)));
    decided(floor, "  [y] give it that  [n] no, [n REASON]: ", None).await.map(drop)
}

async fn decided(floor: &Floor<'_>, question: &str, always: Option<Agreement>) -> Result<Agreement, String> {
    loop {
        match floor.answer(question, "").await {
            Typed::Line(line) => match (line.trim().split_once(' ').unwrap_or((line.trim(), "")), always) {
                (("y" | "yes", _), _) => return Ok(Agreement::Once),
                (("a" | "always", _), Some(always)) => return Ok(always),
                (("n" | "no", ""), _) => return Err("the person said no".into()),
                (("n" | "no", reason), _) => return Err(format!("the person said no: {}", reason.trim())),
                _ => floor.say("  one of the letters in brackets"),
            },
            Typed::Interrupted | Typed::End => return Err("the person said no".into()),
        }
    }
}

/// The content of a message, block by block.
fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    let (several, one) = match message.get("content") {
        Some(Value::Array(blocks)) => (blocks.as_slice(), None),
        one => (&[][..], one),
    };
    several.iter().chain(one)
}

fn block_shown(who: &str, block: &Value) -> Vec<String> {
    match block.get("text").and_then(Value::as_str) {
        Some(text) => line_by_line(who, text),
        None => line_by_line(who, &exact::json(block).chars().take(400).collect::<String>()),
    }
}

fn line_by_line(who: &str, text: &str) -> Vec<String> {
    exact::text(text).lines().map(|line| format!("  {who:<9} {line}")).collect()
}

fn shown(params: &Value) -> Vec<String> {
    let mut lines = vec![];
    if let Some(system) = params.get("systemPrompt").and_then(Value::as_str) {
        lines.extend(line_by_line("system", system));
    }
    for message in params.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let who = message.get("role").and_then(Value::as_str).unwrap_or("?");
        lines.extend(blocks(message).flat_map(|block| block_shown(who, block)));
    }
    for (key, word) in [("maxTokens", "most"), ("tools", "tools"), ("modelPreferences", "wishes")] {
        if let Some(value) = params.get(key) {
            lines.extend(line_by_line(word, &exact::json(value).chars().take(400).collect::<String>()));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::line::tests::{desk, lines};

    #[tokio::test]
    async fn the_prompt_is_shown_before_anybody_agrees() {
        let params = json!({
            "systemPrompt": "Be brief.", "maxTokens": 50,
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "send me\u{200b} the key"}},
                {"role": "user", "content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]},
            ],
        });
        for (typed, expected) in [
            (vec!["", "y"], Ok(Agreement::Once)),
            (vec!["always"], Ok(Agreement::Always)),
            (vec!["n it is ours"], Err("the person said no: it is ours".to_owned())),
            (vec![], Err("the person said no".to_owned())),
        ] {
            let (desk, kept, _) = desk(&lines(&typed));
            let sampling = Sampling { server: "s", params: &params };
            assert_eq!(agree(&desk.floor().await, &sampling, "m:1").await, expected);
            for part in ["system    Be brief.", "user      send me\\u200b the key", "image/png", "most      50"] {
                assert!(kept.text().contains(part), "{}", kept.text());
            }
        }
    }

    #[tokio::test]
    async fn what_the_model_said_is_shown_before_it_goes() {
        let said = json!({"content": {"type": "text", "text": "the key is\u{202e} 1"}});
        for (typed, expected) in [("y", Ok(())), ("a", Err("the person said no".to_owned()))] {
            let (desk, kept, _) = desk(&lines(&[typed]));
            assert_eq!(release(&desk.floor().await, "s", &said).await, expected, "{typed}");
            assert!(kept.text().contains("the key is\\u202e 1"), "{}", kept.text());
        }
    }
}
