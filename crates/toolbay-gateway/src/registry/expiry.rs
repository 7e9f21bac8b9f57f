//! When an entry comes to its end.

use std::{fmt, str::FromStr, time::SystemTime};

use jiff::{Timestamp, ZonedDateTime, civil::DateTime, tz::TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A moment as it was written: with a zone, or as the clock on the wall shows it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry(Written);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    At(Timestamp),
    Local(DateTime),
}

/// A text that is no moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiryError(String);

impl fmt::Display for ExpiryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no time; write it as 2026-04-09T15:30:00 (local time), 2026-04-09T15:30:00Z or null", self.0)
    }
}

impl std::error::Error for ExpiryError {}

impl Expiry {
    /// That moment, or the whole second after it; the end of the calendar where it lies beyond.
    pub fn at(moment: SystemTime) -> Self {
        let at = Timestamp::try_from(moment).unwrap_or(Timestamp::MAX);
        let second = at.as_second() + i64::from(at.subsec_nanosecond() > 0);
        Self(Written::At(Timestamp::from_second(second).unwrap_or(at)))
    }

    /// The moment. What the clock on the wall shows twice counts as the first time, what it skips as the time after.
    pub fn moment(self) -> SystemTime {
        self.moment_in(&TimeZone::system())
    }

    /// The same where this is the zone that the clock on the wall follows.
    pub(super) fn moment_in(self, zone: &TimeZone) -> SystemTime {
        let at = match self.0 {
            Written::At(at) => at,
            Written::Local(local) => zone.to_ambiguous_timestamp(local).compatible().unwrap_or(Timestamp::MAX),
        };
        SystemTime::try_from(at).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// Whether it has come.
    pub fn is_over(self, now: SystemTime) -> bool {
        self.moment() <= now
    }
}

impl FromStr for Expiry {
    type Err = ExpiryError;

    fn from_str(text: &str) -> Result<Self, ExpiryError> {
        let text = text.trim();
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(Self(Written::At(at)));
        }
        if let Ok(zoned) = text.parse::<ZonedDateTime>() {
            return Ok(Self(Written::At(zoned.timestamp())));
        }
        // A zone that cannot be read is no reason to take the local one.
        let local = text.parse::<DateTime>().ok().filter(|_| !text.contains(['[', 'Z', 'z', '+']));
        local.map(|local| Self(Written::Local(local))).ok_or_else(|| ExpiryError(text.chars().take(64).collect()))
    }
}

impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Written::At(at) => at.fmt(f),
            Written::Local(local) => local.fmt(f),
        }
    }
}

impl Serialize for Expiry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Expiry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> TimeZone {
        TimeZone::get(name).unwrap()
    }

    #[test]
    fn a_time_without_a_zone_is_local_time() {
        fn check(text: &str, here: &str, expected: &str) {
            let moment = text.parse::<Expiry>().unwrap().moment_in(&zone(here));
            assert_eq!(Timestamp::try_from(moment).unwrap().to_string(), expected, "{text} in {here}");
        }
        check("2026-04-09T15:30:00", "Asia/Shanghai", "2026-04-09T07:30:00Z");
        check("2026-04-09 15:30", "UTC", "2026-04-09T15:30:00Z");
        check("2026-04-09", "UTC", "2026-04-09T00:00:00Z");
        check("2026-04-09T15:30:00Z", "Asia/Shanghai", "2026-04-09T15:30:00Z");
        check("2026-04-09T15:30:00+02:00", "Asia/Shanghai", "2026-04-09T13:30:00Z");
        check("2026-04-09T15:30:00-05:00", "Asia/Shanghai", "2026-04-09T20:30:00Z");
        check("2026-04-09T15:30:00+02:00[Europe/Vienna]", "UTC", "2026-04-09T13:30:00Z");
        // Skipped by the clock, and shown twice by it.
        check("2026-03-29T02:30:00", "Europe/Vienna", "2026-03-29T01:30:00Z");
        check("2026-10-25T02:30:00", "Europe/Vienna", "2026-10-25T00:30:00Z");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in
            ["", "tomorrow", "15:30", "2026-13-01T00:00:00", "2026-04-09T15:30:00+99:00", "2026-04-09T15:30[No/Where]"]
        {
            assert!(text.parse::<Expiry>().is_err(), "{text:?}");
        }
    }
}
