//! What a person decides on, shown so that nothing in it can hide: control characters, and characters that have no look of
//! their own or change the direction of others, are escaped as JSON does. Not for what is only read: see
//! [`show::safe`](crate::show::safe).

use serde_json::Value;

/// Whether a character could hide, or hide others.
fn hides(symbol: char) -> bool {
    symbol.is_control()
        || matches!(symbol,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{3164}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text in which nothing hides.
pub(crate) fn text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for symbol in text.chars() {
        if hides(symbol) && symbol != '\n' {
            for unit in symbol.encode_utf16(&mut [0; 2]) {
                shown += &format!("\\u{unit:04x}");
            }
        } else {
            shown.push(symbol);
        }
    }
    shown
}

/// The same on one line.
pub(crate) fn line(text: &str) -> String {
    self::text(&text.split(['\n', '\r']).map(str::trim).collect::<Vec<_>>().join(" "))
}

/// A value as JSON on one line: what it says is what is sent.
pub(crate) fn json(value: &Value) -> String {
    text(&value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_hides_in_what_is_decided_on() {
        let value = json!({"path": "a\u{202e}gpj.sh\u{200b}\u{1b}[2K\u{e0041}\u{9b}", "文": "好"});
        let shown = json(&value);
        assert!(!shown.chars().any(hides), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value, "it is the same JSON");
        assert!(shown.contains("\\u202egpj") && shown.contains("好"), "{shown}");
        assert_eq!((text("two\nlines").as_str(), line("two\r\n lines").as_str()), ("two\nlines", "two  lines"));
    }
}
