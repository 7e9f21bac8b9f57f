//! A whole result, as the model is told of it.

use serde_json::{Map, Value};

use super::{
    block::Blocks,
    limits::{MOST_ASKED, Pictures, ResultLimits},
    page,
    store::Store,
};
use crate::{
    toolbox::{Tool, result_chars},
    transcript::{Content, Origin, Outcome, Part},
    turn::Given,
};

/// A result of `tools/call`, as the model is told of it: `content`, or `structuredContent` where that is empty. What is too
/// long goes into the store.
pub(crate) fn shape(result: Value, tool: &Tool, pictures: Pictures, limits: &ResultLimits, store: &mut Store) -> Given {
    let origin = Origin { server: tool.id.server.clone(), what: tool.id.name.clone() };
    let asked = result_chars(&result).or(tool.hints.result_chars);
    let mut result = match result {
        Value::Object(result) => result,
        other => Map::from_iter([("structuredContent".to_owned(), other)]),
    };
    let outcome = if result.get("isError") == Some(&Value::Bool(true)) { Outcome::Failure } else { Outcome::Success };
    let most = match outcome {
        Outcome::Failure => limits.error,
        Outcome::Success => asked.map_or(limits.chars, |asked| asked.min(MOST_ASKED) as usize),
    };
    let mut blocks = Blocks { limits, pictures, origin: origin.clone(), shown: 0 };
    let content = match result.remove("content") {
        Some(Value::Array(content)) => content,
        _ => vec![],
    };
    let mut parts: Vec<Part> = content.into_iter().map(|block| blocks.piece(block)).filter(says).collect();
    if parts.is_empty() {
        parts = match result.remove("structuredContent") {
            None | Some(Value::Null) => vec![Part::text("[host] It gave no output.")],
            Some(structured) => {
                vec![Part { what: Content::Text(structured.to_string()), origin: Some(origin.clone()) }]
            }
        };
    }
    Given { parts: bounded(parts, origin, most, limits, store), outcome }
}

fn says(part: &Part) -> bool {
    !matches!(&part.what, Content::Text(text) if text.is_empty())
}

/// The parts as they are, or a preview of their text where that is too long, with the handle of the whole.
pub(crate) fn bounded(
    mut parts: Vec<Part>,
    origin: Origin,
    most: usize,
    limits: &ResultLimits,
    store: &mut Store,
) -> Vec<Part> {
    let bytes: usize = parts.iter().map(|part| text_of(part).len()).sum();
    // No text has more characters than bytes.
    if bytes <= most || parts.iter().map(|part| text_of(part).chars().count()).sum::<usize>() <= most {
        return parts;
    }
    let texts = parts.extract_if(.., |part| matches!(part.what, Content::Text(_))).collect::<Vec<_>>();
    let text = joined(texts, &origin, bytes);
    let preview = text[..page::byte_of(&text, limits.preview.min(most))].to_owned();
    let kept = store.put(text, origin.clone());
    let note = match kept {
        Ok(kept) => format!(
            "[host] This is the beginning of a result of {} characters on {} lines. Read on with `read_result`, handle \
             {:?}: by characters, by lines, or where a text stands in it.",
            kept.chars, kept.lines, kept.handle
        ),
        Err(why) => format!("[host] This is the beginning of a result of {bytes} bytes; the rest was not kept: {why}."),
    };
    let shown = Part { what: Content::Text(preview), origin: Some(origin) };
    [shown, Part::text(note)].into_iter().chain(parts).collect()
}

fn text_of(part: &Part) -> &str {
    match &part.what {
        Content::Text(text) => text,
        Content::Image { .. } => "",
    }
}

/// Texts as one. A single one is not copied.
fn joined(mut texts: Vec<Part>, origin: &Origin, bytes: usize) -> String {
    if texts.len() == 1
        && let Some(Part { what: Content::Text(text), .. }) = texts.pop()
    {
        return text;
    }
    let mut all = String::with_capacity(bytes + texts.len() * 2);
    for part in texts {
        if let Some(other) = part.origin.filter(|other| other != origin) {
            all += &format!("--- {} ---\n", other.what);
        }
        if let Content::Text(text) = part.what {
            all += &text;
        }
        if !all.ends_with('\n') {
            all.push('\n');
        }
    }
    all
}
