//! The words of a request, each with what may answer it: itself, its English, what stands for it.

use foldhash::{HashMap, HashSet};

use crate::bm25::Ask;
use crate::lexicon::{self, Alike};
use crate::tokens::{self, Kind, Word};

/// More is not asked for: a request that long is a document, and time stays bounded.
const MOST: usize = 400;

/// What a word that is said again adds.
const AGAIN: f32 = 0.15;

/// What two characters side by side are worth beside a word of the dictionary.
const PAIR: f32 = 0.25;

/// What a word is worth that means the same as the one that was said, and one that is only near it.
const SAME: f32 = 0.7;
const NEAR: f32 = 0.3;

/// What the English of a Chinese word is worth beside the word itself.
const ENGLISH: f32 = 0.85;

/// What the English a Chinese word is called by is worth the other way round, where tools are written in Chinese.
const CHINESE: f32 = 0.6;

/// In which languages the tools are written that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// English alone.
    English,
    /// Some in Chinese.
    Chinese,
}

/// What a request of those words asks for.
pub(crate) fn asks(request: &str, words: &[Word], tools: Written) -> Vec<Ask> {
    let mut places: HashMap<&str, usize> = HashMap::default();
    let mut asks: Vec<Ask> = Vec::new();
    for word in words {
        if let Some(&known) = places.get(word.term.as_str()) {
            asks[known].weight += AGAIN;
        } else if asks.len() < MOST {
            places.insert(&word.term, asks.len());
            asks.push(ask(word, tools));
        }
    }
    english(request, &mut asks);
    asks
}

fn ask(word: &Word, tools: Written) -> Ask {
    let mut terms = vec![(word.term.clone(), 1.0)];
    let weight = match word.kind {
        Kind::Latin => {
            let share = |alike| match alike {
                Alike::Same => SAME,
                Alike::Near => NEAR,
            };
            terms.extend(lexicon::alike(&word.term).iter().map(|(other, alike)| (other.clone(), share(*alike))));
            if tools == Written::Chinese {
                terms.extend(lexicon::chinese(&word.term).iter().map(|name| ((*name).to_owned(), CHINESE)));
            }
            1.0
        }
        Kind::Chinese => 1.0,
        Kind::Pair => PAIR,
    };
    Ask { written: word.written.clone(), weight, terms }
}

/// Asks for the English of the Chinese words too, and for other Chinese words of the same English.
fn english(request: &str, asks: &mut Vec<Ask>) {
    let most = asks.len() + MOST;
    let mut seen = HashSet::default();
    tokens::chinese_parts(request, |part| {
        lexicon::lines(part, |word, line| {
            for any in &line.english {
                if asks.len() < most && seen.insert(any) {
                    let mut terms: Vec<_> = any.iter().map(|term| (term.clone(), ENGLISH)).collect();
                    let others = line.words.iter().filter(|other| **other != word);
                    terms.extend(others.map(|other| ((*other).to_owned(), NEAR)));
                    asks.push(Ask { written: word.to_owned(), weight: certainty(word), terms });
                }
            }
        });
    });
}

/// A longer word has fewer meanings, so its English is more often the one that is meant.
fn certainty(word: &str) -> f32 {
    (word.chars().count() as f32 / 2.0).powf(0.3)
}
