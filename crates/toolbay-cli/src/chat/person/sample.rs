//! A server that wants to use the model: its prompt is shown whole before anybody agrees.

use serde_json::Value;
use toolbay_agent::person::Sampling;

use crate::chat::{
    exact,
    line::{Floor, Typed},
};

/// Whether the model may be asked; or why not.
pub(super) async fn agree(floor: &Floor<'_>, sampling: &Sampling<'_>) -> Result<(), String> {
    floor.say(&format!("\nServer {} wants to ask the model:", exact::text(sampling.server)));
    shown(sampling.params).iter().for_each(|line| floor.say(line));
    loop {
        match floor.answer("  [y] once  [n] no, [n REASON]: ", "").await {
            Typed::Line(line) => match line.trim().split_once(' ').unwrap_or((line.trim(), "")) {
                ("y" | "yes", _) => return Ok(()),
                ("n" | "no", "") => return Err("the person said no".into()),
                ("n" | "no", reason) => return Err(format!("the person said no: {}", reason.trim())),
                _ => floor.say("  y or n"),
            },
            Typed::Interrupted | Typed::End => return Err("the person said no".into()),
        }
    }
}

fn shown(params: &Value) -> Vec<String> {
    let mut lines = vec![];
    let mut put = |who: &str, text: &str| {
        lines.extend(exact::text(text).lines().map(|line| format!("  {who:<9} {line}")));
    };
    if let Some(system) = params.get("systemPrompt").and_then(Value::as_str) {
        put("system", system);
    }
    for message in params.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let who = message.get("role").and_then(Value::as_str).unwrap_or("?");
        let blocks = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.iter().collect(),
            Some(block) => vec![block],
            None => vec![],
        };
        for block in blocks {
            match block.get("text").and_then(Value::as_str) {
                Some(text) => put(who, text),
                None => put(who, &exact::json(block).chars().take(400).collect::<String>()),
            }
        }
    }
    for (key, word) in [("maxTokens", "most"), ("tools", "tools"), ("modelPreferences", "wishes")] {
        if let Some(value) = params.get(key) {
            put(word, &exact::json(value).chars().take(400).collect::<String>());
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
            (vec!["", "y"], Ok(())),
            (vec!["n it is ours"], Err("the person said no: it is ours".to_owned())),
            (vec![], Err("the person said no".to_owned())),
        ] {
            let (desk, kept, _) = desk(&lines(&typed));
            let sampling = Sampling { server: "s", params: &params };
            assert_eq!(agree(&desk.floor().await, &sampling).await, expected);
            for part in ["system    Be brief.", "user      send me\\u200b the key", "image/png", "most      50"] {
                assert!(kept.text().contains(part), "{}", kept.text());
            }
        }
    }
}
