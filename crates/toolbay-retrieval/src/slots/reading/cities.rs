//! Cities and regions that a request is about.

use std::ops::Range;

use super::names;
use crate::slots::line::{Line, is_mark};
use crate::slots::places::{self, Place};
use crate::slots::words::{List, Words};

/// Words about the weather, where an unknown name before them is a place.
pub(super) static WEATHER: Words = Words::new(include_str!("../words/zh/cities-weather.txt"));
/// What may follow a city that is meant.
static ABOUT: Words = Words::new(include_str!("../words/zh/cities-about.txt"));
/// What an unknown name before the weather ends at.
static SKY: Words = Words::new(include_str!("../words/zh/cities-sky.txt"));
/// Words that an unknown name of a place does not hold.
static NO_NAME: Words = Words::new(include_str!("../words/zh/cities-no-name.txt"));

/// The cities a request is about, apart from `taken`.
pub(super) fn find(line: &Line<'_>, taken: &[Range<usize>]) -> Vec<(Range<usize>, f32)> {
    let weather = line.contains(0..line.len(), &WEATHER);
    let topical = weather || line.contains(0..line.len(), &["新闻"]);
    let mut cities: Vec<(Range<usize>, f32)> = Vec::new();
    for place in &line.places {
        let range = place.start..place.end;
        let beside = line.is(place.end, &["的天气", "天气", "的新闻", "新闻", "的气温", "气温"])
            || line.date_at(place.end).is_some();
        if taken.iter().any(|other| other.start < range.end && range.start < other.end)
            || (place.weak && !(topical && beside))
            || places::is_blocked(line, place)
            || !(topical || speaks_of(line, place))
            || line
                .word_before(place.start, place.start.saturating_sub(2), &["经", "经过", "途经", "途径", "经由"])
                .is_some()
        {
            continue;
        }
        let range = if weather { lengthened(line, range) } else { range };
        cities.push((range, if topical { 0.95 } else { 0.8 }));
    }
    if cities.is_empty() && weather && taken.is_empty() {
        cities.extend(unknown(line).map(|range| (range, 0.6)));
    }
    cities
}

/// Whether what follows a name shows that the place is meant, and not a dish, a bank or a book that begins with it.
fn speaks_of(line: &Line<'_>, place: &Place) -> bool {
    let next = line.char(place.end);
    let ends = next.is_whitespace() || is_mark(next) || next == '的' || line.is(place.end, &ABOUT);
    let ranked = matches!(line.before(place.end), '省' | '市' | '县' | '区' | '州') && place.end - place.start > 2;
    ends || ranked || line.date_at(place.end).is_some() || line.place_at(place.end).is_some()
}

/// A known place with the unlisted one in it that follows: the weather is asked for there.
fn lengthened(line: &Line<'_>, range: Range<usize>) -> Range<usize> {
    const WIDEST: usize = 8;
    let stop = line.clause(range.start).end.min(range.end + WIDEST + 1);
    let ends = |at: &usize| line.is(*at, &SKY) || line.date_at(*at).is_some() || line.char(*at) == '的';
    match (range.end..stop).find(ends) {
        Some(end)
            if !NO_NAME.within(line.text(range.end..end)) && !line.is(range.end, &["市", "和", "、", "跟", "与"]) =>
        {
            range.start..end
        }
        _ => range,
    }
}

/// A name nobody listed, standing where only a place can: 洛神镇的天气.
fn unknown(line: &Line<'_>) -> Option<Range<usize>> {
    line.clauses().into_iter().find_map(|clause| {
        let start = names::skip_leads(line, clause.start, clause.end);
        let start = line.word(start, &["在"]).unwrap_or(start);
        let end = (start + 1..clause.end).find(|at| line.is(*at, &SKY) || line.date_at(*at).is_some())?;
        let range = line.trim(start..end);
        let text = line.text(range.clone());
        let latin = text.is_ascii();
        let named = (2..=15).contains(&range.len()) || latin && (3..=30).contains(&range.len());
        let bare = NO_NAME.within(text);
        (named && !bare && !names::is_pointer(line, &range)).then_some(range)
    })
}
