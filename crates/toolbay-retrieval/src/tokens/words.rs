//! The words of a text, as they are indexed, and as they are compared one text with another.

use std::collections::{BTreeSet, HashSet};

use super::chinese::{self, Part};
use super::cut::{Run, runs};
use super::english;

/// More of a text is not read: what a tool does is said by then, and time stays bounded.
const LONGEST: usize = 16 * 1024;

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// As written, in small letters.
    pub(crate) written: String,
    /// As looked up: stemmed where English.
    pub(crate) term: String,
    /// Where it comes from.
    pub(crate) kind: Kind,
}

/// Where a word comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters.
    Latin,
    /// A word of the Chinese dictionary.
    Chinese,
    /// Two Chinese characters side by side.
    Pair,
}

/// The words of a text, in order, stop words left out.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    runs(shortened(text), |run| match run {
        Run::Latin(part) => {
            if let Some(written) = english::fold(part) {
                let term = english::stem(&written).into_owned();
                found.push(Word { written, term, kind: Kind::Latin });
            }
        }
        Run::Chinese(part) => chinese_words(part, &mut found),
    });
    found
}

fn chinese_words(part: &str, found: &mut Vec<Word>) {
    let mut known = HashSet::new();
    chinese::words(part, |word, part| {
        let kind = match part {
            Part::Word => Kind::Chinese,
            Part::Pair => Kind::Pair,
        };
        if known.insert(word) || kind == Kind::Chinese {
            found.push(Word { written: word.to_owned(), term: word.to_owned(), kind });
        }
    });
}

fn shortened(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The set of words of a text as a person would count them: small letters, Chinese cut, nothing stemmed or left out.
pub fn plain_words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    runs(shortened(text), |run| match run {
        Run::Latin(part) => {
            found.insert(part.to_lowercase());
        }
        Run::Chinese(part) => found.extend(chinese::cut(part).map(str::to_owned)),
    });
    found
}

/// The overlap of two sets of words: those in both, as a share of those in either; two empty sets do not overlap.
pub fn jaccard(left: &BTreeSet<String>, right: &BTreeSet<String>) -> f64 {
    let both = left.intersection(right).count();
    let either = left.len() + right.len() - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}

/// A name with its words set apart, as an encoder reads it best.
pub(crate) fn spaced(name: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    runs(shortened(name), |run| match run {
        Run::Latin(part) | Run::Chinese(part) => words.push(part),
    });
    words.join(" ")
}

/// Calls `each` with the Chinese parts of a text, politeness taken out.
pub(crate) fn chinese_parts<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    runs(shortened(text), |run| match run {
        Run::Latin(_) => {}
        Run::Chinese(part) => chinese::without_politeness(part, &mut each),
    });
}

#[cfg(test)]
mod tests {
    use super::{jaccard, plain_words, spaced, words};

    fn terms(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.term).collect()
    }

    #[test]
    fn words_are_stemmed_and_empty_ones_left_out() {
        assert_eq!(terms("Sending the emails to 3 people"), ["send", "email", "peopl"]);
        assert_eq!(terms("getWeatherForecasts_v2"), ["weather", "forecast", "v2"]);
        assert!(terms("帮我查询天气").contains(&"天气".to_owned()));
    }

    #[test]
    fn requests_overlap_by_their_words() {
        let overlap = |left: &str, right: &str| jaccard(&plain_words(left), &plain_words(right));
        assert!((overlap("weather in Paris", "Paris: the weather in") - 0.75).abs() < 1e-12);
        assert!((overlap("查询北京天气", "北京天气查询") - 1.0).abs() < 1e-12);
        assert!(overlap("", "") < 1e-12 && overlap("天气", "音乐") < 1e-12);
    }

    #[test]
    fn names_are_set_apart() {
        assert_eq!(spaced("getHTTPStatus-of_page"), "get HTTP Status of page");
    }
}
