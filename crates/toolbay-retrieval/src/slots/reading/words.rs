//! The words that lead up to a name, the words that end it, and the words that are none.

use crate::slots::words::Words;

/// What people say before they come to the point.
pub(super) static LEADS: Words = Words::new(include_str!("../words/zh/leads.txt"));

/// Leads that may also begin a name: skipped only before another lead, a date, or a known place.
pub(super) static SHY_LEADS: Words = Words::new(include_str!("../words/zh/shy-leads.txt"));

/// What ends a name on its right.
pub(super) static ENDS: Words = Words::new(include_str!("../words/zh/ends.txt"));

/// Verbs after a known place, for which one goes there.
pub(super) static VERBS_AFTER_PLACE: Words = Words::new(include_str!("../words/zh/verbs-after-place.txt"));

/// Words after a known place that belong to it only where they end a name.
pub(super) static WORDS_AFTER_PLACE: Words = Words::new(include_str!("../words/zh/words-after-place.txt"));

/// Vehicles that are only the start of the name of a station.
pub(super) static STATIONS: Words = Words::new(include_str!("../words/zh/stations.txt"));

/// The ends of names of things that stand somewhere.
pub(super) static SPOTS: Words = Words::new(include_str!("../words/zh/spots.txt"));

/// Small words that trail after a name.
pub(super) const TAILS: &[&str] = &["上去", "去", "了", "那里", "那边", "这边", "那儿", "里面", "这里", "这儿", "一趟"];

/// What stands for a place without naming one.
pub(super) static POINTERS: Words = Words::new(include_str!("../words/zh/pointers.txt"));

/// Things a route request wants, which are not places.
pub(super) static FARES: Words = Words::new(include_str!("../words/zh/fares.txt"));
