//! One moment in one zone or in two.

use jiff::{Timestamp, ZonedDateTime, civil};
use serde::Serialize;

use super::{error::Error, zone::Zone};

/// A moment as a clock and a calendar in one place show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// The IANA name of the zone.
    pub timezone: String,
    /// ISO 8601 with the offset, to the second.
    pub datetime: String,
    /// The day's English name.
    pub day_of_week: String,
    /// Whether daylight saving time is in force.
    pub is_dst: bool,
}

/// A moment in two places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conversion {
    /// Where the time of day was given.
    pub source: Moment,
    /// The same moment where it was asked for.
    pub target: Moment,
    /// How far the target's clock is ahead, such as `+9.0h` or `-4.5h`.
    pub time_difference: String,
}

/// What the clock shows in a zone at a moment.
pub fn now(zone: &Zone, at: Timestamp) -> Moment {
    moment(zone, &at.to_zoned_datetime(zone.zone.clone()))
}

/// What the clock shows in `target` when it shows `time` (`HH:MM`) in `source`, on the source's day at `at`.
///
/// A time that a change of the clock skips counts as the moment after the gap; one it repeats, as the first.
pub fn convert(source: &Zone, time: &str, target: &Zone, at: Timestamp) -> Result<Conversion, Error> {
    let time_of_day = read_time(time).ok_or_else(|| Error::BadTime { given: time.chars().take(32).collect() })?;
    let today = at.to_zoned_datetime(source.zone.clone()).date();
    // Only the very ends of the calendar have no such moment.
    let bad = |_| Error::BadTime { given: time.to_owned() };
    let here = today.to_datetime(time_of_day).to_zoned_datetime(source.zone.clone()).map_err(bad)?;
    let there = here.timestamp().to_zoned_datetime(target.zone.clone());
    let seconds = there.offset().seconds() - here.offset().seconds();
    Ok(Conversion { source: moment(source, &here), target: moment(target, &there), time_difference: hours(seconds) })
}

fn moment(zone: &Zone, zoned: &ZonedDateTime) -> Moment {
    Moment {
        timezone: zone.name().to_owned(),
        datetime: zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        day_of_week: zoned.strftime("%A").to_string(),
        is_dst: zone.zone.to_offset_info(zoned.timestamp()).dst().is_dst(),
    }
}

fn read_time(text: &str) -> Option<civil::Time> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let digits = |text: &str, least: usize| {
        ((least..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse::<i8>().ok())
            .flatten()
    };
    civil::Time::new(digits(hours, 1)?, digits(minutes, 2)?, 0, 0).ok()
}

/// Hours with a sign, at least one and at most two places: `+9.0h`, `+5.75h`, `-4.5h`.
fn hours(seconds: i32) -> String {
    let text = format!("{:+.2}", f64::from(seconds) / 3600.0);
    let short = text.strip_suffix('0').unwrap_or(&text);
    format!("{short}h")
}
