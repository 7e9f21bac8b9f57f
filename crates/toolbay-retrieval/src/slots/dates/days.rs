//! Words that name a day, a week, a month, a year, or a stretch of days.

use super::meaning::{DayOf, Part, When};
use super::{feasts, months, numbers};
use crate::slots::line::Line;
use crate::slots::words::Words;

const AWAY: &[(&str, i64, Option<Part>)] = &[
    ("今天", 0, None),
    ("今日", 0, None),
    ("今儿", 0, None),
    ("今早", 0, Some(Part::Morning)),
    ("今晨", 0, Some(Part::Morning)),
    ("今晚", 0, Some(Part::Evening)),
    ("今夜", 0, Some(Part::Evening)),
    ("当天", 0, None),
    ("明天", 1, None),
    ("明日", 1, None),
    ("明儿", 1, None),
    ("明早", 1, Some(Part::Morning)),
    ("明晨", 1, Some(Part::Morning)),
    ("明晚", 1, Some(Part::Evening)),
    ("次日", 1, None),
    ("大大后天", 4, None),
    ("大后天", 3, None),
    ("后天", 2, None),
    ("后日", 2, None),
    ("后晚", 2, Some(Part::Evening)),
    ("昨天", -1, None),
    ("昨日", -1, None),
    ("昨晚", -1, Some(Part::Evening)),
    ("前天", -2, None),
    ("大前天", -3, None),
];

/// Words for about now, which name no day.
static ABOUT: Words = Words::new(include_str!("../words/zh/days-about.txt"));

/// What follows a word for about now that is not meant as a time.
static NOT_ABOUT: Words = Words::new(include_str!("../words/zh/days-not-about.txt"));

const WEEKS: &[&str] = &["周", "星期", "礼拜"];
static LOOSE: Words = Words::new(include_str!("../words/zh/days-loose.txt"));
const AROUND_FEAST: &[&str] = &["期间", "假期", "长假", "小长假", "前后", "前夕", "当天", "那天", "黄金周"];

/// A piece that names a day or longer.
pub(super) fn piece(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    again(line, at, when)
        .or_else(|| about(line, at, when))
        .or_else(|| away(line, at, when))
        .or_else(|| stretch(line, at, when))
        .or_else(|| week(line, at, when))
        .or_else(|| feast(line, at, when))
        .or_else(|| lunar(line, at, when))
        .or_else(|| months::piece(line, at, when))
        .or_else(|| line.word(at, &LOOSE).inspect(|_| when.vague = true))
}

fn again(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let after = line.word(at, &["每隔", "每"])?;
    if let Some(end) = line.word(after, &["天", "日", "晚", "年", "个月", "月"]) {
        when.again = true;
        return Some(end);
    }
    if let Some(end) = line.word(after, &["个工作日", "工作日", "个周末", "周末"]) {
        when.again = true;
        return Some(end);
    }
    let mut named = When::default();
    let end = week(line, line.word(after, &["个"]).unwrap_or(after), &mut named)
        .or_else(|| line.word(after, &["个星期", "星期", "周"]))?;
    when.again = true;
    Some(end)
}

fn about(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let end = line.word(at, &ABOUT)?;
    if line.is(end, &NOT_ABOUT)
        || is_nearest(line, end)
        || line.is(at.saturating_sub(1), &["离我", "出现在", "实现在"])
        || line.before(at) == '离'
    {
        return None;
    }
    if let Some(longer) = stretch(line, at, when) {
        return Some(longer);
    }
    when.vague = true;
    Some(end)
}

/// 最近的药店 is the nearest one.
fn is_nearest(line: &Line<'_>, end: usize) -> bool {
    const STANDING: &[&str] = &[
        "店",
        "站",
        "所",
        "院",
        "场",
        "馆",
        "行",
        "园",
        "口",
        "厅",
        "厕",
        "吧",
        "超市",
        "局",
        "房",
        "柜员机",
        "取款机",
        "充电桩",
    ];
    let nearest = line.before(end) == '近' && line.char(end) == '的';
    nearest && line.word_before(line.clause(end).end, end, STANDING).is_some()
}

fn away(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let rest = line.rest(at);
    let (word, days, part) =
        AWAY.iter().filter(|(word, ..)| rest.starts_with(word)).max_by_key(|(word, ..)| word.len())?;
    if when.day.is_some() {
        return None;
    }
    when.day = Some(DayOf::Away(*days));
    when.part = when.part.or(*part);
    Some(at + word.chars().count())
}

/// 未来三天, 最近一周, 三天后, 五天以内.
fn stretch(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    const AHEAD: &[&str] = &["未来", "接下来", "今后", "往后", "最近", "近", "过去", "未来的", "接下来的", "最近的"];
    const UNITS: &[(&str, i64)] =
        &[("天", 1), ("日", 1), ("个星期", 7), ("星期", 7), ("个礼拜", 7), ("周", 7), ("个月", 30)];
    const SHORT: &[&str] = &["个小时", "小时", "个钟头", "分钟"];
    let led = line.word(at, AHEAD);
    let begins = led.unwrap_or(at);
    let (count, after) = numbers::number(line, begins)?;
    if let Some(end) = line.word(after, SHORT).filter(|_| led.is_some()) {
        when.vague = true;
        return Some(line.word(end, &["之内", "以内", "内", "里"]).unwrap_or(end));
    }
    let rest = line.rest(after);
    let (unit, days) = UNITS.iter().filter(|(unit, _)| rest.starts_with(unit)).max_by_key(|(unit, _)| unit.len())?;
    let end = after + unit.chars().count();
    let total = count.checked_mul(*days).filter(|total| (1..=4_000).contains(total))?;
    // Months are those of the calendar.
    let months = *unit == "个月";
    let away = |sign: i64| if months { DayOf::MonthsAway(sign * count) } else { DayOf::Away(sign * total) };
    let within = line.word(end, &["之内", "以内", "内", "里"]);
    if let Some(within) = within.or(led.map(|_| end)) {
        when.day = Some(if months { DayOf::ComingMonths(count) } else { DayOf::Coming(total) });
        when.vague |= line.text(at..begins).starts_with("过去") || line.text(at..begins).contains('近');
        return Some(within);
    }
    if let Some(end) = line.word(end, &["之后", "以后", "后"]) {
        when.day = Some(away(1));
        return Some(end);
    }
    let end = line.word(end, &["之前", "以前", "前"])?;
    when.day = Some(away(-1));
    Some(end)
}

fn week(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let (offset, after) = week_offset(line, at);
    let named = line.word(after, WEEKS)?;
    if let Some(end) = line.word(named, &["末"]) {
        when.day = Some(DayOf::Weekend(offset.unwrap_or(0)));
        return Some(end);
    }
    let day = match line.char(named) {
        '日' => Some(7),
        '天' if line.char(named + 1) != '气' => Some(7),
        '1'..='7' if !line.char(named + 1).is_ascii_digit() => u8::try_from(line.char(named) as u32 - '0' as u32).ok(),
        char => ['一', '二', '三', '四', '五', '六'].iter().position(|day| *day == char).map(|day| day as u8 + 1),
    };
    // 一周日程 is no Sunday, and 三周一次 no Monday.
    let counted = offset.is_none() && matches!(line.before(at), '一' | '两' | '几' | '二' | '三' | '四');
    match (day, offset) {
        (Some(day), offset) if !counted && !line.is(named, &["日程", "日报", "天王"]) => {
            when.day = Some(DayOf::Week(offset, day));
            Some(named + 1)
        }
        (_, Some(offset)) => {
            when.day = Some(DayOf::WholeWeek(offset));
            Some(named)
        }
        _ => None,
    }
}

/// 这, 下个, 下下: how many weeks away.
fn week_offset(line: &Line<'_>, at: usize) -> (Option<i64>, usize) {
    const OFFSETS: &[(&str, i64)] = &[
        ("这个", 0),
        ("这", 0),
        ("本", 0),
        ("下下个", 2),
        ("下下", 2),
        ("下个", 1),
        ("下", 1),
        ("上上个", -2),
        ("上上", -2),
        ("上个", -1),
        ("上", -1),
    ];
    let rest = line.rest(at);
    OFFSETS
        .iter()
        .filter(|(word, _)| rest.starts_with(word))
        .max_by_key(|(word, _)| word.len())
        .map_or((None, at), |(word, weeks)| (Some(*weeks), at + word.chars().count()))
}

fn feast(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let (row, chars) = match feasts::named(line.rest(at)) {
        Some(found) => found,
        // 十一 is eleven, but for the holiday.
        None => {
            let end = line.word(at, &["十一期间", "十一假期", "十一长假", "十一黄金周"])?;
            when.day = feasts::named("国庆").map(|(row, _)| DayOf::Feast(row));
            return Some(end);
        }
    };
    let end = at + chars;
    if line.is(end, &["路", "街", "广场", "大道", "晚会", "档"]) {
        return None;
    }
    when.day = Some(DayOf::Feast(row));
    if let Some(end) = line.word(end, &["之后", "以后", "后"]) {
        when.day = Some(DayOf::Around(row, 1));
        return Some(end);
    }
    if let Some(end) = line.word(end, &["之前", "以前", "前"]).filter(|_| !line.is(end, &["前后", "前夕"])) {
        when.day = Some(DayOf::Around(row, -1));
        return Some(end);
    }
    Some(line.word(end, AROUND_FEAST).unwrap_or(end))
}

/// 大年初三, 腊月二十三: days of the lunar calendar, named but not worked out.
fn lunar(line: &Line<'_>, at: usize, when: &mut When) -> Option<usize> {
    let led = line.word(at, &["大年", "正月", "腊月", "农历"])?;
    let first = line.word(led, &["初"]).unwrap_or(led);
    let (_, end) = numbers::number(line, first)?;
    when.vague = true;
    Some(line.word(end, &["日"]).unwrap_or(end))
}
