//! Pieces of a long text: by characters, by lines, around what is looked for. Linear in the text, without a copy of it.

/// So much is stepped over at once.
const STRIDE: usize = 4096;

/// The place of a character in bytes; the end where there are fewer.
pub(super) fn byte_of(text: &str, char: usize) -> usize {
    let (mut at, mut left) = (0, char);
    loop {
        let end = text.floor_char_boundary((at + STRIDE).min(text.len()));
        let chars = text[at..end].chars().count();
        if chars > left || end == text.len() {
            return text[at..end].char_indices().nth(left).map_or(end, |(offset, _)| at + offset);
        }
        (at, left) = (end, left - chars);
    }
}

/// The place of a line, from one, in bytes; the end where there are fewer.
pub(super) fn byte_of_line(text: &str, line: usize) -> usize {
    match line {
        0 | 1 => 0,
        _ => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
    }
}

/// Where a text stands.
pub(super) struct Place {
    /// The byte.
    pub(super) byte: usize,
    /// The character.
    pub(super) char: usize,
    /// The line, from one.
    pub(super) line: usize,
}

/// Where `wanted` stands in the text at or after the byte `from`, whatever the case of its ASCII letters; at most `most`
/// places.
pub(super) fn find(text: &str, wanted: &str, from: usize, most: usize) -> Vec<Place> {
    let (bytes, wanted) = (text.as_bytes(), wanted.as_bytes());
    let mut places: Vec<Place> = Vec::new();
    let mut at = from;
    let (mut counted, mut char, mut line) = (0, 0, 1);
    let Some(first) = wanted.first() else { return places };
    while places.len() < most && at + wanted.len() <= bytes.len() {
        let rest = &bytes[at..=bytes.len() - wanted.len()];
        let Some(next) = rest.iter().position(|byte| byte.eq_ignore_ascii_case(first)) else { break };
        at += next;
        if bytes[at..at + wanted.len()].eq_ignore_ascii_case(wanted) && text.is_char_boundary(at) {
            let between = &text[counted..at];
            char += between.chars().count();
            line += between.bytes().filter(|byte| *byte == b'\n').count();
            counted = at;
            places.push(Place { byte: at, char, line });
            at += wanted.len();
        } else {
            at += 1;
        }
    }
    places
}

/// A text around a place, so many bytes on either side.
pub(super) fn around(text: &str, place: &Place, length: usize, beside: usize) -> String {
    let from = text.ceil_char_boundary(place.byte.saturating_sub(beside));
    let to = text.floor_char_boundary((place.byte + length + beside).min(text.len()));
    text[from..to].replace('\n', " ")
}
