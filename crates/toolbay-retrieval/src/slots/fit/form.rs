//! A date in the form that a property asks for.

use super::property::Property;
use crate::slots::dates::{Clock, Day};
use crate::slots::slot::{Normal, Slot};

/// Which end of a stretch is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

/// How a property wants its dates.
enum Form {
    /// As they were said.
    Said,
    /// 2026-03-15.
    Day,
    /// 20260315.
    Digits,
    /// 15:30.
    Clock,
    /// 2026-03-15 15:30, with what stands between and after.
    Both(&'static str, &'static str),
    /// A time with a zone, which no request names.
    Zoned,
}

/// A date as the property asks for it; nothing where the words do not say as much.
pub(super) fn date(property: &Property<'_>, slot: &Slot, end: End) -> Option<String> {
    let (day, clock) = parts(slot.normal, end);
    match form(property) {
        Form::Said => match (end, slot.normal) {
            (End::Last, Some(Normal::Days(_, last))) => Some(last.to_string()),
            (End::First, Some(Normal::Days(first, _))) if is_stretch(property) => Some(first.to_string()),
            (End::Last, Some(Normal::Clocks(_, last))) => Some(last.to_string()),
            (End::First, Some(Normal::Clocks(first, _))) if is_stretch(property) => Some(first.to_string()),
            (End::Last, Some(Normal::Moments(_, (day, clock)))) => Some(format!("{day} {clock}")),
            (End::First, Some(Normal::Moments((day, clock), _))) if is_stretch(property) => {
                Some(format!("{day} {clock}"))
            }
            _ => Some(slot.value.clone()),
        },
        Form::Day => day.map(|day| day.to_string()),
        Form::Digits => day.map(|day| format!("{:04}{:02}{:02}", day.year(), day.month(), day.day())),
        Form::Clock => clock.map(|clock| clock.to_string()),
        Form::Both(between, after) => Some(format!("{}{between}{}{after}", day?, clock?)),
        // A time stamp names its zone.
        Form::Zoned if property.word("format") == Some("date-time") => {
            let mut stamps = slot.value.split_whitespace().filter(|word| is_stamp(word));
            let stamp = if end == End::First { stamps.next() } else { stamps.next_back() };
            stamp.map(str::to_owned)
        }
        Form::Zoned => None,
    }
}

/// Whether words are a time stamp with a zone.
fn is_stamp(words: &str) -> bool {
    let Some((_, clock)) = words.split_once('T') else { return false };
    words.starts_with(|first: char| first.is_ascii_digit()) && (clock.ends_with('Z') || clock.contains(['+', '-']))
}

fn is_stretch(property: &Property<'_>) -> bool {
    matches!(super::role::role(property), Some(super::role::Role::Since | super::role::Role::Until))
}

fn parts(normal: Option<Normal>, end: End) -> (Option<Day>, Option<Clock>) {
    match normal {
        Some(Normal::Day(day)) => (Some(day), None),
        Some(Normal::Clock(clock)) => (None, Some(clock)),
        Some(Normal::Moment(day, clock)) => (Some(day), Some(clock)),
        Some(Normal::Days(first, last)) => (Some(if end == End::First { first } else { last }), None),
        Some(Normal::Clocks(first, last)) => (None, Some(if end == End::First { first } else { last })),
        Some(Normal::Moments(first, last)) => {
            let (day, clock) = if end == End::First { first } else { last };
            (Some(day), Some(clock))
        }
        Some(Normal::Number(_)) | None => (None, None),
    }
}

/// What of a date a property wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Day,
    Clock,
    /// Both, or the words.
    Whole,
}

/// What of a date a property wants.
pub(super) fn wanted(property: &Property<'_>) -> Wanted {
    match form(property) {
        Form::Day | Form::Digits => Wanted::Day,
        Form::Clock => Wanted::Clock,
        Form::Said | Form::Both(..) | Form::Zoned => Wanted::Whole,
    }
}

/// Whether one date plainly comes before another begins.
pub(super) fn is_before(one: &Slot, other: &Slot) -> bool {
    let ((day, clock), (then, at)) = (parts(one.normal, End::First), parts(other.normal, End::First));
    match (day.zip(then), clock.zip(at)) {
        (Some((day, then)), Some(clocks)) => (day, clocks.0) < (then, clocks.1),
        (Some((day, then)), None) => day < then,
        (None, Some((clock, at))) => day.is_none() && then.is_none() && clock < at,
        (None, None) => false,
    }
}

fn form(property: &Property<'_>) -> Form {
    match property.word("format") {
        Some("date") => return Form::Day,
        Some("date-time" | "time") => return Form::Zoned,
        _ => {}
    }
    let asked =
        format!("{} {}", property.description.unwrap_or(""), property.word("pattern").unwrap_or("")).to_lowercase();
    let has = |forms: &[&str]| forms.iter().any(|form| asked.contains(form));
    if has(&["yyyy-mm-dd hh:mm:ss"]) {
        Form::Both(" ", ":00")
    } else if has(&["yyyy-mm-ddthh:mm:ss"]) {
        Form::Both("T", ":00")
    } else if has(&["yyyy-mm-dd hh:mm"]) {
        Form::Both(" ", "")
    } else if has(&["yyyy-mm-ddthh:mm"]) {
        Form::Both("T", "")
    } else if has(&[
        "yyyy-mm-dd",
        "iso 8601",
        "iso date",
        "iso-8601",
        "iso8601",
        r"\d{4}-\d{2}-\d{2}",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    ]) {
        Form::Day
    } else if has(&["yyyymmdd", r"\d{8}"]) {
        Form::Digits
    } else if has(&["hh:mm", r"\d{2}:\d{2}"]) {
        Form::Clock
    } else {
        Form::Said
    }
}
