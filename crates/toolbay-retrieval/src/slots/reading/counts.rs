//! How many of something: 前五条, 3个, 十篇.

use std::ops::Range;

use crate::slots::dates::number;
use crate::slots::line::Line;
use crate::slots::words::Words;

static UNITS: Words = Words::new(include_str!("../words/zh/counts-units.txt"));
const NO_UNITS: &[&str] = &[
    "个月",
    "个小时",
    "个半",
    "个星期",
    "个礼拜",
    "个钟",
    "位数",
    "名字",
    "道路",
    "张家",
    "家人",
    "本书名",
    "个人信息",
    "条路",
];
const LEADS: &[&str] = &["前", "最多", "至少", "不超过", "要", "给我", "来", "列出", "返回", "显示", "推荐"];

/// Numbers of things, with what they are.
pub(super) fn find(line: &Line<'_>) -> Vec<(Range<usize>, i64)> {
    let mut counts = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if let Some(date) = line.date_over(at) {
            at = date.end;
            continue;
        }
        let Some((value, end)) = number(line, at).filter(|_| line.place_over(at).is_none()) else {
            at += 1;
            continue;
        };
        let counted = line.is(end, &UNITS) && !line.is(end, NO_UNITS);
        let led = line.word_before(at, at.saturating_sub(4), LEADS).is_some();
        // One of something is how Chinese says "a".
        let article = value == 1 && !led && line.char(at) == '一';
        if counted && !article && line.before(at) != '第' {
            counts.push((at..end, value));
        }
        at = end;
    }
    counts
}
