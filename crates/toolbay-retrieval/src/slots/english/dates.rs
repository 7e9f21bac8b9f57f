//! Days and times in English.

use crate::slots::dates::{Clock, Dated, DayOf, MonthOf, Part, When, YearOf, digits};
use crate::slots::line::Line;

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const SHORT_MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const JOINTS: &[&str] = &[" at ", " on ", " in the ", ", at ", ", ", " ", " of "];
const UNITS: &[(&str, i64)] = &[
    ("minutes", 0),
    ("minute", 0),
    ("hours", 0),
    ("hour", 0),
    ("days", 1),
    ("day", 1),
    ("weeks", 7),
    ("week", 7),
    ("months", MONTH),
    ("month", MONTH),
];
/// Months are those of the calendar; this stands for one.
const MONTH: i64 = 30;

/// What joins two dates to a stretch.
pub(in crate::slots) const UNTIL: &[&str] =
    &[" to ", " until ", " till ", " through ", " - ", " – ", " ~ ", "-", "–", "~"];

/// A day of a month alone, as the end of a stretch that begins on one: March 5 to 8.
pub(in crate::slots) fn bare_day(line: &Line<'_>, at: usize, begin: &When) -> Option<Dated> {
    let begun = matches!(begin.day, Some(DayOf::OfMonth(_))) && begin.month.is_some() && begin.clock.is_none();
    let (day, end) = ordinal(line, at).filter(|_| begun)?;
    // "March 5 to 8 pm" says something else, and so does "March 5 to 8 people".
    let free = !line.rest(end).trim_start().starts_with(|next: char| next.is_alphanumeric())
        || line.is(end, &[" in ", " at ", " for ", " from ", " on ", " and ", " please"]);
    let when = When { day: Some(DayOf::OfMonth(day)), ..When::default() };
    free.then_some(Dated { start: at, end, when, until: None })
}

/// From 3 to 5 pm: the mark at the end holds for both.
fn hours(line: &Line<'_>, at: usize) -> Option<(Clock, Clock, usize)> {
    let (from, after) = digits(line, at).filter(|(hour, _)| (1..=12).contains(hour))?;
    let half = digits(line, after + 1).filter(|(_, end)| line.char(after) == ':' && *end == after + 3);
    let (minute, after) = half.unwrap_or((0, after));
    let after = UNTIL.iter().find_map(|joint| line.word(after, &[*joint]))?;
    let mut until = When::default();
    let end = clock(line, after, &mut until)?;
    let last = until.clock?;
    let marked = line.text(after..end).to_ascii_lowercase();
    if !marked.contains('m') {
        return None;
    }
    // 11 to 1 pm begins before noon.
    let late = last.hour() >= 12;
    let from = u8::try_from(from).ok()? % 12;
    let hour = if late && from + 12 <= last.hour() { from + 12 } else { from };
    let first = Clock::new(hour, u8::try_from(minute).ok()?).filter(|first| *first <= last)?;
    Some((first, last, end))
}

/// How many are meant: digits, or one of the small numbers in words.
fn number(line: &Line<'_>, at: usize) -> Option<(i64, usize)> {
    const SMALL: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    if let Some(found) = digits(line, at) {
        return Some(found);
    }
    let (first, end) = word(line, at)?;
    let count = SMALL.iter().position(|small| *small == first).and_then(|at| i64::try_from(at + 1).ok());
    count.or_else(|| matches!(first.as_str(), "a" | "an").then_some(1)).map(|count| (count, end))
}

/// The date that begins here.
pub(in crate::slots) fn date(line: &Line<'_>, at: usize) -> Option<Dated> {
    if line.before(at).is_alphanumeric() || !line.char(at).is_ascii_alphanumeric() {
        return None;
    }
    if let Some((first, last, end)) = hours(line, at) {
        let when = |clock| When { clock: Some(clock), ..When::default() };
        return Some(Dated { start: at, end, when: when(first), until: Some(when(last)) });
    }
    let mut when = When::default();
    let mut end = piece(line, at, &mut when)?;
    while let Some((next, longer)) = JOINTS.iter().find_map(|joint| {
        let mut longer = when;
        let next = piece(line, line.word(end, &[*joint])?, &mut longer)?;
        Some((next, longer))
    }) {
        (end, when) = (next, longer);
    }
    // Tomorrow from 3 to 5 pm.
    let stretch = [" from ", " between ", ", "].iter().find_map(|joint| hours(line, line.word(end, &[*joint])?));
    if let Some((first, last, end)) = stretch.filter(|_| when.clock.is_none()) {
        let until = When { clock: Some(last), ..when };
        return Some(Dated { start: at, end, when: When { clock: Some(first), ..when }, until: Some(until) });
    }
    Some(Dated { start: at, end, when, until: None })
}

/// The small letters of the word that begins here, and where it ends.
fn word(line: &Line<'_>, at: usize) -> Option<(String, usize)> {
    let mut end = at;
    while line.char(end).is_ascii_alphanumeric() || line.char(end) == '\'' || line.char(end) == '’' {
        end += 1;
    }
    // Words of dates are short; a long one is none.
    (end > at && end - at < 16).then(|| (line.text(at..end).to_ascii_lowercase(), end))
}

fn piece(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let (first, end) = word(line, at)?;
    if first.starts_with(|char: char| char.is_ascii_digit()) {
        return clock(line, at, when).or_else(|| day_month(line, at, when)).or_else(|| later(line, at, when));
    }
    named(line, &first, end, when)
        .or_else(|| led(line, &first, end, when))
        .or_else(|| month(line, at, &first, end, when))
        .or_else(|| weekday(&first).map(|day| set_day(when, DayOf::Week(None, day), end)))
        .or_else(|| (first == "in").then(|| later(line, end + 1, when)).flatten())
}

fn set_day(when: &mut When, day: DayOf, end: usize) -> usize {
    when.day = Some(day);
    end
}

fn named(line: &Line<'_>, first: &str, end: usize, when: &mut When) -> Option<usize> {
    match first {
        "today" => when.day = Some(DayOf::Away(0)),
        "tonight" => (when.day, when.part) = (Some(DayOf::Away(0)), Some(Part::Evening)),
        "tomorrow" => when.day = Some(DayOf::Away(1)),
        "yesterday" => when.day = Some(DayOf::Away(-1)),
        "now" | "currently" => when.vague = true,
        "morning" => when.part = Some(Part::Morning),
        "afternoon" => when.part = Some(Part::Afternoon),
        "evening" | "night" => when.part = Some(Part::Evening),
        "noon" => when.clock = Clock::new(12, 0),
        "midnight" => when.clock = Clock::new(0, 0),
        "right" if line.word(end, &[" now"]).is_some() => {
            when.vague = true;
            return line.word(end, &[" now"]);
        }
        _ => return None,
    }
    // A part of the day alone ("good morning") is no date: something must come before it.
    let alone = when.day.is_none() && when.clock.is_none() && !when.vague;
    (!alone).then_some(end)
}

/// this, next, last, every, and what they belong to.
fn led(line: &Line<'_>, first: &str, end: usize, when: &mut When) -> Option<usize> {
    let weeks = match first {
        "this" => 0,
        "next" => 1,
        "coming" => return coming(line, end, when),
        "last" => -1,
        "every" | "each" => {
            let (second, end) = word(line, end + 1)?;
            let known = weekday(&second).is_some()
                || matches!(
                    second.as_str(),
                    "day" | "week" | "month" | "morning" | "evening" | "night" | "weekday" | "weekend" | "year"
                );
            when.again = true;
            return known.then_some(end);
        }
        _ => return None,
    };
    let (second, last) = word(line, end + 1)?;
    if let Some(day) = weekday(&second) {
        when.day = Some(DayOf::Week(Some(weeks), day));
        return Some(last);
    }
    match second.as_str() {
        "week" => when.day = Some(DayOf::WholeWeek(weeks)),
        "weekend" => when.day = Some(DayOf::Weekend(weeks)),
        "month" => when.month = Some(MonthOf::Away(weeks)),
        "year" => when.year = Some(YearOf::Away(i32::try_from(weeks).ok()?)),
        "morning" if weeks == 0 => (when.day, when.part) = (Some(DayOf::Away(0)), Some(Part::Morning)),
        "afternoon" if weeks == 0 => (when.day, when.part) = (Some(DayOf::Away(0)), Some(Part::Afternoon)),
        "evening" if weeks == 0 => (when.day, when.part) = (Some(DayOf::Away(0)), Some(Part::Evening)),
        "night" if weeks == -1 => (when.day, when.part) = (Some(DayOf::Away(-1)), Some(Part::Evening)),
        _ if weeks == 1 => {
            let (count, after) = number(line, end + 1)?;
            let (unit, last) = word(line, after + 1)?;
            let days = UNITS.iter().find(|(name, days)| *name == unit && *days > 0)?.1;
            let total = count.checked_mul(days).filter(|days| (1..4_000).contains(days))?;
            when.day = Some(if days == MONTH { DayOf::ComingMonths(count) } else { DayOf::Coming(total) });
            return Some(last);
        }
        _ => return None,
    }
    Some(last)
}

/// The coming Friday is the next one from today on, the coming week the one after this.
fn coming(line: &Line<'_>, end: usize, when: &mut When) -> Option<usize> {
    let (second, last) = word(line, end + 1)?;
    match (weekday(&second), second.as_str()) {
        (Some(day), _) => when.day = Some(DayOf::Week(None, day)),
        (None, "week") => when.day = Some(DayOf::WholeWeek(1)),
        (None, "weekend") => when.day = Some(DayOf::Weekend(0)),
        (None, "month") => when.month = Some(MonthOf::Away(1)),
        _ => return None,
    }
    Some(last)
}

fn weekday(word: &str) -> Option<u8> {
    WEEKDAYS.iter().position(|day| *day == word).and_then(|at| u8::try_from(at + 1).ok())
}

/// March 15, Mar 15th, 2026.
fn month(line: &Line<'_>, at: usize, first: &str, end: usize, when: &mut When) -> Option<usize> {
    let number = MONTHS
        .iter()
        .position(|month| *month == first)
        .or_else(|| SHORT_MONTHS.iter().position(|month| *month == first))?;
    let day = line.word(end, &[". ", " "]).and_then(|at| ordinal(line, at));
    // "may" and "march" are verbs as well, unless a capital or a day says otherwise.
    if day.is_none() && (!line.char(at).is_ascii_uppercase() || first.len() < 4) {
        return None;
    }
    when.month = Some(MonthOf::Number(u8::try_from(number + 1).ok()?));
    let mut last = end;
    if let Some((day, after)) = day {
        when.day = Some(DayOf::OfMonth(day));
        last = after;
    }
    Some(year(line, last, when).unwrap_or(last))
}

fn year(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let start = line.word(at, &[", ", " "])?;
    let (year, end) = digits(line, start).filter(|(year, end)| (1_900..2_200).contains(year) && *end == start + 4)?;
    when.year = Some(YearOf::Number(i32::try_from(year).ok()?));
    Some(end)
}

/// 15 March.
fn day_month(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let (day, end) = ordinal(line, at)?;
    let (name, last) = word(line, line.word(end, &[" of ", " "])?)?;
    let number = MONTHS
        .iter()
        .position(|month| *month == name)
        .or_else(|| SHORT_MONTHS.iter().position(|month| *month == name))?;
    when.month = Some(MonthOf::Number(u8::try_from(number + 1).ok()?));
    when.day = Some(DayOf::OfMonth(day));
    Some(year(line, last, when).unwrap_or(last))
}

fn ordinal(line: &Line<'_>, at: usize) -> Option<(u8, usize)> {
    let (day, after) = digits(line, at)?;
    let day = u8::try_from(day).ok().filter(|day| (1..=31).contains(day))?;
    let end = line.word(after, &["st", "nd", "rd", "th"]).unwrap_or(after);
    (!line.char(end).is_alphanumeric() && line.char(end) != ':').then_some((day, end))
}

/// 9:30 am, 5pm, 17:45.
fn clock(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let (hour, mut end) = digits(line, at)?;
    let mut minute = 0;
    let mut told = false;
    if line.char(end) == ':' {
        let (value, after) = digits(line, end + 1).filter(|(_, after)| *after == end + 3)?;
        (minute, end, told) = (value, after, true);
    }
    let rest = line.rest(end).trim_start().get(..4).unwrap_or(line.rest(end).trim_start()).to_ascii_lowercase();
    let blank = usize::from(line.char(end) == ' ');
    let half = [("a.m.", 4), ("p.m.", 4), ("am", 2), ("pm", 2), ("o'cl", 7)]
        .into_iter()
        .find(|(mark, _)| rest.starts_with(mark));
    let mut hour = hour;
    if let Some((mark, chars)) = half.filter(|(_, chars)| !line.char(end + blank + chars).is_alphanumeric()) {
        (end, told) = (end + blank + chars, true);
        match (mark.starts_with('p'), hour) {
            (true, 1..=11) => hour += 12,
            (false, 12) if mark.starts_with('a') => hour = 0,
            _ => {}
        }
    }
    if !told {
        return None;
    }
    when.clock = Some(Clock::new(u8::try_from(hour).ok()?, u8::try_from(minute).ok()?)?);
    Some(end.min(line.len()))
}

/// in 20 minutes, 3 days from now, 2 weeks later.
fn later(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let led = line.word_before(at, at.saturating_sub(3), &["in ", "In "]).is_some();
    let (count, after) = number(line, at)?;
    let (unit, end) = word(line, after + 1)?;
    let days = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    let tail = line.word(end, &[" from now", " later", " from today"]);
    let end = if led { tail.or(Some(end)) } else { tail }?;
    if days == 0 {
        when.vague = true;
    } else if days == MONTH {
        when.day = Some(DayOf::MonthsAway(Some(count).filter(|months| *months < 1_200)?));
    } else {
        when.day = Some(DayOf::Away(count.checked_mul(days).filter(|days| *days < 40_000)?));
    }
    Some(end)
}
