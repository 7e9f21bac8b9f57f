//! Words that name a time of day, or a time so many minutes away.

use super::calendar::Clock;
use super::meaning::{Part, When};
use super::numbers;
use crate::slots::line::Line;
use crate::slots::words::Words;

const PARTS: &[(&str, Part)] = &[
    ("凌晨", Part::Early),
    ("后半夜", Part::Early),
    ("半夜", Part::Night),
    ("深夜", Part::Night),
    ("午夜", Part::Night),
    ("清晨", Part::Morning),
    ("早晨", Part::Morning),
    ("早上", Part::Morning),
    ("上午", Part::Morning),
    ("中午", Part::Noon),
    ("正午", Part::Noon),
    ("下午", Part::Afternoon),
    ("午后", Part::Afternoon),
    ("傍晚", Part::Evening),
    ("晚上", Part::Evening),
    ("夜里", Part::Night),
    ("夜间", Part::Night),
    ("晚间", Part::Evening),
    ("白天", Part::Morning),
];

/// What makes another word of 点 before it.
static NOT_AFTER: Words = Words::new(include_str!("../words/zh/clocks-not-after.txt"));

/// A piece that names a time of day; `start` is where the date as a whole begins.
pub(super) fn piece(line: &Line<'_>, at: usize, start: usize, when: &mut When) -> Option<usize> {
    part(line, at, when).or_else(|| clock(line, at, start, when)).or_else(|| from_now(line, at, when))
}

fn part(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let rest = line.rest(at);
    let (word, part) = PARTS.iter().find(|(word, _)| rest.starts_with(word))?;
    if line.is(at + 2, &["好", "茶"]) {
        return None;
    }
    when.part = Some(*part);
    let end = at + word.chars().count();
    // 上午615: a time without its word.
    match numbers::digits(line, end) {
        Some((digits, after))
            if (after == end + 3 || after == end + 4) && !line.is(after, &["点", "号", "元", "路", ":", "："]) =>
        {
            set(when, digits / 100, digits % 100).map(|()| after).or(Some(end))
        }
        _ => Some(end),
    }
}

/// 三点半, 17点30分, 6:30, 8时.
fn clock(line: &Line<'_>, at: usize, start: usize, when: &mut When) -> Option<usize> {
    let (hour, after) = numbers::number(line, at)?;
    if !(0..=24).contains(&hour) {
        return None;
    }
    if matches!(line.char(after), ':' | '：') {
        let (minute, end) = numbers::digits(line, after + 1).filter(|(_, end)| *end == after + 3)?;
        set(when, hour, minute)?;
        return Some(line.word(end, &["分"]).unwrap_or(end));
    }
    let end = line.word(after, &["点钟", "点整", "点", "时整", "时"])?;
    let point = line.char(after) == '点';
    if line.is(end, &NOT_AFTER) {
        return None;
    }
    if !point && line.is(end, &["尚", "装", "候", "刻", "速", "事", "代"]) {
        return None;
    }
    let (minute, last) = minutes(line, end);
    // 一点 is "a little" more often than one o'clock.
    let little = line.text(at..end) == "一时"
        || hour == 1 && at == start && last == end && line.char(at) == '一' && !line.text(at..end).ends_with('钟');
    if little {
        return None;
    }
    set(when, hour, minute)?;
    Some(last)
}

fn minutes(line: &Line<'_>, at: usize) -> (i64, usize) {
    if let Some(end) = line.word(at, &["半"]) {
        return (30, end);
    }
    if let Some(end) = line.word(at, &["一刻", "1刻"]) {
        return (15, end);
    }
    if let Some(end) = line.word(at, &["三刻", "3刻"]) {
        return (45, end);
    }
    let zero = line.word(at, &["过", "零", "〇"]).unwrap_or(at);
    match numbers::number(line, zero) {
        Some((minute, after)) if (0..60).contains(&minute) => match line.word(after, &["分"]) {
            Some(end) if !line.is(after, &["分钟"]) => (minute, end),
            _ if minute >= 10 || zero > at => (minute, after),
            _ => (0, at),
        },
        _ => (0, at),
    }
}

fn set(when: &mut When, hour: i64, minute: i64) -> Option<()> {
    // 24点 ends the day.
    if hour == 24 {
        when.part = when.part.or(Some(Part::Night));
    }
    when.clock = Some(Clock::new(u8::try_from(hour).ok()?, u8::try_from(minute).ok()?)?);
    Some(())
}

/// 半小时后, 20分钟之内: the length is said, the time is not worked out, for the present hour is not known here.
fn from_now(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    const UNITS: &[&str] =
        &["个月", "天", "个多小时", "个半小时", "个小时", "小时", "个钟头", "分钟", "刻钟", "秒钟", "秒", "年"];
    let after = line.word(at, &["半"]).or_else(|| numbers::number(line, at).map(|(_, after)| after))?;
    let end = line.word(after, UNITS)?;
    let end = line.word(end, &["之后", "以后", "后", "之内", "以内", "内", "之前", "以前"])?;
    when.vague = true;
    Some(end)
}
