//! The rooms asked in turn, and their answers put side by side.

use std::ops::Range;

use super::{cities, counts, names::Name, queries, routes, routes::Route, spots};
use crate::slots::dates::{self, Clock, Day};
use crate::slots::line::Line;
use crate::slots::slot::{Kind, Normal, Slot};
use crate::slots::words::{List as _, Words};
use crate::slots::{english, places};

/// What a request says.
pub(in crate::slots) fn read(line: &Line<'_>, today: Option<Day>) -> Vec<Slot> {
    let mut found = Found { line, slots: Vec::new(), taken: Vec::new() };
    if line.is_chinese() {
        found.chinese();
    } else {
        for (kind, range, confidence) in english::read(line) {
            found.push(kind, range, confidence, None);
        }
    }
    for date in &line.dates {
        let normal = stretch(date, today);
        let repeats = date.when.again && date.until.is_none();
        let kind = if repeats { Kind::Repeat } else { Kind::Date };
        found.push(kind, date.start..date.end, 0.9, normal);
    }
    for (range, value) in counts::find(line) {
        found.push(Kind::Count, range, 0.8, Some(Normal::Number(value)));
    }
    found.slots.sort_by_key(|slot| (slot.span.start, slot.span.end, slot.kind));
    found.slots.dedup_by(|one, other| one.kind == other.kind && one.value == other.value);
    found.slots
}

struct Found<'l, 't> {
    line: &'l Line<'t>,
    slots: Vec<Slot>,
    taken: Vec<Range<usize>>,
}

impl Found<'_, '_> {
    fn chinese(&mut self) {
        let mut routes = routes::find(self.line);
        let spots = spots::find(self.line, &routes);
        // 去颐和园，附近有什么酒店: the place gone to is the place asked about.
        routes.retain(|route| {
            !is_of_things(self.line, route)
                && (route.origin.is_some() || !spots.iter().any(|spot| meets(route.destination.as_ref(), &spot.range)))
        });
        for route in &routes {
            let confidence = if route.plain { 0.95 } else { 0.8 };
            self.name(Kind::Origin, route.origin.as_ref(), confidence);
            self.name(Kind::Destination, route.destination.as_ref(), confidence);
        }
        for spot in &spots {
            let whole_city = spot.whereabouts && places::is_place(self.line, &spot.range);
            let kind = if whole_city && is_asked_city(self.line, spot) { Kind::City } else { Kind::Location };
            self.push(kind, spot.range.clone(), if spot.apart { 0.7 } else { 0.9 }, None);
        }
        let taken = self.taken.clone();
        for (range, confidence) in cities::find(self.line, &taken) {
            self.push(Kind::City, range, confidence, None);
        }
        if let Some(range) = queries::find(self.line, &routes) {
            self.push(Kind::Query, range, 0.9, None);
        }
    }

    fn name(&mut self, kind: Kind, name: Option<&Name>, confidence: f32) {
        if let Some(name) = name {
            self.push(kind, name.range.clone(), confidence, None);
        }
    }

    fn push(&mut self, kind: Kind, range: Range<usize>, confidence: f32, normal: Option<Normal>) {
        let value = self.line.text(range.clone()).to_owned();
        self.slots.push(Slot { kind, value, span: self.line.span(&range), confidence, normal });
        self.taken.push(range);
    }
}

/// What an end of a way is not: money, languages, formats, units.
static THINGS: Words = Words::new(include_str!("../words/zh/things.txt"));

/// Whether an end of what looks like a way says that it is none: 从美元换成人民币.
fn is_of_things(line: &Line<'_>, route: &Route) -> bool {
    let ends = [&route.origin, &route.destination];
    let is_thing = |text: &str| {
        let rest = THINGS.starts(text).map(|chars| text.chars().skip(chars).collect::<String>());
        THINGS.ends(text).is_some() || rest.is_some_and(|rest| ["翻译", "转换", "兑换", "换"].contains(&rest.as_str()))
    };
    ends.into_iter().flatten().any(|name| is_thing(line.text(name.range.clone())))
}

fn meets(name: Option<&Name>, range: &Range<usize>) -> bool {
    name.is_some_and(|name| name.range.start < range.end && range.start < name.range.end)
}

/// 河北在哪里 asks about a city, and so does 在纽约会下雨吗; 我在郑州 says where somebody is.
fn is_asked_city(line: &Line<'_>, spot: &spots::Spot) -> bool {
    let weather = line.contains(0..line.len(), &cities::WEATHER);
    weather || line.before(spot.range.start) != '在'
}

fn stretch(date: &dates::Dated, today: Option<Day>) -> Option<Normal> {
    let first = dates::meaning(&date.when, today);
    let Some(until) = &date.until else { return first };
    match (first?, dates::meaning(until, today)?) {
        // From Monday to Friday: the Friday after that Monday, whatever day it is today.
        (Normal::Day(first), Normal::Day(last)) if first > last && until.is_weekday() => {
            last.plus(7).map(|last| Normal::Days(first, last))
        }
        // 3月10日到15日 on the twelfth: it has begun.
        (Normal::Day(first), Normal::Day(last)) if first > last && date.when.is_yearless() => {
            let first = Day::new(first.year() - 1, first.month(), first.day())?;
            (first <= last).then_some(Normal::Days(first, last))
        }
        (Normal::Day(first), Normal::Day(last)) if first <= last => Some(Normal::Days(first, last)),
        (Normal::Clock(first), Normal::Clock(last)) => {
            // 从9点到5点 goes on to the afternoon.
            let late = Clock::new(last.hour() + 12, last.minute()).filter(|late| *late > first);
            let last = late.filter(|_| last < first && date.when.part.is_none()).unwrap_or(last);
            Some(Normal::Clocks(first, last))
        }
        (Normal::Moment(day, from), Normal::Moment(last, to)) if (day, from) <= (last, to) => {
            Some(Normal::Moments((day, from), (last, to)))
        }
        // 晚上十点到凌晨两点 ends on the next day.
        (Normal::Moment(day, from), Normal::Moment(last, to)) if day == last => {
            Some(Normal::Moments((day, from), (last.plus(1)?, to)))
        }
        _ => None,
    }
}
