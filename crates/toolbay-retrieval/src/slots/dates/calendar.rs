//! Days and times of day, and the little arithmetic they need.

use std::fmt;

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day {
    year: i32,
    month: u8,
    day: u8,
}

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clock {
    hour: u8,
    minute: u8,
}

impl Day {
    /// A day, if there is such a day; years from 1 to 9999.
    #[must_use]
    pub fn new(year: i32, month: u8, day: u8) -> Option<Self> {
        let real =
            (1..=9999).contains(&year) && (1..=12).contains(&month) && day >= 1 && day <= month_days(year, month);
        real.then_some(Self { year, month, day })
    }

    /// The day so many days after 1970-01-01.
    #[must_use]
    pub fn from_unix(days: i64) -> Option<Self> {
        let shifted = days.checked_add(719_468)?;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let day = u8::try_from(of_year - (153 * shifted_month + 2) / 5 + 1).ok()?;
        let month = u8::try_from(if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 }).ok()?;
        let year = i32::try_from(year_of_era + era * 400 + i64::from(month <= 2)).ok()?;
        Self::new(year, month, day)
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub fn unix(self) -> i64 {
        let year = i64::from(self.year) - i64::from(self.month <= 2);
        let month = i64::from(self.month);
        let shifted_month = if month > 2 { month - 3 } else { month + 9 };
        let of_year = (153 * shifted_month + 2) / 5 + i64::from(self.day) - 1;
        let of_era = year.rem_euclid(400) * 365 + year.rem_euclid(400) / 4 - year.rem_euclid(400) / 100 + of_year;
        year.div_euclid(400) * 146_097 + of_era - 719_468
    }

    /// The year.
    #[must_use]
    pub fn year(self) -> i32 {
        self.year
    }

    /// The month, from 1.
    #[must_use]
    pub fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, from 1.
    #[must_use]
    pub fn day(self) -> u8 {
        self.day
    }

    /// The day of the week, Monday being 1.
    #[must_use]
    pub fn weekday(self) -> u8 {
        u8::try_from((self.unix() + 3).rem_euclid(7) + 1).expect("a remainder of seven fits")
    }

    pub(in crate::slots) fn plus(self, days: i64) -> Option<Self> {
        Self::from_unix(self.unix().checked_add(days)?)
    }

    /// The first day of the month so many months away.
    pub(in crate::slots) fn month_away(self, months: i64) -> Option<Self> {
        let count =
            i64::from(self.year).checked_mul(12)?.checked_add(i64::from(self.month) - 1)?.checked_add(months)?;
        Self::new(i32::try_from(count.div_euclid(12)).ok()?, u8::try_from(count.rem_euclid(12) + 1).ok()?, 1)
    }

    /// The same day of the month so many months away, or the last one of that month where it has none.
    pub(in crate::slots) fn months_later(self, months: i64) -> Option<Self> {
        let first = self.month_away(months)?;
        Self::new(first.year, first.month, self.day.min(month_days(first.year, first.month)))
    }

    pub(in crate::slots) fn last_of_month(self) -> Self {
        Self { day: month_days(self.year, self.month), ..self }
    }
}

impl Clock {
    /// A time of day, if there is such a time; 24:00 is the midnight at the end of a day and reads 00:00.
    #[must_use]
    pub fn new(hour: u8, minute: u8) -> Option<Self> {
        let hour = if hour == 24 && minute == 0 { 0 } else { hour };
        (hour < 24 && minute < 60).then_some(Self { hour, minute })
    }

    /// The hour, from 0 to 23.
    #[must_use]
    pub fn hour(self) -> u8 {
        self.hour
    }

    /// The minute.
    #[must_use]
    pub fn minute(self) -> u8 {
        self.minute
    }
}

impl fmt::Display for Day {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:02}:{:02}", self.hour, self.minute)
    }
}

fn month_days(year: i32, month: u8) -> u8 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_go_there_and_back() {
        for days in (-800_000..2_000_000).step_by(997) {
            if let Some(day) = Day::from_unix(days) {
                assert_eq!(day.unix(), days, "{day}");
            }
        }
        assert_eq!(Day::new(1970, 1, 1).unwrap().unix(), 0);
        assert_eq!(Day::new(2026, 11, 30).unwrap().weekday(), 1);
        assert_eq!(Day::new(2026, 2, 29), None);
        assert_eq!(Day::from_unix(i64::MAX), None);
        assert_eq!(Day::new(2026, 12, 5).unwrap().month_away(1), Day::new(2027, 1, 1));
    }
}
