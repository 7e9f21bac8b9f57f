//! Whether a call may be made.

use serde_json::{Map, Value};
use toolbay_agent::person::{Approval, Verdict};

use super::edit;
use crate::chat::{
    exact,
    line::{Floor, Typed},
    width,
};

/// The most characters of one argument that are shown; the whole of it is seen by editing.
const SHOWN: usize = 600;

/// Asks until it is decided.
pub(super) async fn decide(floor: &Floor<'_>, approval: &Approval<'_>) -> Verdict {
    show(floor, approval);
    loop {
        let typed = floor.answer("  [y] once  [a] always  [e] edit the arguments  [n] no, [n REASON]: ", "").await;
        let Typed::Line(line) = typed else { return Verdict::No(None) };
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word.to_lowercase().as_str() {
            "y" | "yes" | "o" | "once" => return Verdict::Once,
            "a" | "always" => return Verdict::Always,
            "e" | "edit" => match edit::arguments(floor, approval.arguments).await {
                Some(edited) if edited == *approval.arguments => floor.say("  nothing was changed"),
                Some(edited) => return Verdict::Edited(edited),
                None => floor.say("  left as it was"),
            },
            "n" | "no" => return refused(floor, rest).await,
            _ => floor.say("  y, a, e or n"),
        }
    }
}

async fn refused(floor: &Floor<'_>, reason: &str) -> Verdict {
    let reason = match reason.trim() {
        "" => match floor.answer("  why (the model is told; Enter for no reason): ", "").await {
            Typed::Line(line) => line.trim().to_owned(),
            Typed::Interrupted | Typed::End => String::new(),
        },
        given => given.to_owned(),
    };
    Verdict::No((!reason.is_empty()).then_some(reason))
}

fn show(floor: &Floor<'_>, approval: &Approval<'_>) {
    let (server, name) = (exact::text(&approval.tool.id.server), exact::text(&approval.tool.id.name));
    floor.say(&format!("\nMay {name} of server {server} be called?"));
    shown(approval.arguments).iter().for_each(|line| floor.say(line));
    floor.say(&format!("  {}", exact::text(&approval.effect)));
}

/// The arguments, one a line, so that none hides another.
fn shown(arguments: &Map<String, Value>) -> Vec<String> {
    if arguments.is_empty() {
        return vec!["  (without arguments)".to_owned()];
    }
    let names: Vec<_> = arguments.keys().map(|name| exact::text(&name.replace('\n', " "))).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or_default().min(24);
    let line = |(name, value): (&String, &Value)| format!("  {}  {}", width::padded(name, widest), value_shown(value));
    names.iter().zip(arguments.values()).map(line).collect()
}

fn value_shown(value: &Value) -> String {
    let whole = exact::json(value);
    let all = whole.chars().count();
    if all <= SHOWN {
        return whole;
    }
    // The end is shown too: what is dangerous is often put where nobody looks.
    let (head, tail) = (SHOWN * 2 / 3, SHOWN / 3);
    let beginning: String = whole.chars().take(head).collect();
    let end: String = whole.chars().skip(all - tail).collect();
    format!("{beginning} … {} characters are left out here; [e] shows them … {end}", all - head - tail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbay_agent::toolbox::{Hints, Tool, ToolId};

    use super::*;
    use crate::chat::line::tests::{desk, lines};

    async fn check(typed: &[&str], expected: Verdict) -> String {
        let tool = Tool {
            id: ToolId { server: "git".into(), name: "commit".into() },
            public: "git__commit".into(),
            description: String::new(),
            schema: json!({}),
            hints: Hints::default(),
        };
        let Value::Object(arguments) = json!({"message": "fix\u{202e}", "all": true}) else { unreachable!() };
        let approval = Approval { tool: &tool, arguments: &arguments, effect: "It may destroy.".into() };
        let (desk, kept, _) = desk(&lines(typed));
        let floor = desk.floor().await;
        assert_eq!(decide(&floor, &approval).await, expected, "{typed:?}");
        kept.text()
    }

    #[tokio::test]
    async fn every_answer_is_understood() {
        let shown = check(&["y"], Verdict::Once).await;
        for part in ["commit of server git", "message  \"fix\\u202e\"", "all      true", "It may destroy."] {
            assert!(shown.contains(part), "{shown}");
        }
        check(&["", "maybe", "ONCE"], Verdict::Once).await;
        check(&["always"], Verdict::Always).await;
        check(&["n not on Fridays"], Verdict::No(Some("not on Fridays".into()))).await;
        check(&["no", "because"], Verdict::No(Some("because".into()))).await;
        check(&["n", ""], Verdict::No(None)).await;
        // Whoever goes away agrees to nothing.
        check(&[], Verdict::No(None)).await;
    }

    #[tokio::test]
    async fn arguments_are_edited_until_they_are_an_object() {
        let Value::Object(edited) = json!({"message": "better"}) else { unreachable!() };
        let shown =
            check(&["e", "{\"message\": ", "", "[1]", "", "{\"message\": \"better\"}"], Verdict::Edited(edited)).await;
        assert!(shown.contains("no JSON") && shown.contains("no object"), "{shown}");
        check(&["e", "", "y"], Verdict::Once).await;
    }

    #[test]
    fn the_end_of_what_is_long_is_shown() {
        let shown = value_shown(&json!(format!("{}; rm -rf /", "x".repeat(5_000))));
        assert!(shown.ends_with("; rm -rf /\"") && shown.contains("left out here"), "{shown}");
    }
}
