//! Where a text is cut before words are looked at: scripts, punctuation, camel case, digits.
//!
//! Not yet words: Chinese runs are cut further in `chinese`, Latin ones are stemmed in `english`.

use super::chinese::is_chinese;

/// A run of one script.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Run<'a> {
    /// Letters and digits of an alphabet, one part of a camel-case name.
    Latin(&'a str),
    /// Chinese characters without a break.
    Chinese(&'a str),
}

/// Calls `each` with every run of the text, in order.
pub(super) fn runs<'a>(text: &'a str, mut each: impl FnMut(Run<'a>)) {
    let mut start = 0;
    let mut kind = Kind::Other;
    let mut last = Shape::None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let shape = Shape::of(c);
        let next = chars.peek().map_or(Shape::None, |&(_, c)| Shape::of(c));
        let now = Kind::of(c);
        if now != kind || (now == Kind::Latin && splits(last, shape, next)) {
            emit(kind, &text[start..at], &mut each);
            (start, kind) = (at, now);
        }
        last = shape;
    }
    emit(kind, &text[start..], &mut each);
}

fn emit<'a>(kind: Kind, part: &'a str, each: &mut impl FnMut(Run<'a>)) {
    match kind {
        Kind::Latin if !part.is_empty() => each(Run::Latin(part)),
        Kind::Chinese if !part.is_empty() => each(Run::Chinese(part)),
        Kind::Latin | Kind::Chinese | Kind::Other => {}
    }
}

/// `fooBar`, `HTTPServer`, `Top10Films`: a capital begins a word after a small letter or digit, or before a small one.
fn splits(last: Shape, now: Shape, next: Shape) -> bool {
    now == Shape::Upper
        && (matches!(last, Shape::Lower | Shape::Digit) || (last == Shape::Upper && next == Shape::Lower))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Latin,
    Chinese,
    Other,
}

impl Kind {
    fn of(c: char) -> Self {
        if c.is_ascii_alphanumeric() {
            Self::Latin
        } else if c.is_ascii() {
            Self::Other
        } else if is_chinese(c) {
            Self::Chinese
        } else if c.is_alphanumeric() {
            Self::Latin
        } else {
            Self::Other
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    None,
    Upper,
    Lower,
    Digit,
}

impl Shape {
    fn of(c: char) -> Self {
        if c.is_lowercase() {
            Self::Lower
        } else if c.is_uppercase() {
            Self::Upper
        } else if c.is_numeric() {
            Self::Digit
        } else {
            Self::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, runs};

    fn cut(text: &str) -> Vec<String> {
        let mut parts = Vec::new();
        runs(text, |run| match run {
            Run::Latin(part) => parts.push(part.to_owned()),
            Run::Chinese(part) => parts.push(format!("<{part}>")),
        });
        parts
    }

    #[test]
    fn names_fall_into_their_words() {
        let check = |name: &str, words: &[&str]| assert_eq!(cut(name), words, "{name}");
        check("get_current_weather", &["get", "current", "weather"]);
        check("getHTTPServerStatus", &["get", "HTTP", "Server", "Status"]);
        check("Top10Films-v2", &["Top10", "Films", "v2"]);
        check("查询weather天气", &["<查询>", "weather", "<天气>"]);
        check("naïve café", &["naïve", "café"]);
        check(" . _ ", &[]);
        check("", &[]);
    }
}
