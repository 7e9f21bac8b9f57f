//! What the words of a request are worth in a tool: BM25 over four fields, in an index of our own.
//!
//! Knows words only as terms; what a word means, or is called in another language, is worked out before.

mod postings;
mod score;

pub(crate) use postings::Postings;
pub(crate) use score::{Ask, Bm25, Scores};
