//! Text into words that can be looked up: names split, English stemmed, Chinese cut.
//!
//! Not about what words are worth or mean: see `bm25`, `lexicon` and `vectors`.

mod chinese;
mod cut;
mod english;
mod language;
mod words;

pub use language::Language;
pub use words::{jaccard, plain_words};

pub(crate) use english::stem;
pub(crate) use words::{Kind, Word, chinese_parts, spaced, words};
