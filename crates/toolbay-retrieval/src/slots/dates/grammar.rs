//! How pieces make a date: one after the other, and two of them a stretch.

use super::meaning::When;
use super::{clocks, days};
use crate::slots::english;
use crate::slots::line::Line;

/// A date in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slots) struct Dated {
    pub(in crate::slots) start: usize,
    pub(in crate::slots) end: usize,
    pub(in crate::slots) when: When,
    /// The other end of a stretch.
    pub(in crate::slots) until: Option<When>,
}

/// What joins two dates to a stretch.
const UNTIL: &[&str] = &["到", "至", "-", "~", "～", "—"];
/// The time at which something is said.
const SAME: &[&str] = &["这个时候", "这个时间", "这时候", "同一时间", "的这个时候", "的这个时间"];
/// What begins a stretch.
const FROM: &[&str] = &["从", "自"];
/// What looks like a date and is not.
const NEVER: &[&str] = &[
    "今日头条",
    "明日之后",
    "明日方舟",
    "后天性",
    "周日报",
    "七月天",
    "八月长安",
    "五月天",
    "五一广场",
    "五一路",
    "九月九",
];

/// The dates of a request, in order.
pub(in crate::slots) fn find(line: &Line<'_>) -> Vec<Dated> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if let Some(end) = line.word(at, NEVER) {
            at = end;
            continue;
        }
        let dated = if line.is_chinese() { date(line, at) } else { english_date(line, at) };
        let Some(mut dated) = dated else {
            at += 1;
            continue;
        };
        lengthen(line, &mut dated, found.last());
        at = dated.end;
        found.push(dated);
    }
    found
}

/// A date among English words; dates in digits alone are the same everywhere.
fn english_date(line: &Line<'_>, at: usize) -> Option<Dated> {
    let digits = || date(line, at).filter(|dated| dated.end - dated.start >= 8 && line.char(at).is_ascii_digit());
    digits().or_else(|| english::dates::date(line, at))
}

/// A date and, where one follows, the date until which it lasts.
fn lengthen(line: &Line<'_>, dated: &mut Dated, last: Option<&Dated>) {
    let Some(until) = line.word(dated.end, UNTIL).and_then(|after| date(line, after)) else { return };
    dated.end = until.end;
    dated.until = Some(until.when);
    let floor = last.map_or(0, |last| last.end);
    if let Some(from) = line.word_before(dated.start, floor, FROM) {
        dated.start = from;
    }
    if let Some(more) = date(line, dated.end) {
        dated.end = more.end;
        dated.when.again |= more.when.again;
        dated.when.clock = dated.when.clock.or(more.when.clock);
        dated.when.vague = true;
    }
}

/// The longest row of pieces that begins here.
fn date(line: &Line<'_>, at: usize) -> Option<Dated> {
    let mut when = When::default();
    let mut end = piece(line, at, at, &mut when)?;
    loop {
        let joint = match line.char(end) {
            '的' | ' ' | '，' if end + 1 < line.len() && line.char(end) != '，' => end + 1,
            _ => end,
        };
        let mut longer = when;
        match piece(line, joint, at, &mut longer) {
            Some(next) if next > joint => (end, when) = (next, longer),
            _ => break,
        }
    }
    if let Some(after) = line.word(end, SAME) {
        (end, when.vague) = (after, true);
    }
    // 二十分钟内每分钟响一次 says how often, not when.
    let often = when.vague && line.is(end, &["每"]);
    (!often).then_some(Dated { start: at, end, when, until: None })
}

/// One piece: a day, or a time of day.
fn piece(line: &Line<'_>, at: usize, start: usize, when: &mut When) -> Option<usize> {
    // The tail of a number is no number.
    let torn = at == start && at > 0 && super::number(line, at).is_some() && super::number(line, at - 1).is_some();
    if at >= line.len() || torn {
        return None;
    }
    days::piece(line, at, when).or_else(|| clocks::piece(line, at, start, when))
}
