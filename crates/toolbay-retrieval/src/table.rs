//! The table of words as points that is built in: what texts are about, without a model at run time.
//!
//! Where the table comes from, and under which licence: `docs/decisions/015-what-ships-for-retrieval.md`.

use std::sync::LazyLock;

use foldhash::HashMap;

/// How many numbers a point has.
pub(crate) const WIDTH: usize = 128;

/// `count: u32`, `starts: [u32; count + 1]`, `worths: [u8; count]`, `points: [[i8; WIDTH]; count]`, then the words, sorted.
static TABLE: &[u8] = include_bytes!("../data/words.bin");

/// A word that makes out this share of all words tells half of what a rare one tells.
const COMMON: f32 = 3e-4;

/// Steps of rarity to the factor e.
const RARITY: f32 = 12.0;

/// What the table holds of a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// How much the word tells, 0..=1.
    pub(crate) worth: f32,
    row: usize,
}

impl Entry {
    /// Adds the word's point, times `weight`.
    pub(crate) fn add_to(self, sum: &mut [f32; WIDTH], weight: f32) {
        let start = 4 + 4 * (count() + 1) + count() + self.row * WIDTH;
        for (sum, &x) in sum.iter_mut().zip(&TABLE[start..start + WIDTH]) {
            *sum += weight * f32::from(x as i8);
        }
    }
}

/// Calls `each` with the length and the rarity of every word of the table with which a Chinese text begins.
pub(crate) fn beginnings(text: &str, mut each: impl FnMut(usize, f32)) {
    static FIRST: LazyLock<HashMap<char, std::ops::Range<usize>>> = LazyLock::new(by_first_character);
    let Some(rows) = text.chars().next().and_then(|first| FIRST.get(&first)) else { return };
    for row in rows.clone() {
        if text.as_bytes().starts_with(self::text(row)) {
            each(self::text(row).len(), rarity(row));
        }
    }
}

fn by_first_character() -> HashMap<char, std::ops::Range<usize>> {
    let mut found: HashMap<char, std::ops::Range<usize>> = HashMap::default();
    for row in 0..count() {
        let first = std::str::from_utf8(text(row)).ok().and_then(|word| word.chars().next());
        if let Some(first) = first.filter(|first| !first.is_ascii()) {
            found.entry(first).or_insert(row..row).end = row + 1;
        }
    }
    found
}

/// How rare a word is: the logarithm of how many words there are to one of it.
fn rarity(row: usize) -> f32 {
    f32::from(TABLE[4 + 4 * (count() + 1) + row]) / RARITY
}

/// The entry of a word in small letters.
pub(crate) fn entry(word: &str) -> Option<Entry> {
    let (mut low, mut high) = (0, count());
    while low < high {
        let middle = usize::midpoint(low, high);
        match text(middle).cmp(word.as_bytes()) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => {
                let share = (-rarity(middle)).exp();
                let worth = 1.0 / (1.0 + share / COMMON);
                return Some(Entry { worth, row: middle });
            }
        }
    }
    None
}

fn count() -> usize {
    number(0)
}

fn text(row: usize) -> &'static [u8] {
    let words = 4 + 4 * (count() + 1) + count() * (1 + WIDTH);
    &TABLE[words + number(4 + 4 * row)..words + number(8 + 4 * row)]
}

fn number(at: usize) -> usize {
    let bytes = TABLE[at..at + 4].try_into().expect("four bytes were asked for");
    u32::from_le_bytes(bytes) as usize
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, beginnings, entry};

    #[test]
    fn the_table_holds_words_of_both_languages() {
        let mut sum = [0.0; WIDTH];
        entry("weather").unwrap().add_to(&mut sum, 1.0);
        assert!(sum.iter().any(|x| *x != 0.0));
        assert!(entry("天气").is_some() && entry("no such word").is_none() && entry("").is_none());
        assert!(entry("the").is_none_or(|word| word.worth < entry("weather").unwrap().worth));
    }

    #[test]
    fn a_text_begins_with_shorter_and_longer_words() {
        let mut found = Vec::new();
        beginnings("天气预报", |length, _| found.push(&"天气预报"[..length]));
        assert!(found.contains(&"天气") && found.contains(&"天气预报"), "{found:?}");
    }
}
