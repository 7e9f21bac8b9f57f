//! A line as English words.

use std::ops::Range;

use crate::slots::line::Line;

/// One word, in small letters.
pub(super) struct Word {
    pub(super) range: Range<usize>,
    pub(super) small: String,
    /// Whether it begins with a capital.
    pub(super) capital: bool,
    /// Whether a mark that ends a thought follows it.
    pub(super) last: bool,
}

/// The words of a line.
pub(super) fn words(line: &Line<'_>) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if !is_letter(line.char(at)) {
            at += 1;
            continue;
        }
        let start = at;
        while at < line.len() && (is_letter(line.char(at)) || is_inner(line, at)) {
            at += 1;
        }
        let last = matches!(line.char(at), ',' | '.' | '!' | '?' | ';' | '\n' | ':');
        let small = line.text(start..at).to_lowercase();
        words.push(Word { range: start..at, small, capital: line.char(start).is_uppercase(), last });
    }
    words
}

fn is_letter(char: char) -> bool {
    char.is_alphanumeric()
}

/// An apostrophe, a hyphen, a point or a colon within a word.
fn is_inner(line: &Line<'_>, at: usize) -> bool {
    matches!(line.char(at), '\'' | '’' | '-' | '.' | ':' | '&')
        && is_letter(line.char(at + 1))
        && is_letter(line.before(at))
}
