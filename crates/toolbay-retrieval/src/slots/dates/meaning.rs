//! What the words of a date mean on a given day.

use super::calendar::{Clock, Day};
use super::feasts;
use crate::slots::slot::Normal;

/// What the words of one date say, put together piece by piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::slots) struct When {
    pub(in crate::slots) day: Option<DayOf>,
    pub(in crate::slots) year: Option<YearOf>,
    pub(in crate::slots) month: Option<MonthOf>,
    pub(in crate::slots) part: Option<Part>,
    pub(in crate::slots) clock: Option<Clock>,
    /// Every day, every week: it has no one day.
    pub(in crate::slots) again: bool,
    /// Something was said that has no fixed meaning.
    pub(in crate::slots) vague: bool,
}

/// How a day was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slots) enum DayOf {
    /// So many days from now.
    Away(i64),
    /// A day of a week that is so many weeks away; `None` where only the weekday was named.
    Week(Option<i64>, u8),
    /// A whole week, so many weeks away.
    WholeWeek(i64),
    /// The weekend, so many weeks away.
    Weekend(i64),
    /// A day of the month.
    OfMonth(u8),
    /// A feast, by its row in the table.
    Feast(usize),
    /// From today on, so many days.
    Coming(i64),
    /// So many months from now, on the same day of the month or the last one before it.
    MonthsAway(i64),
    /// From today on, so many months.
    ComingMonths(i64),
    /// So many days after the end of a feast, or, where that is less than none, before its begin.
    Around(usize, i64),
}

/// How a year was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slots) enum YearOf {
    /// By its number.
    Number(i32),
    /// So many years from now.
    Away(i32),
}

/// How a month was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slots) enum MonthOf {
    /// By its number.
    Number(u8),
    /// So many months from now.
    Away(i64),
}

/// A part of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slots) enum Part {
    /// From midnight to dawn.
    Early,
    Morning,
    Noon,
    Afternoon,
    Evening,
    /// From late in the evening to dawn.
    Night,
}

impl When {
    /// Whether it names a day of the week and no time.
    pub(in crate::slots) fn is_weekday(&self) -> bool {
        matches!(self.day, Some(DayOf::Week(..))) && self.clock.is_none()
    }

    /// Whether it names a day of a month and no year.
    pub(in crate::slots) fn is_yearless(&self) -> bool {
        matches!(self.day, Some(DayOf::OfMonth(_))) && self.year.is_none()
    }

    /// The other end of a stretch that begins so: what it does not say is as it is there.
    pub(in crate::slots) fn inherits(&mut self, begin: &Self) {
        let bare = self.day.is_none() && self.month.is_none() && self.year.is_none();
        if bare && self.clock.is_some() {
            (self.day, self.month, self.year) = (begin.day, begin.month, begin.year);
            // 上午十点到两点 ends in the afternoon, 晚上十点到两点 after midnight.
            let earlier = self.clock.zip(begin.clock).is_some_and(|(end, begin)| end < begin);
            let part = if begin.part == Some(Part::Morning) && earlier { Some(Part::Afternoon) } else { begin.part };
            // 晚上十点到两点: the day after is counted by the stretch.
            self.part = self.part.or(part);
            return;
        }
        match (self.day, begin.day) {
            (Some(DayOf::OfMonth(_)), _) if self.month.is_none() => self.month = begin.month,
            (Some(DayOf::Week(None, day)), Some(DayOf::Week(Some(weeks), _))) => {
                self.day = Some(DayOf::Week(Some(weeks), day));
            }
            _ => {}
        }
        self.year = self.year.or(begin.year);
    }
}

/// What is meant, as far as it can be said.
pub(in crate::slots) fn meaning(when: &When, today: Option<Day>) -> Option<Normal> {
    let (clock, shift) = when.clock.map(|clock| on_the_day(clock, when.part)).unzip();
    if when.vague {
        return None;
    }
    if when.again {
        return clock.map(Normal::Clock);
    }
    let days = today.or_else(|| full_date_needs_no_today(when)).and_then(|today| days(when, today));
    match (days, clock) {
        (Some((first, last)), Some(clock)) if first == last => {
            Some(Normal::Moment(first.plus(shift.unwrap_or_default())?, clock))
        }
        (Some((first, last)), _) if first == last => Some(Normal::Day(first)),
        (Some((first, last)), None) => Some(Normal::Days(first, last)),
        (Some(_), Some(_)) => None,
        (None, Some(clock)) => (when.day.is_none() && when.month.is_none()).then_some(Normal::Clock(clock)),
        (None, None) => None,
    }
}

/// A date with year, month and day means the same on every day.
fn full_date_needs_no_today(when: &When) -> Option<Day> {
    match (when.year, when.month) {
        (Some(YearOf::Number(year)), Some(MonthOf::Number(month))) => Day::new(year, month, 1),
        _ => None,
    }
}

/// What the clock shows, and how many days after the one that was named.
fn on_the_day(clock: Clock, part: Option<Part>) -> (Clock, i64) {
    // The midnight of an evening is the one that ends it, and 晚上一点 comes after that.
    let shift = match (part, clock.hour()) {
        (Some(Part::Evening), 0..=4 | 12) | (Some(Part::Night), 0 | 12) => 1,
        _ => 0,
    };
    let hour = match (part, clock.hour()) {
        (Some(Part::Afternoon), hour @ 1..=11) => hour + 12,
        (Some(Part::Noon), hour @ 1..=3) => hour + 12,
        // 晚上两点 and three at night are after midnight.
        (Some(Part::Evening), hour @ 5..=11) | (Some(Part::Night), hour @ 6..=11) => hour + 12,
        (Some(Part::Evening | Part::Night | Part::Early), 12) => 0,
        (_, hour) => hour,
    };
    (Clock::new(hour, clock.minute()).unwrap_or(clock), shift)
}

fn days(when: &When, today: Day) -> Option<(Day, Day)> {
    let one = |day: Option<Day>| day.map(|day| (day, day));
    let monday = today.plus(1 - i64::from(today.weekday()))?;
    match when.day {
        Some(DayOf::Away(days)) => one(today.plus(days)),
        Some(DayOf::Week(Some(weeks), day)) => one(monday.plus(7 * weeks + i64::from(day) - 1)),
        Some(DayOf::Week(None, day)) => {
            let ahead = (i64::from(day) - i64::from(today.weekday())).rem_euclid(7);
            one(today.plus(ahead))
        }
        Some(DayOf::WholeWeek(weeks)) => Some((monday.plus(7 * weeks)?, monday.plus(7 * weeks + 6)?)),
        Some(DayOf::Weekend(weeks)) => Some((monday.plus(7 * weeks + 5)?, monday.plus(7 * weeks + 6)?)),
        Some(DayOf::Coming(days)) => Some((today, today.plus(days - 1)?)),
        Some(DayOf::MonthsAway(months)) => one(today.months_later(months)),
        Some(DayOf::ComingMonths(months)) => Some((today, today.months_later(months)?.plus(-1)?)),
        Some(DayOf::Around(row, days)) => {
            let (first, last) = feasts::days(row, year(when, today), when.year.is_some(), today)?;
            one(if days < 0 { first.plus(days) } else { last.plus(days) })
        }
        Some(DayOf::OfMonth(day)) => one(of_month(when, day, today)),
        Some(DayOf::Feast(row)) => feasts::days(row, year(when, today), when.year.is_some(), today),
        None => whole_month(when, today),
    }
}

fn year(when: &When, today: Day) -> i32 {
    match when.year {
        Some(YearOf::Number(year)) => year,
        Some(YearOf::Away(years)) => today.year().saturating_add(years),
        None => today.year(),
    }
}

/// A day of a month; where no year was said, the next such day that has not gone by.
fn of_month(when: &When, day: u8, today: Day) -> Option<Day> {
    match when.month {
        Some(MonthOf::Away(months)) => {
            let first = today.month_away(months)?;
            Day::new(first.year(), first.month(), day)
        }
        Some(MonthOf::Number(month)) => {
            let named = Day::new(year(when, today), month, day);
            match named {
                Some(named) if when.year.is_none() && named < today => Day::new(today.year() + 1, month, day),
                Some(named) => Some(named),
                None if when.year.is_none() => (1..=8).find_map(|years| Day::new(today.year() + years, month, day)),
                None => None,
            }
        }
        None => (0..=12).find_map(|months| {
            let first = today.month_away(months)?;
            Day::new(first.year(), first.month(), day).filter(|found| *found >= today)
        }),
    }
}

fn whole_month(when: &When, today: Day) -> Option<(Day, Day)> {
    let first = match (when.month, when.year) {
        (Some(MonthOf::Away(months)), _) => today.month_away(months)?,
        (Some(MonthOf::Number(month)), said) => {
            let first = Day::new(year(when, today), month, 1)?;
            let gone = said.is_none() && first.last_of_month() < today;
            if gone { Day::new(today.year() + 1, month, 1)? } else { first }
        }
        (None, Some(_)) => return Some((Day::new(year(when, today), 1, 1)?, Day::new(year(when, today), 12, 31)?)),
        // A part of the day alone is today's.
        (None, None) => return (when.part.is_some() && when.clock.is_none()).then_some((today, today)),
    };
    Some((first, first.last_of_month()))
}
