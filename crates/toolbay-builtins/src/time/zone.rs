//! Time zones by their IANA names, from the database in the binary.

use std::sync::LazyLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::error::Error;

/// A time zone that exists.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    name: String,
    pub(super) zone: TimeZone,
}

impl Zone {
    /// The zone of this IANA name; letter case does not matter.
    pub fn named(name: &str) -> Result<Self, Error> {
        let asked = name.trim();
        let found = if asked.len() > LONGEST_NAME { None } else { DATABASE.get(asked).ok() };
        let Some(zone) = found else {
            let shown = asked.chars().take(LONGEST_NAME).collect();
            return Err(Error::UnknownZone { name: shown, nearest: nearest(asked) });
        };
        let name = zone.iana_name().unwrap_or(asked).to_owned();
        Ok(Self { name, zone })
    }

    /// The zone this machine is set to; UTC if it does not say.
    pub fn local() -> Self {
        let system = TimeZone::system();
        system.iana_name().and_then(|name| Self::named(name).ok()).unwrap_or_else(Self::utc)
    }

    /// Coordinated universal time.
    pub fn utc() -> Self {
        Self { name: "UTC".into(), zone: TimeZone::UTC }
    }

    /// Its IANA name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Names that may have been meant, by the whole name or by its city.
fn nearest(asked: &str) -> Vec<String> {
    if asked.len() > LONGEST_NAME {
        return Vec::new();
    }
    let asked = asked.to_lowercase().replace(' ', "_");
    if let Some((_, names)) = SHORT_NAMES.iter().find(|(short, _)| *short == asked) {
        return names.iter().map(|name| (*name).to_owned()).collect();
    }
    let asked_city = last_part(&asked);
    let mut near: Vec<(usize, String)> = DATABASE
        .available()
        .filter_map(|name| {
            let name = name.as_str();
            let lower = name.to_lowercase();
            let whole = slip(&asked, &lower);
            // A city in the wrong part of the world comes after one in the right part.
            let by_city = slip(asked_city, last_part(&lower)).map(|slips| slips + usize::from(asked.contains('/')));
            whole.into_iter().chain(by_city).min().map(|slips| (slips, name.to_owned()))
        })
        .collect();
    near.sort();
    let best = near.first().map_or(0, |(distance, _)| *distance);
    near.retain(|(distance, _)| *distance == best);
    near.truncate(MOST_SUGGESTIONS);
    near.into_iter().map(|(_, name)| name).collect()
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// How many slips of the pen lie between two names, if few enough.
fn slip(asked: &str, known: &str) -> Option<usize> {
    let slips = strsim::osa_distance(asked, known);
    (slips <= (asked.chars().count() / 4).max(1)).then_some(slips)
}

static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Abbreviations people use, which name no zone by themselves.
const SHORT_NAMES: [(&str, &[&str]); 12] = [
    ("pst", &["America/Los_Angeles"]),
    ("pdt", &["America/Los_Angeles"]),
    ("mdt", &["America/Denver"]),
    ("cst", &["America/Chicago", "Asia/Shanghai"]),
    ("cdt", &["America/Chicago"]),
    ("edt", &["America/New_York"]),
    ("bst", &["Europe/London"]),
    ("cest", &["Europe/Berlin"]),
    ("ist", &["Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"]),
    ("jst", &["Asia/Tokyo"]),
    ("aest", &["Australia/Sydney"]),
    ("aedt", &["Australia/Sydney"]),
];

/// No zone has a longer name.
const LONGEST_NAME: usize = 64;
const MOST_SUGGESTIONS: usize = 3;
