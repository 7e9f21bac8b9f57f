//! A form that a server wants filled in, field by field. What fits a field is decided by the agent's
//! [`forms`](toolbay_agent::forms).

use serde_json::{Map, Value};
use toolbay_agent::{
    forms::{Chosen, Field, Form, Kind},
    person::Answered,
};

use crate::chat::{
    exact,
    line::{Floor, Typed},
};

/// Asks for each field until it fits, then whether the whole is sent.
pub(super) async fn fill(floor: &Floor<'_>, server: &str, message: &str, schema: &Value) -> Answered {
    floor.say(&format!("\nServer {} asks: {}", exact::text(server), exact::text(message)));
    let form = match Form::read(schema) {
        Ok(form) => form,
        Err(why) => {
            floor.say(&format!("  its form cannot be filled in: {}", exact::text(&why)));
            return Answered::Cancel;
        }
    };
    let secrets: Vec<_> = form.secrets().map(|field| exact::text(&field.title)).collect();
    if !secrets.is_empty() {
        floor.say(&format!(
            "  Careful: no server may ask for secrets in a form, and this one does: {}",
            secrets.join(", ")
        ));
    }
    loop {
        let Some(content) = filled(floor, &form).await else { return Answered::Cancel };
        match sent(floor, &form, &content).await {
            Sent::Yes => return Answered::Accept(Some(content)),
            Sent::Again => {}
            Sent::No => return Answered::Decline,
            Sent::Left => return Answered::Cancel,
        }
    }
}

/// Whether what was filled in is sent.
enum Sent {
    Yes,
    Again,
    No,
    Left,
}

async fn filled(floor: &Floor<'_>, form: &Form) -> Option<Map<String, Value>> {
    let mut content = Map::new();
    for field in &form.fields {
        about(floor, field);
        let prompt = prompt(field);
        loop {
            let Typed::Line(typed) = floor.answer(&prompt, "").await else { return None };
            match field.typed(&typed) {
                Ok(Some(value)) => {
                    content.insert(field.name.clone(), value);
                    break;
                }
                Ok(None) => break,
                Err(why) => floor.say(&format!("  {}", exact::text(&why))),
            }
        }
    }
    Some(content)
}

async fn sent(floor: &Floor<'_>, form: &Form, content: &Map<String, Value>) -> Sent {
    if let Err(wrong) = form.check(content) {
        floor.say(&format!("  {}", exact::text(&wrong.to_string())));
        return Sent::Again;
    }
    floor.say(&format!("  it would be told: {}", exact::json(&Value::Object(content.clone()))));
    loop {
        let Typed::Line(typed) = floor.answer("  [y] send it  [e] fill it in again  [n] decline: ", "").await else {
            return Sent::Left;
        };
        match typed.trim().to_lowercase().as_str() {
            "y" | "yes" => return Sent::Yes,
            "e" | "edit" => return Sent::Again,
            "n" | "no" => return Sent::No,
            _ => floor.say("  y, e or n"),
        }
    }
}

/// What a field is about, and what can be chosen.
fn about(floor: &Floor<'_>, field: &Field) {
    if !field.description.is_empty() {
        floor.say(&format!("  {}", exact::text(&field.description)));
    }
    if let Kind::One(of) | Kind::Several { of, .. } = &field.kind {
        for (at, Chosen { value, title }) in of.iter().enumerate() {
            let beside = if title == value { String::new() } else { format!(" ({})", exact::text(value)) };
            floor.say(&format!("    {}  {}{beside}", at + 1, exact::text(title)));
        }
    }
}

fn prompt(field: &Field) -> String {
    let wanted = match &field.kind {
        Kind::Text { .. } | Kind::One(_) => "",
        Kind::Number { whole: true, .. } => ", a whole number",
        Kind::Number { whole: false, .. } => ", a number",
        Kind::Boolean => ", yes or no",
        Kind::Several { .. } => ", several with commas",
    };
    let needed = if field.required { "" } else { ", may be left out" };
    let default = field.default.as_ref().map(|default| format!(" [{}]", exact::json(default))).unwrap_or_default();
    format!("  {}{wanted}{needed}{default}: ", exact::text(&field.title).replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::line::tests::{desk, lines};

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2, "description": "As in the passport."},
                "age": {"type": "integer", "minimum": 18, "default": 30},
                "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
                "news": {"type": "boolean"},
            },
            "required": ["name", "size"],
        })
    }

    async fn check(typed: &[&str], expected: Answered, shown: &[&str]) {
        let (desk, kept, prompts) = desk(&lines(typed));
        assert_eq!(fill(&desk.floor().await, "shop", "who?\u{1b}[2J", &schema()).await, expected, "{typed:?}");
        let all = format!("{}{:?}", kept.text(), prompts.all());
        for part in shown {
            assert!(all.contains(part), "{part}: {all}");
        }
    }

    #[tokio::test]
    async fn each_field_is_asked_for_until_it_fits() {
        let Value::Object(content) = json!({"name": "Ann", "age": 30, "size": "l"}) else { unreachable!() };
        let shown =
            ["shop asks: who?\\u001b[2J", "passport", "2  Large (l)", "age, a whole number, may be left out [30]: "];
        check(&["", "A", "Ann", "12", "", "3", "2", "", "y"], Answered::Accept(Some(content)), &shown).await;
    }

    #[tokio::test]
    async fn a_form_can_be_filled_in_again_declined_and_left() {
        let Value::Object(content) = json!({"name": "Bob", "age": 40, "size": "s", "news": true}) else {
            unreachable!()
        };
        let again = ["Ann", "", "1", "", "e", "Bob", "40", "Small", "yes", "?", "y"];
        check(&again, Answered::Accept(Some(content)), &["y, e or n"]).await;
        check(&["Ann", "", "1", "", "n"], Answered::Decline, &[]).await;
        check(&["Ann", ""], Answered::Cancel, &[]).await;
    }

    #[tokio::test]
    async fn a_form_that_is_none_and_one_that_asks_for_secrets_are_told() {
        for (schema, part, expected) in [
            (json!({"type": "array"}), "cannot be filled in", Answered::Cancel),
            (json!({"type": "object", "properties": {"password": {"type": "string"}}}), "Careful", Answered::Cancel),
        ] {
            let (desk, kept, _) = desk(&[]);
            assert_eq!(fill(&desk.floor().await, "shop", "?", &schema).await, expected);
            assert!(kept.text().contains(part), "{}", kept.text());
        }
    }
}
