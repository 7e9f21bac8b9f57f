//! What Chinese words are called in the English of tools, and which English words stand for one another.
//!
//! Our own lists, in `data/lexicon.tsv` and `data/synonyms.txt`; not a dictionary for people.

use std::sync::LazyLock;

use foldhash::HashMap;

use crate::tokens;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(include_str!("../data/lexicon.tsv")));
static SYNONYMS: LazyLock<HashMap<String, Vec<(String, Alike)>>> =
    LazyLock::new(|| synonyms(include_str!("../data/synonyms.txt")));

/// How much two English words have to do with one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alike {
    /// They mean the same.
    Same,
    /// One is often said where the other is written.
    Near,
}

/// A line of the lexicon: Chinese words that are called the same in English.
#[derive(Debug)]
pub(crate) struct Line {
    /// The Chinese words.
    pub(crate) words: Vec<&'static str>,
    /// Each of these is asked for; any stem of one answers it.
    pub(crate) english: Vec<Vec<String>>,
}

#[derive(Debug, Default)]
struct Lexicon {
    lines: Vec<Line>,
    of_word: HashMap<&'static str, usize>,
    longest: usize,
}

impl Lexicon {
    fn read(text: &'static str) -> Self {
        let mut lexicon = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((words, english)) = line.split_once('\t') else { continue };
            let words: Vec<&str> = words.split(' ').collect();
            for word in &words {
                lexicon.longest = lexicon.longest.max(word.chars().count());
                lexicon.of_word.insert(word, lexicon.lines.len());
            }
            lexicon.lines.push(Line { words, english: english.split(';').map(stems).collect() });
        }
        lexicon
    }
}

fn stems(words: &str) -> Vec<String> {
    words.split_whitespace().map(|word| tokens::stem(word).into_owned()).collect()
}

fn synonyms(text: &str) -> HashMap<String, Vec<(String, Alike)>> {
    let mut found: HashMap<String, Vec<(String, Alike)>> = HashMap::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (words, alike) = line.strip_prefix('=').map_or((line, Alike::Near), |words| (words, Alike::Same));
        let group = stems(words);
        for word in &group {
            let others = group.iter().filter(|other| *other != word).map(|other| (other.clone(), alike));
            found.entry(word.clone()).or_default().extend(others);
        }
    }
    found
}

/// Calls `each` with every known word of a Chinese text, longest first from the left, and its line.
pub(crate) fn lines<'a>(run: &'a str, mut each: impl FnMut(&'a str, &'static Line)) {
    let ends: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    let mut at = 0;
    while at + 1 < ends.len() {
        let longest = LEXICON.longest.min(ends.len() - 1 - at);
        let known = (1..=longest).rev().find_map(|length| {
            let word = &run[ends[at]..ends[at + length]];
            LEXICON.of_word.get(word).map(|&line| (word, length, &LEXICON.lines[line]))
        });
        match known {
            Some((word, length, line)) => {
                each(word, line);
                at += length;
            }
            None => at += 1,
        }
    }
}

/// The Chinese words that are called by this stem; none where there are so many that they tell nothing.
pub(crate) fn chinese(stem: &str) -> &'static [&'static str] {
    static CHINESE: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let mut found: HashMap<&str, Vec<&str>> = HashMap::default();
        for line in &LEXICON.lines {
            for stem in line.english.iter().flatten() {
                found.entry(stem).or_default().extend(&line.words);
            }
        }
        found.retain(|_, words| words.len() <= MOST_NAMES);
        found
    });
    CHINESE.get(stem).map_or(&[], Vec::as_slice)
}

/// An English word with more Chinese names than this has many meanings.
const MOST_NAMES: usize = 16;

/// The stems that may stand for this stem.
pub(crate) fn alike(stem: &str) -> &'static [(String, Alike)] {
    SYNONYMS.get(stem).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::{Alike, LEXICON, alike, lines};

    #[test]
    fn the_longest_word_is_taken_and_every_line_is_read() {
        let mut found = Vec::new();
        lines("查询天气预报吧", |word, _| found.push(word));
        assert_eq!(found, ["查询", "天气预报"]);
        let words: usize = LEXICON.lines.iter().map(|line| line.words.len()).sum();
        assert_eq!(words, LEXICON.of_word.len(), "a word stands in two lines");
    }

    #[test]
    fn words_stand_for_one_another_both_ways() {
        assert!(alike("delet").contains(&("eras".to_owned(), Alike::Same)));
        assert!(alike("eras").contains(&("delet".to_owned(), Alike::Same)));
        assert!(alike("zebra").is_empty());
    }
}
