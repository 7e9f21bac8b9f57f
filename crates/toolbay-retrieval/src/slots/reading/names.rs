//! Names that no table holds: from a word that leads to them up to a word that ends them.

use std::ops::Range;

use super::words::{ENDS, LEADS, POINTERS, SHY_LEADS, SPOTS, STATIONS, TAILS, VERBS_AFTER_PLACE, WORDS_AFTER_PLACE};
use crate::slots::dates::number;
use crate::slots::line::{self, Line};
use crate::slots::places::{self, Place};
use crate::slots::words::List;

/// A name of something reads no longer than this.
const LONGEST: usize = 40;

/// Places that are somebody's own: they name nothing.
const OWN: &[&str] = &["家", "公司", "单位", "学校", "老家", "人家", "底", "宿舍", "办公室"];

/// How a stretch of words came to be taken for a name; later is surer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sure {
    /// Only by where it stands.
    Place,
    /// By its end: a station, a park, a street.
    Spot,
    /// It is, or begins with, a name out of the table.
    Known,
}

/// A name, and how sure it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) range: Range<usize>,
    pub(super) sure: Sure,
}

/// The name that begins at a character and ends where its words do, `stop` at the latest.
pub(super) fn rightward(line: &Line<'_>, at: usize, stop: usize) -> Option<Name> {
    let at = skip_blanks(line, at, stop);
    let at = line.word(at, &["离我最近的", "最近的"]).unwrap_or(at);
    let stop = stop.min(at + LONGEST);
    let known = line.place_at(at).filter(|place| place.end <= stop).copied();
    let from = known.map_or(at, |place| place.end);
    let range = without_tail(line, line.trim(at..end_of(line, at, from, stop)));
    let Some(place) = known else {
        return (!range.is_empty() && !is_pointer(line, &range)).then(|| Name { sure: by_end(line, &range), range });
    };
    // Words that follow a known place belong to it where they make a name; where they do not, the place alone is meant.
    let end = range.end.max(place.end);
    let rest = line.text(place.end..end);
    let apart = line.is(place.end, &VERBS_AFTER_PLACE) || !is_spot(rest) && line.is(place.end, &WORDS_AFTER_PLACE);
    let whole = !apart && (is_spot(rest) || end - place.end <= 12 && ends_cleanly(line, end, stop));
    let range = if whole { at..end } else { at..place.end };
    Some(Name { range, sure: Sure::Known })
}

/// The name that ends at a character, after whatever leads up to it from `floor` on.
pub(super) fn leftward(line: &Line<'_>, floor: usize, end: usize) -> Option<Name> {
    let floor = floor.max(end.saturating_sub(2 * LONGEST));
    let start = skip_leads(line, floor, end);
    let range = line.trim(start..end);
    if range.is_empty() || is_pointer(line, &range) {
        return None;
    }
    let known = line.place_at(range.start).is_some_and(|place| place.end <= range.end);
    if known {
        return Some(Name { range, sure: Sure::Known });
    }
    if let Some(place) = line.place_before(range.end).filter(|place| place.start > range.start + 1) {
        return Some(Name { range: place.start..place.end, sure: Sure::Known });
    }
    // A known place in the midst begins the name: what stands before it are words we do not know.
    let starts = |place: &&Place| {
        // One character before a place begins a name that only looks like one.
        let within = place.start > range.start + 1 && place.end <= range.end;
        within && !place.weak && !line.bracketed(place.start) && !places::is_blocked(line, place)
    };
    let range = match line.places.iter().find(starts) {
        Some(place) if !is_spot(line.text(range.start..place.start)) => place.start..range.end,
        _ => range,
    };
    Some(Name { sure: by_end(line, &range), range })
}

/// Where the words that only lead up to a name end.
pub(super) fn skip_leads(line: &Line<'_>, mut at: usize, end: usize) -> usize {
    while at < end {
        if line.char(at).is_whitespace() || line::is_mark(line.char(at)) || line.char(at) == '“' {
            at += 1;
        } else if let Some(date) = line.date_at(at) {
            at = date;
            // The 的 after a date belongs to the date.
            at = line.word(at, &["的"]).unwrap_or(at);
        } else if line.place_at(at).is_some_and(|place| !place.weak && place.end <= end) {
            return at;
        } else if let Some(after) = counted(line, at).filter(|after| *after < end) {
            at = after;
        } else if let Some(after) = line.word(at, &LEADS).filter(|after| *after <= end) {
            let shy = SHY_LEADS.has(line.text(at..after));
            if shy && !leads_on(line, after, end) {
                return at;
            }
            at = after;
        } else {
            return at;
        }
    }
    at.min(end)
}

/// 三家, 两个: how many of something are wanted.
fn counted(line: &Line<'_>, at: usize) -> Option<usize> {
    const MEASURES: &[&str] = &["家", "个", "间", "篇", "部", "首", "位", "张", "本"];
    let (_, after) = number(line, at).filter(|_| line.place_over(at).is_none())?;
    line.word(after, MEASURES)
}

/// Whether after a shy lead comes something that shows it was one.
fn leads_on(line: &Line<'_>, at: usize, end: usize) -> bool {
    at >= end
        || line.place_over(at).is_some_and(|place| place.start == at)
        || line.date_at(at).is_some()
        || line.word(at, &LEADS).is_some()
        || line.char(at).is_whitespace()
        || line.is(at, &POINTERS)
        || line.contains(at..end, &SPOTS)
}

/// A name without the small words that trail after it: 望月路上去.
pub(super) fn without_tail(line: &Line<'_>, mut range: Range<usize>) -> Range<usize> {
    while let Some(less) = line.word_before(range.end, range.start, TAILS).filter(|less| less - range.start > 1) {
        range.end = less;
    }
    range
}

/// Whether a name ends like things that stand somewhere.
pub(super) fn is_spot(name: &str) -> bool {
    SPOTS.ends(name).is_some()
}

/// Whether words point at a place without naming it.
pub(super) fn is_pointer(line: &Line<'_>, range: &Range<usize>) -> bool {
    let text = line.text(range.clone());
    line.place_at(range.start).is_none() && (POINTERS.starts(text).is_some() || OWN.contains(&text))
}

fn by_end(line: &Line<'_>, range: &Range<usize>) -> Sure {
    let text = line.text(range.clone());
    let long = range.len() > 1;
    if long && is_spot(text) || line.place_at(range.start).is_some() { Sure::Spot } else { Sure::Place }
}

/// Whether a name is followed by a word that ends names, or by nothing.
fn ends_cleanly(line: &Line<'_>, at: usize, stop: usize) -> bool {
    at >= stop || line::is_mark(line.char(at)) || line.is(at, &ENDS) || line.date_at(at).is_some()
}

/// The first character that cannot belong to the name.
fn end_of(line: &Line<'_>, start: usize, from: usize, stop: usize) -> usize {
    let mut at = from;
    while at < stop {
        if line.bracketed(at) {
            at += 1;
            continue;
        }
        if line::is_mark(line.char(at)) || line.date_at(at).is_some() {
            break;
        }
        if let Some(after) = line.word(at, &STATIONS) {
            at = after;
            continue;
        }
        // A verb after what ends like a place is what one goes there for.
        let goes_for = at > start + 1 && at > from && line.is(at, &VERBS_AFTER_PLACE) && is_spot(line.text(start..at));
        if goes_for || line.is(at, &ENDS) {
            break;
        }
        at += 1;
    }
    at.min(stop)
}

fn skip_blanks(line: &Line<'_>, mut at: usize, stop: usize) -> usize {
    while at < stop && line.char(at).is_whitespace() {
        at += 1;
    }
    at
}
