//! How things are shown: colour on a terminal alone, tables that fit, nothing from a server that a terminal would act on.

use std::io::{IsTerminal, Write as _};

use comfy_table::{ContentArrangement, Table, presets};
use toolbay_protocol::{Raw, raw::Kind};

/// Whether people watch our stdout.
pub(crate) fn watched() -> bool {
    std::io::stdout().is_terminal()
}

fn coloured() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Faint, where there is colour.
pub(crate) fn dim(text: &str) -> String {
    if coloured() { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
}

/// Text from a server with nothing in it that a terminal would act on.
pub(crate) fn safe(text: &str) -> String {
    let keep = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(keep).collect()
}

/// The first line of a text, at most `width` characters of it.
pub(crate) fn headline(text: &str, width: usize) -> String {
    let line = safe(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim());
    if line.chars().count() <= width {
        return line;
    }
    line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// A table with a heading.
pub(crate) fn table<const N: usize>(heading: [&str; N], rows: Vec<[String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heading);
    for row in rows {
        table.add_row(row);
    }
    let lines: Vec<_> =
        table.lines().map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Writes a line; a reader that has left is no error.
pub(crate) fn line(text: &str) {
    // Whoever closed the pipe wants no more of it.
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A member of an object as plain text.
pub(crate) fn text(object: &Raw, key: &str) -> Option<String> {
    object.get(key).as_ref().and_then(Raw::as_text).map(std::borrow::Cow::into_owned)
}

/// The same with nothing in it that a terminal would act on; empty where it is not there.
pub(crate) fn shown(object: &Raw, key: &str) -> String {
    safe(&text(object, key).unwrap_or_default())
}

/// JSON, set out for people where they watch.
pub(crate) fn json(raw: &Raw) -> String {
    let compact = || String::from_utf8_lossy(raw.as_bytes()).into_owned();
    if !watched() {
        return compact();
    }
    let pretty = raw.read::<serde_json::Value>().ok().and_then(|value| serde_json::to_string_pretty(&value).ok());
    // JSON escapes most of what a terminal acts on, not all of it.
    safe(&pretty.unwrap_or_else(compact))
}

/// One block of content.
pub(crate) fn block(block: &Raw) -> String {
    match text(block, "type").as_deref() {
        Some("text") => safe(&text(block, "text").unwrap_or_default()),
        Some(kind @ ("image" | "audio")) => {
            let size = text(block, "data").map_or(0, |data| data.len() / 4 * 3);
            format!("[{kind} {}, {size} bytes]", shown(block, "mimeType"))
        }
        Some("resource_link") => format!("[link {}]", shown(block, "uri")),
        Some("resource") => block.get("resource").map(|resource| contents(&resource)).unwrap_or_default(),
        Some(_) | None => json(block),
    }
}

/// The contents of a resource.
pub(crate) fn contents(contents: &Raw) -> String {
    match (text(contents, "text"), text(contents, "blob")) {
        (Some(text), _) => safe(&text),
        (None, Some(blob)) => {
            format!("[{} {}, {} bytes]", shown(contents, "uri"), shown(contents, "mimeType"), blob.len() / 4 * 3)
        }
        (None, None) => json(contents),
    }
}

/// Whether a member is there and true.
pub(crate) fn is_true(object: &Raw, key: &str) -> bool {
    object.get(key).is_some_and(|value| value.kind() == Kind::Bool && value.as_bytes() == b"true")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_that_a_server_writes_reaches_the_terminal_as_a_command() {
        let evil = "a\u{1b}]0;x\u{7}\u{9b}31mb\r";
        for content in [
            json!({"type": "text", "text": evil}),
            json!({"type": "image", "data": "AAAA", "mimeType": evil}),
            json!({"type": "resource_link", "uri": evil}),
            json!({"type": "resource", "resource": {"uri": evil, "mimeType": evil, "blob": "AAAA"}}),
            json!({"type": "resource", "resource": {"uri": evil, "text": evil}}),
        ] {
            let shown = block(&Raw::of(&content));
            assert!(!shown.chars().any(char::is_control), "{shown:?}");
        }
    }
}
