//! Feasts and holidays: those of the solar calendar by rule, those of the lunar one from a table.

use super::calendar::Day;

/// A feast.
struct Feast {
    names: &'static [&'static str],
    on: On,
    /// How many days it lasts.
    lasts: i64,
}

enum On {
    /// Month and day, every year.
    Fixed(u8, u8),
    /// Month and day from 2024 to 2050.
    Moving(&'static [(u8, u8)]),
}

/// The first year of the tables of moving feasts.
const FIRST_YEAR: i32 = 2024;

const FEASTS: &[Feast] = &[
    Feast { names: &["元旦", "元旦节"], on: On::Fixed(1, 1), lasts: 1 },
    Feast { names: &["情人节"], on: On::Fixed(2, 14), lasts: 1 },
    Feast { names: &["妇女节", "三八节"], on: On::Fixed(3, 8), lasts: 1 },
    Feast { names: &["五一", "五一节", "劳动节", "五一劳动节"], on: On::Fixed(5, 1), lasts: 5 },
    Feast { names: &["儿童节", "六一儿童节"], on: On::Fixed(6, 1), lasts: 1 },
    Feast { names: &["国庆", "国庆节"], on: On::Fixed(10, 1), lasts: 7 },
    Feast { names: &["双十一", "光棍节"], on: On::Fixed(11, 11), lasts: 1 },
    Feast { names: &["平安夜"], on: On::Fixed(12, 24), lasts: 1 },
    Feast { names: &["圣诞", "圣诞节"], on: On::Fixed(12, 25), lasts: 1 },
    Feast {
        names: &["清明", "清明节"],
        on: On::Moving(&[(4, 4), (4, 4), (4, 5), (4, 5), (4, 4), (4, 4), (4, 5), (4, 5), (4, 4), (4, 4), (4, 5), (4, 5), (4, 4), (4, 4), (4, 5), (4, 5), (4, 4), (4, 4), (4, 4), (4, 5), (4, 4), (4, 4), (4, 4), (4, 5), (4, 4), (4, 4), (4, 4)]),
        lasts: 1,
    },
    Feast {
        names: &["除夕", "大年三十", "年三十"],
        on: On::Moving(&[(2, 9), (1, 28), (2, 16), (2, 5), (1, 25), (2, 12), (2, 2), (1, 22), (2, 10), (1, 30), (2, 18), (2, 7), (1, 27), (2, 14), (2, 3), (1, 23), (2, 11), (1, 31), (1, 21), (2, 9), (1, 29), (2, 16), (2, 5), (1, 25), (2, 13), (2, 1), (1, 22)]),
        lasts: 1,
    },
    Feast {
        names: &["春节", "大年初一"],
        on: On::Moving(&[(2, 10), (1, 29), (2, 17), (2, 6), (1, 26), (2, 13), (2, 3), (1, 23), (2, 11), (1, 31), (2, 19), (2, 8), (1, 28), (2, 15), (2, 4), (1, 24), (2, 12), (2, 1), (1, 22), (2, 10), (1, 30), (2, 17), (2, 6), (1, 26), (2, 14), (2, 2), (1, 23)]),
        lasts: 7,
    },
    Feast {
        names: &["元宵", "元宵节"],
        on: On::Moving(&[(2, 24), (2, 12), (3, 3), (2, 20), (2, 9), (2, 27), (2, 17), (2, 6), (2, 25), (2, 14), (3, 5), (2, 22), (2, 11), (3, 1), (2, 18), (2, 7), (2, 26), (2, 15), (2, 5), (2, 24), (2, 13), (3, 3), (2, 20), (2, 9), (2, 28), (2, 16), (2, 6)]),
        lasts: 1,
    },
    Feast {
        names: &["端午", "端午节"],
        on: On::Moving(&[(6, 10), (5, 31), (6, 19), (6, 9), (5, 28), (6, 16), (6, 5), (6, 24), (6, 12), (6, 1), (6, 20), (6, 10), (5, 30), (6, 18), (6, 7), (5, 27), (6, 14), (6, 3), (6, 22), (6, 11), (5, 31), (6, 19), (6, 8), (5, 29), (6, 15), (6, 4), (6, 23)]),
        lasts: 1,
    },
    Feast {
        names: &["七夕", "七夕节"],
        on: On::Moving(&[(8, 10), (8, 29), (8, 19), (8, 8), (8, 26), (8, 16), (8, 5), (8, 24), (8, 12), (8, 1), (8, 20), (8, 10), (8, 28), (8, 17), (8, 7), (8, 26), (8, 14), (8, 3), (8, 22), (8, 11), (7, 31), (8, 19), (8, 8), (8, 27), (8, 16), (8, 5), (8, 23)]),
        lasts: 1,
    },
    Feast {
        names: &["中秋", "中秋节"],
        on: On::Moving(&[(9, 17), (10, 6), (9, 25), (9, 15), (10, 3), (9, 22), (9, 12), (10, 1), (9, 19), (9, 8), (9, 27), (9, 16), (10, 4), (9, 24), (9, 13), (10, 2), (9, 20), (9, 10), (9, 28), (9, 17), (10, 5), (9, 25), (9, 15), (10, 4), (9, 22), (9, 11), (9, 30)]),
        lasts: 1,
    },
    Feast {
        names: &["重阳", "重阳节"],
        on: On::Moving(&[(10, 11), (10, 29), (10, 18), (10, 8), (10, 26), (10, 16), (10, 5), (10, 24), (10, 12), (10, 1), (10, 20), (10, 9), (10, 27), (10, 17), (10, 7), (10, 26), (10, 14), (10, 3), (10, 22), (10, 11), (10, 29), (10, 18), (10, 8), (10, 27), (10, 16), (10, 5), (10, 24)]),
        lasts: 1,
    },
];

/// The feast that `rest` begins with: its row and how many characters its name has.
pub(super) fn named(rest: &str) -> Option<(usize, usize)> {
    FEASTS
        .iter()
        .enumerate()
        .flat_map(|(row, feast)| feast.names.iter().map(move |name| (row, *name)))
        .filter(|(_, name)| rest.starts_with(name))
        .map(|(row, name)| (row, name.chars().count()))
        .max_by_key(|(_, chars)| *chars)
}

/// The days of a feast in a year; where no year was said and it is over, those of the next.
pub(super) fn days(row: usize, year: i32, said: bool, today: Day) -> Option<(Day, Day)> {
    let feast = FEASTS.get(row)?;
    let this = span(feast, year);
    match this {
        Some((_, last)) if !said && last < today => span(feast, year + 1),
        this => this,
    }
}

fn span(feast: &Feast, year: i32) -> Option<(Day, Day)> {
    let (month, day) = match feast.on {
        On::Fixed(month, day) => (month, day),
        On::Moving(days) => *days.get(usize::try_from(year.checked_sub(FIRST_YEAR)?).ok()?)?,
    };
    let first = Day::new(year, month, day)?;
    Some((first, first.plus(feast.lasts - 1)?))
}
