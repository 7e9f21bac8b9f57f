//! Numbers as digits (also full-width) and as Chinese numerals.

use crate::slots::line::Line;

/// A number that begins at a character, and where it ends.
pub(in crate::slots) fn number(line: &Line<'_>, at: usize) -> Option<(i64, usize)> {
    digits(line, at).or_else(|| numeral(line, at))
}

/// A number written in digits.
pub(in crate::slots) fn digits(line: &Line<'_>, at: usize) -> Option<(i64, usize)> {
    let mut value: i64 = 0;
    let mut end = at;
    while let Some(digit) = digit(line.char(end)) {
        value = value.checked_mul(10)?.checked_add(digit)?;
        end += 1;
    }
    (end > at).then_some((value, end))
}

/// A row of Chinese digits read one by one, as years are: 二〇二六.
pub(super) fn spelled(line: &Line<'_>, at: usize) -> Option<(i64, usize)> {
    let mut value: i64 = 0;
    let mut end = at;
    while let Some(unit) = unit(line.char(end)).filter(|_| end - at < 4) {
        value = value * 10 + unit;
        end += 1;
    }
    (end == at + 4).then_some((value, end))
}

fn numeral(line: &Line<'_>, at: usize) -> Option<(i64, usize)> {
    let mut total: i64 = 0;
    let mut pending: Option<i64> = None;
    let mut end = at;
    while end - at < 9 {
        let char = line.char(end);
        if let Some(value) = unit(char) {
            // Two digits in a row are not a numeral; a zero only fills a gap.
            if pending.is_some_and(|before| before != 0) {
                break;
            }
            pending = Some(value);
        } else if let Some(scale) = scale(char) {
            total += pending.take().filter(|value| *value != 0).unwrap_or(1) * scale;
        } else {
            break;
        }
        end += 1;
    }
    (end > at).then(|| (total + pending.unwrap_or(0), end))
}

fn digit(char: char) -> Option<i64> {
    match char {
        '0'..='9' => Some(i64::from(char as u32 - '0' as u32)),
        '０'..='９' => Some(i64::from(char as u32 - '０' as u32)),
        _ => None,
    }
}

fn unit(char: char) -> Option<i64> {
    const UNITS: [char; 10] = ['零', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
    match char {
        '〇' => Some(0),
        '两' => Some(2),
        _ => UNITS.iter().position(|unit| *unit == char).and_then(|value| i64::try_from(value).ok()),
    }
}

fn scale(char: char) -> Option<i64> {
    match char {
        '十' => Some(10),
        '百' => Some(100),
        '千' => Some(1_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_are_read_as_far_as_they_go() {
        let check = |text: &str, value: i64, chars: usize| {
            assert_eq!(number(&Line::new(text), 0), Some((value, chars)), "{text}");
        };
        check("三十一日", 31, 3);
        check("十点", 10, 1);
        check("二十", 20, 2);
        check("一百零五", 105, 4);
        check("两点", 2, 1);
        check("２３号", 23, 2);
        check("2026年", 2026, 4);
        assert_eq!(number(&Line::new("天"), 0), None);
        assert_eq!(number(&Line::new("99999999999999999999999"), 0), None);
    }
}
