//! A request as a row of characters, with the places and dates that stand in it.
//!
//! Knows where things are, not what they are for.

use std::ops::Range;

use super::dates::{self, Dated};
use super::places::{self, Place};
use super::words::List;

/// A request is read up to here: nobody asks for a tool in a longer sentence, and time stays bounded.
pub(super) const LONGEST: usize = 2_000;

/// A request, ready to be read.
pub(super) struct Line<'t> {
    text: &'t str,
    chars: Vec<char>,
    /// The byte at which each character begins, and the end.
    bytes: Vec<usize>,
    /// How many brackets are open before each character, none or one.
    inside: Vec<bool>,
    /// Whether there is any Chinese in it.
    chinese: bool,
    /// Names of places, in order, without overlap.
    pub(super) places: Vec<Place>,
    /// Dates and times, in order, without overlap.
    pub(super) dates: Vec<Dated>,
}

impl<'t> Line<'t> {
    /// Scans a request once, from left to right.
    pub(super) fn new(text: &'t str) -> Self {
        let mut chars = Vec::new();
        let mut bytes = Vec::new();
        let mut end = 0;
        for (at, char) in text.char_indices().take(LONGEST) {
            chars.push(char);
            bytes.push(at);
            end = at + char.len_utf8();
        }
        bytes.push(end);
        let inside = brackets(&chars);
        let chinese = chars.iter().any(|char| ('\u{4e00}'..='\u{9fff}').contains(char));
        let mut line =
            Self { text: &text[..end], chars, bytes, inside, chinese, places: Vec::new(), dates: Vec::new() };
        line.dates = dates::find(&line);
        line.places = places::find(&line);
        line
    }

    pub(super) fn len(&self) -> usize {
        self.chars.len()
    }

    /// The character at a place; a line break beyond the end.
    pub(super) fn char(&self, at: usize) -> char {
        self.chars.get(at).copied().unwrap_or('\n')
    }

    pub(super) fn before(&self, at: usize) -> char {
        at.checked_sub(1).map_or('\n', |at| self.char(at))
    }

    pub(super) fn text(&self, range: Range<usize>) -> &'t str {
        if range.start >= range.end { "" } else { &self.text[self.bytes[range.start]..self.bytes[range.end]] }
    }

    /// The text from a character to the end.
    pub(super) fn rest(&self, at: usize) -> &'t str {
        self.bytes.get(at).map_or("", |byte| &self.text[*byte..])
    }

    pub(super) fn is_chinese(&self) -> bool {
        self.chinese
    }

    /// A range of characters as a range of bytes.
    pub(super) fn span(&self, range: &Range<usize>) -> Range<usize> {
        self.bytes[range.start]..self.bytes[range.end]
    }

    /// Whether a character stands in brackets.
    pub(super) fn bracketed(&self, at: usize) -> bool {
        self.inside.get(at).copied().unwrap_or(false)
    }

    /// Where the longest of `words` that begins here ends.
    pub(super) fn word<L: List + ?Sized>(&self, at: usize, words: &L) -> Option<usize> {
        let rest = self.rest(at);
        if rest.is_empty() { None } else { words.starts(rest).map(|longest| at + longest) }
    }

    pub(super) fn is<L: List + ?Sized>(&self, at: usize, words: &L) -> bool {
        self.word(at, words).is_some()
    }

    /// Where the longest of `words` that ends here begins.
    pub(super) fn word_before<L: List + ?Sized>(&self, at: usize, floor: usize, words: &L) -> Option<usize> {
        words.ends(self.text(floor..at)).map(|longest| at - longest)
    }

    pub(super) fn contains<L: List + ?Sized>(&self, range: Range<usize>, words: &L) -> bool {
        words.within(self.text(range))
    }

    /// The place that begins here.
    pub(super) fn place_at(&self, at: usize) -> Option<&Place> {
        self.places.binary_search_by_key(&at, |place| place.start).ok().map(|found| &self.places[found])
    }

    /// The place that ends here.
    pub(super) fn place_before(&self, end: usize) -> Option<&Place> {
        self.places.binary_search_by_key(&end, |place| place.end).ok().map(|found| &self.places[found])
    }

    /// The place in whose midst, or at whose start, a character stands.
    pub(super) fn place_over(&self, at: usize) -> Option<&Place> {
        let next = self.places.partition_point(|place| place.start <= at);
        next.checked_sub(1).map(|found| &self.places[found]).filter(|place| at < place.end)
    }

    /// Where the date that begins here ends.
    pub(super) fn date_at(&self, at: usize) -> Option<usize> {
        self.dates.binary_search_by_key(&at, |date| date.start).ok().map(|found| self.dates[found].end)
    }

    /// The date in whose midst, or at whose start, a character stands.
    pub(super) fn date_over(&self, at: usize) -> Option<&Dated> {
        let next = self.dates.partition_point(|date| date.start <= at);
        next.checked_sub(1).map(|found| &self.dates[found]).filter(|date| at < date.end)
    }

    /// The parts between marks that end a thought, commas included; brackets hold together.
    pub(super) fn clauses(&self) -> Vec<Range<usize>> {
        let mut clauses = Vec::new();
        let mut start = 0;
        for at in 0..=self.len() {
            let ends = at == self.len() || (!self.bracketed(at) && is_mark(self.char(at)));
            if ends {
                if start < at {
                    clauses.push(start..at);
                }
                start = at + 1;
            }
        }
        clauses
    }

    /// The part between marks that end a thought in which a character stands.
    pub(super) fn clause(&self, at: usize) -> Range<usize> {
        let mark = |at: &usize| !self.bracketed(*at) && is_mark(self.char(*at));
        let start = (0..at).rev().find(mark).map_or(0, |mark| mark + 1);
        let end = (at..self.len()).find(mark).unwrap_or(self.len());
        start..end
    }

    /// `range` without blanks and marks at either end.
    pub(super) fn trim(&self, mut range: Range<usize>) -> Range<usize> {
        while range.start < range.end && is_edge(self.char(range.start)) {
            range.start += 1;
        }
        while range.start < range.end && is_edge(self.char(range.end - 1)) {
            range.end -= 1;
        }
        range
    }
}

/// Whether a mark ends a thought.
pub(super) fn is_mark(char: char) -> bool {
    matches!(char, '，' | ',' | '。' | '！' | '!' | '？' | '?' | '；' | ';' | '\n' | '\r' | '：' | '…')
}

fn is_edge(char: char) -> bool {
    char.is_whitespace() || is_mark(char) || matches!(char, '、' | '“' | '”' | '"' | '.' | '《' | '》' | '~' | '～')
}

/// For each character whether it stands in brackets, brackets included; one that is never closed does not count.
fn brackets(chars: &[char]) -> Vec<bool> {
    const WIDEST: usize = 40;
    let mut inside = vec![false; chars.len()];
    let mut at = 0;
    while at < chars.len() {
        if matches!(chars[at], '(' | '（') {
            let window = &chars[at..chars.len().min(at + WIDEST)];
            if let Some(width) = window.iter().position(|char| matches!(char, ')' | '）')) {
                inside[at..=at + width].fill(true);
                at += width;
            }
        }
        at += 1;
    }
    inside
}
