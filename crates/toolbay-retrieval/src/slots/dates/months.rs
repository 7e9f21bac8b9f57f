//! Words that name a year, a month, or a day of a month.

use super::calendar::Clock;
use super::meaning::{DayOf, MonthOf, When, YearOf};
use super::numbers;
use crate::slots::line::Line;

const YEARS: &[(&str, i32)] = &[("今年", 0), ("明年", 1), ("后年", 2), ("去年", -1), ("前年", -2), ("本年", 0)];
const MONTHS: &[(&str, i64)] = &[
    ("这个月", 0),
    ("这月", 0),
    ("本月", 0),
    ("当月", 0),
    ("下个月", 1),
    ("下月", 1),
    ("下下个月", 2),
    ("上个月", -1),
    ("上月", -1),
    ("上上个月", -2),
];

/// A piece that names a year, a month or a day of a month.
pub(super) fn piece(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    year(line, at, when)
        .or_else(|| month(line, at, when))
        .or_else(|| of_month(line, at, when))
        .or_else(|| iso(line, at, when))
}

fn year(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let rest = line.rest(at);
    if let Some((word, years)) = YEARS.iter().find(|(word, _)| rest.starts_with(word)) {
        when.year = Some(YearOf::Away(*years));
        return Some(at + word.chars().count());
    }
    let (number, after) = numbers::spelled(line, at).or_else(|| numbers::digits(line, at))?;
    let end = line.word(after, &["年"])?;
    // Two digits are a year only where a month follows.
    let number = match number {
        1_000..=9_999 => number,
        0..=99 if after == at + 2 && month(line, end, &mut When::default()).is_some() => 2_000 + number,
        _ => return None,
    };
    when.year = Some(YearOf::Number(i32::try_from(number).ok()?));
    Some(line.word(end, &["度"]).unwrap_or(end))
}

fn month(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let rest = line.rest(at);
    if let Some((word, months)) = MONTHS.iter().find(|(word, _)| rest.starts_with(word)) {
        when.month = Some(MonthOf::Away(*months));
        let end = at + word.chars().count();
        return Some(within_month(line, end, when));
    }
    let (number, after) = numbers::number(line, at)?;
    let end = line.word(after, &["月份", "月"])?;
    let number = u8::try_from(number).ok().filter(|number| (1..=12).contains(number))?;
    when.month = Some(MonthOf::Number(number));
    // 8月15: the day without its word.
    if let Some((day, last)) = numbers::number(line, end).filter(|_| line.char(end - 1) == '月') {
        let day = u8::try_from(day).ok().filter(|day| (1..=31).contains(day));
        if let Some(day) =
            day.filter(|_| !line.is(last, &["点", "时", ":", "：", "个", "天", "月", "年", "元", "块", "分", "号线"]))
        {
            when.day = Some(DayOf::OfMonth(day));
            return Some(line.word(last, &["日", "号"]).unwrap_or(last));
        }
    }
    Some(within_month(line, end, when))
}

/// 7月初, 这个月底: a part of a month has no fixed days.
fn within_month(line: &Line<'_>, end: usize, when: &mut When) -> usize {
    let part = line.word(end, &["初", "底", "末", "上旬", "中旬", "下旬"]);
    when.vague |= part.is_some();
    part.unwrap_or(end)
}

fn of_month(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    const NO_DAY: &[&str] = &[
        "线", "楼", "院", "门", "馆", "店", "机", "航站", "公寓", "库", "仓", "站", "桌", "码", "车", "游", "元",
        "选手", "文件", "令", "称", "召",
    ];
    let (number, after) = numbers::number(line, at)?;
    let end = line.word(after, &["日", "号"])?;
    let day = u8::try_from(number).ok().filter(|day| (1..=31).contains(day))?;
    if line.is(end, NO_DAY) || matches!(line.before(at), '第' | '路' | '街' | '道' | '弄' | '巷') {
        return None;
    }
    when.day = Some(DayOf::OfMonth(day));
    Some(end)
}

/// 2026-03-15 and 2026/3/15.
fn iso(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    if line.before(at).is_ascii_digit() {
        return None;
    }
    let (year, after) = numbers::digits(line, at).filter(|(year, after)| *after == at + 4 && *year > 1_000)?;
    let mark = line.char(after);
    let (month, next) = numbers::digits(line, after + 1).filter(|_| matches!(mark, '-' | '/' | '.'))?;
    let (day, end) = numbers::digits(line, next + 1).filter(|_| line.char(next) == mark)?;
    let month = u8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    let day = u8::try_from(day).ok().filter(|day| (1..=31).contains(day))?;
    when.year = Some(YearOf::Number(i32::try_from(year).ok()?));
    when.month = Some(MonthOf::Number(month));
    when.day = Some(DayOf::OfMonth(day));
    Some(stamp(line, end, when).unwrap_or(end))
}

/// The rest of a time stamp: T15:30, T15:30:00Z, T15:30:00+08:00. What is said of the zone stays in the words.
fn stamp(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let two = |at: usize| numbers::digits(line, at).filter(|(_, after)| *after == at + 2);
    let (hour, after) = two(at + 1).filter(|_| line.char(at) == 'T')?;
    let (minute, mut end) = two(after + 1).filter(|_| line.char(after) == ':')?;
    when.clock = Some(Clock::new(u8::try_from(hour).ok()?, u8::try_from(minute).ok()?)?);
    if let Some((_, after)) = two(end + 1).filter(|_| line.char(end) == ':') {
        end = after;
        if let Some((_, after)) = numbers::digits(line, end + 1).filter(|_| line.char(end) == '.') {
            end = after;
        }
    }
    let zone = two(end + 1).filter(|_| matches!(line.char(end), '+' | '-'));
    let zone = zone.and_then(|(_, after)| two(after + 1).filter(|_| line.char(after) == ':'));
    Some(zone.map_or_else(|| line.word(end, &["Z"]).unwrap_or(end), |(_, after)| after))
}
