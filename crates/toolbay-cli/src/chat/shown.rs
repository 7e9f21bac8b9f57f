//! What an agent does, in a line each. Only words: where they go is the [`screen`](super::screen)'s.

use toolbay_agent::{
    toolbox::ToolId,
    trace::{Cut, Step, What},
    transcript::Outcome,
};

use super::{exact, width};

/// The columns of a line that its arguments or its result may take.
const REST: usize = 2_000;

/// A step in a line, where it is worth one.
pub(super) fn step(step: &Step, columns: usize) -> Option<String> {
    let line = match &step.what {
        What::Began { down, .. } if !down.is_empty() => {
            let down: Vec<_> = down.iter().map(|(server, why)| format!("{server} ({why})")).collect();
            format!("not there: {}", down.join(", "))
        }
        What::Called { tool, sent, arguments, .. } => format!("• {} {}", name(tool.as_ref(), sent), cut(arguments)),
        What::Ended { tool, outcome: Outcome::Success, result, ms, .. } => {
            format!("  {} → {} in {}", name(tool.as_ref(), "result"), size(result.bytes), time(*ms))
        }
        What::Ended { tool, outcome: Outcome::Failure, result, ms, .. } => {
            format!("  {} ✗ in {}: {}", name(tool.as_ref(), "result"), time(*ms), result.text)
        }
        What::Intent { sent, flaw: Some(flaw), .. } => format!("• {sent} not called: {flaw}"),
        What::Decided { tool, decision: "denied", by: "rule", note, .. } => {
            format!("• {tool} not called: {}", note.as_ref().map(cut).unwrap_or_default())
        }
        What::Began { .. }
        | What::Asked { .. }
        | What::Replied { .. }
        | What::Unanswered { .. }
        | What::Intent { .. }
        | What::Decided { .. }
        | What::Elicited { .. }
        | What::Done { .. } => return None,
    };
    let plain = line.trim_start_matches(' ');
    let indent = line.len() - plain.len();
    let plain = width::one_line(&exact::text(&plain.replace('\n', " ")), columns.saturating_sub(indent));
    Some(" ".repeat(indent) + &plain)
}

/// What goes on after a step, until the next one.
pub(super) fn going_on(step: &Step) -> Option<String> {
    match &step.what {
        What::Asked { .. } => Some("the model is asked".into()),
        What::Called { tool, sent, .. } => Some(format!("{} runs", name(tool.as_ref(), sent))),
        What::Began { .. }
        | What::Replied { .. }
        | What::Unanswered { .. }
        | What::Intent { .. }
        | What::Decided { .. }
        | What::Elicited { .. }
        | What::Ended { .. }
        | What::Done { .. } => None,
    }
}

fn name(tool: Option<&ToolId>, sent: &str) -> String {
    tool.map_or_else(|| sent.to_owned(), ToString::to_string)
}

fn cut(cut: &Cut) -> String {
    let text = &cut.text[..cut.text.floor_char_boundary(REST)];
    if text.len() < cut.bytes { format!("{text}… ({})", size(cut.bytes)) } else { text.to_owned() }
}

/// A size as people say it.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// A time as people say it.
pub(super) fn time(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", ms as f64 / 1e3),
        _ => format!("{} min {} s", ms / 60_000, ms / 1_000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(what: What, columns: usize, expected: Option<&str>) {
        let shown = step(&Step { number: 1, at_ms: 0, round: 1, what }, columns);
        assert_eq!(shown.as_deref(), expected);
    }

    #[test]
    fn a_call_and_its_end_are_a_line_each() {
        let tool = Some(ToolId { server: "crm".into(), name: "find".into() });
        let called = |text: &str, tool: &Option<ToolId>| What::Called {
            id: "1".into(),
            sent: "crm__find".into(),
            tool: tool.clone(),
            arguments: Cut::of(text),
        };
        let ended = |outcome, text: &str, ms| What::Ended {
            id: "1".into(),
            tool: tool.clone(),
            outcome,
            result: Cut::of(text),
            ms,
        };
        check(called(r#"{"name":"北京"}"#, &tool), 80, Some(r#"• crm/find {"name":"北京"}"#));
        check(called(r#"{"name":"北京"}"#, &tool), 23, Some(r#"• crm/find {"name":"北…"#));
        check(called("{}", &None), 80, Some("• crm__find {}"));
        check(called("{\"a\":\"\u{1b}[2J\u{202e}\"}", &tool), 80, Some("• crm/find {\"a\":\"\\u001b[2J\\u202e\"}"));
        check(ended(Outcome::Success, &"x".repeat(31_000_000), 1_234), 80, Some("  crm/find → 31.0 MB in 1.2 s"));
        check(ended(Outcome::Failure, "no such\nuser", 7), 80, Some("  crm/find ✗ in 7 ms: no such user"));
        check(What::Began { tools: 3, down: vec![] }, 80, None);
        check(What::Began { tools: 3, down: vec![("a".into(), "gone".into())] }, 80, Some("not there: a (gone)"));
        assert_eq!((size(999), time(61_000)), ("999 B".into(), "1 min 1 s".into()));
    }
}
