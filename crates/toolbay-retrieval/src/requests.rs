//! Requests as people make them: what they have in common is taken out before one is compared with tools.
//!
//! Written for this project, of many kinds and lengths; no request is looked for in them.

/// Chinese requests, one a line.
pub(crate) const CHINESE: &str = include_str!("../data/requests-zh.txt");

/// English requests, one a line.
pub(crate) const ENGLISH: &str = include_str!("../data/requests-en.txt");

/// Chinese requests and the English they ought to be near, one pair a line.
pub(crate) const PAIRS: &str = include_str!("../data/self-test.tsv");
