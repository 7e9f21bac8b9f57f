//! Lists of words, and the longest of them that stands somewhere.
//!
//! The long lists are text files under `words/`, one list a file; the short ones stand in the code that uses them.

use std::collections::HashMap;
use std::sync::OnceLock;

/// A list kept as text, words apart by blanks; indexed when first used.
pub(super) struct Words {
    text: &'static str,
    index: OnceLock<HashMap<char, Vec<&'static str>>>,
}

/// Anything in which words can be looked up.
pub(super) trait List {
    /// The longest word that `text` begins with, in characters.
    fn starts(&self, text: &str) -> Option<usize>;
    /// The longest word that `text` ends with, in characters.
    fn ends(&self, text: &str) -> Option<usize>;
    /// Whether any word stands in `text`.
    fn within(&self, text: &str) -> bool;
}

impl Words {
    pub(super) const fn new(text: &'static str) -> Self {
        Self { text, index: OnceLock::new() }
    }

    /// Whether a text is one of the words.
    pub(super) fn has(&self, text: &str) -> bool {
        text.chars().next().is_some_and(|first| self.row(first).contains(&text))
    }

    fn row(&self, first: char) -> &[&'static str] {
        self.index.get_or_init(|| index(self.text)).get(&first).map_or(&[], Vec::as_slice)
    }
}

impl List for Words {
    fn starts(&self, text: &str) -> Option<usize> {
        longest(self.row(text.chars().next()?).iter().filter(|word| text.starts_with(**word)))
    }

    fn ends(&self, text: &str) -> Option<usize> {
        // From the longest tail on: the first that is a word is the longest word.
        let most = text.char_indices().rev().take(LONGEST).map(|(byte, _)| &text[byte..]);
        most.filter(|tail| self.has(tail)).last().map(|tail| tail.chars().count())
    }

    fn within(&self, text: &str) -> bool {
        text.char_indices().any(|(byte, _)| self.starts(&text[byte..]).is_some())
    }
}

/// No word is longer.
const LONGEST: usize = 16;

impl List for [&str] {
    fn starts(&self, text: &str) -> Option<usize> {
        longest(self.iter().filter(|word| text.starts_with(**word)))
    }

    fn ends(&self, text: &str) -> Option<usize> {
        longest(self.iter().filter(|word| text.ends_with(**word)))
    }

    fn within(&self, text: &str) -> bool {
        self.iter().any(|word| text.contains(word))
    }
}

impl<const COUNT: usize> List for [&str; COUNT] {
    fn starts(&self, text: &str) -> Option<usize> {
        self.as_slice().starts(text)
    }

    fn ends(&self, text: &str) -> Option<usize> {
        self.as_slice().ends(text)
    }

    fn within(&self, text: &str) -> bool {
        self.as_slice().within(text)
    }
}

fn longest<'w>(words: impl Iterator<Item = &'w &'w str>) -> Option<usize> {
    words.map(|word| word.chars().count()).max()
}

fn index(text: &'static str) -> HashMap<char, Vec<&'static str>> {
    let mut rows: HashMap<char, Vec<&'static str>> = HashMap::new();
    for word in text.split_whitespace() {
        debug_assert!(word.chars().count() <= LONGEST, "{word}");
        if let Some(first) = word.chars().next() {
            rows.entry(first).or_default().push(word);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_word_is_found_at_either_end_and_within() {
        static LIST: Words = Words::new("查 查一下 下\n天气");
        assert_eq!(LIST.starts("查一下天气"), Some(3));
        assert_eq!(LIST.ends("请查一下"), Some(3));
        assert_eq!(LIST.ends("天上"), None);
        assert!(LIST.within("今天天气"));
        assert!(LIST.has("查") && !LIST.has("查一"));
        assert_eq!(["a", "ab"].starts("abc"), Some(2));
    }
}
