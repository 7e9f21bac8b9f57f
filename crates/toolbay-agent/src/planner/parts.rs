//! A request cut where it may begin to ask for something else. Whether it does is decided by what each part finds.

use std::ops::Range;

/// A request of more parts is planned as one: it is a document, not a list of wishes.
const MOST: usize = 12;

/// Marks between two thoughts.
const MARKS: [char; 11] = ['，', ',', '。', '！', '!', '？', '?', '；', ';', '\n', '、'];

/// Words between two thoughts; English ones in small letters, with what stands around them.
const WORDS: [&str; 16] = [
    "然后",
    "并且",
    "另外",
    "顺便",
    "还有",
    "以及",
    "同时",
    "接着",
    " and then ",
    " and also ",
    " as well as ",
    " and ",
    " then ",
    " also ",
    " plus ",
    ". ",
];

/// The parts of a request, as ranges of bytes, none empty.
pub(super) fn parts(request: &str) -> Vec<Range<usize>> {
    let small = request.to_ascii_lowercase();
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while at < request.len() {
        let width = cut(&small, at);
        if width > 0 {
            parts.push(start..at);
            start = at + width;
            at = start;
        } else {
            at += small[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    parts.push(start..request.len());
    let parts: Vec<_> = parts.into_iter().map(|part| trimmed(request, part)).filter(|part| !part.is_empty()).collect();
    if parts.len() > MOST { vec![trimmed(request, 0..request.len())] } else { parts }
}

/// How wide what parts two thoughts is that stands here; nothing where none does.
fn cut(small: &str, at: usize) -> usize {
    let rest = &small[at..];
    let Some(first) = rest.chars().next() else { return 0 };
    if MARKS.contains(&first) {
        // 1,000 is a number.
        let digit = |char: Option<char>| char.is_some_and(|char| char.is_ascii_digit());
        let number = first == ',' && digit(small[..at].chars().next_back()) && digit(rest[1..].chars().next());
        return if number { 0 } else { first.len_utf8() };
    }
    WORDS.iter().find(|word| rest.starts_with(**word)).map_or(0, |word| word.len())
}

/// A range without blanks and marks at either end.
fn trimmed(request: &str, part: Range<usize>) -> Range<usize> {
    let idle = |char: char| char.is_whitespace() || MARKS.contains(&char);
    let text = &request[part.clone()];
    let start = part.start + (text.len() - text.trim_start_matches(idle).len());
    let text = text.trim_matches(idle);
    start..start + text.len()
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_request_is_cut_between_thoughts_and_not_within_numbers() {
        let check = |request: &str, expected: &[&str]| {
            let found: Vec<_> = parts(request).into_iter().map(|part| &request[part]).collect();
            assert_eq!(found, expected, "{request}");
        };
        check("北京市今天天气，从海淀区到朝阳区怎么走？", &["北京市今天天气", "从海淀区到朝阳区怎么走"]);
        check("查天气然后导航", &["查天气", "导航"]);
        check("Weather in Beijing today AND how do I get there?", &["Weather in Beijing today", "how do I get there"]);
        check("send 1,000 euros", &["send 1,000 euros"]);
        check("  ，，", &[]);
        check("", &[]);
        assert_eq!(parts(&"天气，".repeat(40)).len(), 1);
    }
}
