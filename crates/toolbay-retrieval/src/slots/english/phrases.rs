//! The word lists of English requests.

use crate::slots::words::Words;

/// Words before a "to" that make a way of it.
pub(super) static TRAVEL: Words = Words::new(include_str!("../words/en/travel.txt"));
/// Words that end a name.
pub(super) static ENDS: Words = Words::new(include_str!("../words/en/ends.txt"));
pub(super) const AROUND: &[&str] = &["near", "around", "nearby", "beside", "opposite"];
pub(super) static WEATHER: Words = Words::new(include_str!("../words/en/weather.txt"));
/// Verbs of searching, each as its words.
pub(super) const SEARCH: &[&[&str]] = &[
    &["search", "the", "web", "for"],
    &["search", "the", "internet", "for"],
    &["search", "online", "for"],
    &["search", "for"],
    &["search", "up"],
    &["search"],
    &["look", "up"],
    &["look", "for"],
    &["google"],
    &["find", "me"],
    &["find", "out"],
    &["find"],
    &["query"],
    &["look", "online", "for"],
    &["check", "online", "for"],
];
/// What may stand before the verb.
pub(super) static LEADS: Words = Words::new(include_str!("../words/en/leads.txt"));
/// What is cut behind a query.
pub(super) const TAILS: &[&str] = &["please", "thanks", "thank", "you", "for", "me"];
/// Words that say where without a name.
pub(super) static POINTERS: Words = Words::new(include_str!("../words/en/pointers.txt"));
/// What stands where a place could, and is none: money, languages, formats, units, numbers, stretches of time.
pub(super) static THINGS: Words = Words::new(include_str!("../words/en/things.txt"));
/// Capitals that are no places.
pub(super) static NO_PLACES: Words = Words::new(include_str!("../words/en/no-places.txt"));
