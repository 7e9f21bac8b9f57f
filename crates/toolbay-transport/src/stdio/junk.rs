//! Text on a server's stdout that is no message: told from messages, and made fit to show. Not for parsing messages.
// spec: basic/transports/stdio, only messages may be written to stdout

use std::fmt;

/// A line that cannot be a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Junk {
    excerpt: String,
}

impl Junk {
    /// The line as junk if it does not even begin like an object, or like an array of objects.
    pub fn find(line: &[u8]) -> Option<Self> {
        let mut visible = line.iter().filter(|byte| !byte.is_ascii_whitespace());
        // Much log text begins with `[INFO]`, `[1/3]` or `{worker}`: look one character further.
        let is_message = matches!(
            (visible.next(), visible.next()),
            (Some(b'{'), Some(b'"' | b'}') | None) | (Some(b'['), Some(b'{' | b'[' | b']') | None)
        );
        (!is_message).then(|| Self::of(line))
    }

    /// Any line as junk, for one that turned out not to parse.
    pub fn of(line: &[u8]) -> Self {
        Self { excerpt: excerpt(line) }
    }

    /// The beginning of the line, control characters escaped.
    pub fn excerpt(&self) -> &str {
        &self.excerpt
    }
}

impl fmt::Display for Junk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the server wrote log text to stdout, where only messages belong (log to stderr instead): {}",
            self.excerpt
        )
    }
}

/// The first 200 characters of a text, with nothing in them that a terminal would act on.
pub fn excerpt(text: &[u8]) -> String {
    // Four bytes a character at most; what is cut inside a character does not show.
    let head = String::from_utf8_lossy(&text[..text.len().min(EXCERPT * 4)]);
    let mut shown = String::new();
    let mut characters = head.chars();
    for character in characters.by_ref().take(EXCERPT) {
        match character {
            '\t' => shown.push('\t'),
            _ if character.is_control() || is_invisible(character) => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    if characters.next().is_some() || text.len() > EXCERPT * 4 {
        shown.push('…');
    }
    shown
}

/// Characters that reorder or hide text.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

const EXCERPT: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_text_is_told_from_messages() {
        for message in ["{\"jsonrpc\":\"2.0\"}", " { \"id\" : 1 }", "{}", "[{\"id\":1}]", "[ ]", "[", "{"] {
            assert_eq!(Junk::find(message.as_bytes()), None, "{message}");
        }
        for junk in
            ["Server started", "[INFO] ready", "[1/3] installing", "{worker} up", "\"text\"", "42", "\u{1b}[1mhi"]
        {
            assert!(Junk::find(junk.as_bytes()).is_some(), "{junk}");
        }
    }

    #[test]
    fn an_excerpt_is_short_and_harmless() {
        assert_eq!(excerpt(b"\x1b[2J\ttext\x00"), "\\u{1b}[2J\ttext\\u{0}");
        assert_eq!(excerpt("a\u{202e}b".as_bytes()), "a\\u{202e}b");
        assert_eq!(excerpt("é".repeat(200).as_bytes()), "é".repeat(200));
        assert_eq!(excerpt("é".repeat(201).as_bytes()), "é".repeat(200) + "…");
        assert_eq!(excerpt(&vec![b'x'; 1 << 20]).chars().count(), 201);
        assert!(Junk::of(b"\xff").to_string().contains("log to stderr"));
    }
}
