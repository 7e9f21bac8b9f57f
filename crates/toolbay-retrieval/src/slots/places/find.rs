//! One walk over a request: the longest name at each character, neighbours joined.

use std::ops::Range;

use super::gazetteer;
use crate::slots::line::Line;

/// A name of a place, or several that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slots) struct Place {
    pub(in crate::slots) start: usize,
    pub(in crate::slots) end: usize,
    /// Whether it is an everyday word as well.
    pub(in crate::slots) weak: bool,
}

/// Kinds of zones that belong to the name before them.
const ZONES: [&str; 12] = [
    "经济技术开发区",
    "高新技术开发区",
    "经济开发区",
    "工业园区",
    "开发区",
    "高新区",
    "经开区",
    "自贸区",
    "保税区",
    "保税港区",
    "新区",
    "工业园",
];

/// What may follow a province's or a city's short name and keep it a name: its rank, left out of the table.
const RANKS: [&str; 4] = ["省", "市", "县城", "县"];

/// The names in a request, in order.
pub(in crate::slots) fn find(line: &Line<'_>) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if let Some(date) = line.date_over(at) {
            at = date.end;
            continue;
        }
        let Some(place) = name_at(line, at) else {
            at += 1;
            continue;
        };
        at = place.end;
        match places.last_mut() {
            Some(last) if last.end == place.start => {
                last.end = place.end;
                last.weak &= place.weak;
            }
            _ => places.push(place),
        }
    }
    places
}

/// Whether a stretch is a known name and nothing else.
pub(in crate::slots) fn is_place(line: &Line<'_>, range: &Range<usize>) -> bool {
    line.place_at(range.start).is_some_and(|place| place.end == range.end && !place.weak)
}

fn name_at(line: &Line<'_>, at: usize) -> Option<Place> {
    let name = gazetteer::longest(line.char(at), line.char(at + 1), line.rest(at))?;
    let mut end = at + name.chars;
    let mut weak = name.weak;
    if let Some(rank) = line.word(end, &RANKS).filter(|_| is_plain(name.text)) {
        (end, weak) = (rank, false);
    }
    if let Some(zone) = line.word(end, &ZONES) {
        (end, weak) = (zone, false);
    }
    Some(Place { start: at, end, weak })
}

/// Whether a name has no rank of its own yet.
fn is_plain(name: &str) -> bool {
    !name.ends_with(['省', '市', '县', '区', '州', '国'])
}
