//! How pieces make a date: one after the other, and two of them a stretch.

use super::meaning::When;
use super::{clocks, days};
use crate::slots::english;
use crate::slots::line::{Line, is_mark};

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
        let dated = if line.is_chinese() { event(line, at).or_else(|| date(line, at)) } else { english_date(line, at) };
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

/// 开会前十五分钟: so long before or after something.
fn event(line: &Line<'_>, at: usize) -> Option<Dated> {
    const WIDEST: usize = 10;
    const UNITS: &[&str] = &["个小时", "小时", "分钟", "刻钟", "天", "周", "个星期", "秒"];
    let led = line.char(at) == '在' && !matches!(line.before(at), '现' | '正' | '存' | '实' | '所');
    let named = if led { at + 1 } else { at };
    if !led
        && (at > 0 && !is_mark(line.before(at)) && line.word_before(at, at.saturating_sub(3), &["提醒我"]).is_none())
    {
        return None;
    }
    let turn = (named + 2..named + WIDEST).find(|at| matches!(line.char(*at), '前' | '后'))?;
    let (_, after) = super::number(line, turn + 1)?;
    let end = line.word(after, UNITS)?;
    let plain = !line.contains(named..turn, &["我", "你", "提醒", "闹钟", "设", "，", ","]);
    plain.then_some(Dated { start: at, end, when: When { vague: true, ..When::default() }, until: None })
}

/// A date among English words; dates in digits alone are the same everywhere.
fn english_date(line: &Line<'_>, at: usize) -> Option<Dated> {
    let digits = || date(line, at).filter(|dated| dated.end - dated.start >= 8 && line.char(at).is_ascii_digit());
    digits().or_else(|| english::dates::date(line, at))
}

/// A date and, where one follows, the date until which it lasts.
fn lengthen(line: &Line<'_>, dated: &mut Dated, last: Option<&Dated>) {
    if let Some(end) = line.word(dated.end, &["起", "开始"]).filter(|_| line.is(dated.start.wrapping_sub(1), FROM)) {
        (dated.start, dated.end) = (dated.start - 1, end);
    }
    let Some(until) = other_end(line, dated) else { return };
    dated.end = until.end;
    let mut other = until.when;
    other.inherits(&dated.when);
    dated.until = Some(other);
    let floor = last.map_or(0, |last| last.end);
    if let Some(from) = line.word_before(dated.start, floor, FROM) {
        dated.start = from;
    }
    if let Some(more) = date(line, dated.end).filter(|_| line.is_chinese()) {
        dated.end = more.end;
        dated.when.again |= more.when.again;
        dated.when.clock = dated.when.clock.or(more.when.clock);
        dated.when.vague = true;
    }
}

/// The date until which one lasts, where it follows.
fn other_end(line: &Line<'_>, dated: &Dated) -> Option<Dated> {
    match line.is_chinese() {
        true => line.word(dated.end, UNTIL).and_then(|after| date(line, after)),
        false => {
            let after = line.word(dated.end, english::dates::UNTIL)?;
            english_date(line, after).or_else(|| english::dates::bare_day(line, after, &dated.when))
        }
    }
}

/// The longest row of pieces that begins here.
fn date(line: &Line<'_>, at: usize) -> Option<Dated> {
    let mut when = When::default();
    let mut end = piece(line, at, at, &mut when)?;
    loop {
        let joint = match line.char(end) {
            '的' | ' ' => end + 1,
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
    let wish = line.is(end, &["愉快", "快乐", "安康"]);
    (!often && !wish).then_some(Dated { start: at, end, when, until: None })
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
