//! What is read out of a request: a kind, the words, where they stand, and what they mean.

use std::fmt;
use std::ops::Range;

use super::dates::{Clock, Day};

/// What a slot says about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An administrative place that the request is about.
    City,
    /// Where a way begins.
    Origin,
    /// Where a way ends.
    Destination,
    /// A place that is asked about, or around which something is looked for.
    Location,
    /// What to search for.
    Query,
    /// A day, a time, or a stretch of them.
    Date,
    /// How often: every day, every Monday at nine.
    Repeat,
    /// How many of something.
    Count,
}

impl Kind {
    /// The kind as one English word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::City => "city",
            Self::Origin => "origin",
            Self::Destination => "destination",
            Self::Location => "location",
            Self::Query => "query",
            Self::Date => "date",
            Self::Repeat => "repeat",
            Self::Count => "count",
        }
    }
}

/// One thing that a request says.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// What it is.
    pub kind: Kind,
    /// The words, as they stand in the request.
    pub value: String,
    /// Where they stand, in bytes.
    pub span: Range<usize>,
    /// How sure the reading is, above 0 and up to 1.
    pub confidence: f32,
    /// What the words mean, where that can be worked out.
    pub normal: Option<Normal>,
}

/// What words mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normal {
    /// One day.
    Day(Day),
    /// A time of day.
    Clock(Clock),
    /// A time of one day.
    Moment(Day, Clock),
    /// From one day to another, both included.
    Days(Day, Day),
    /// From one time of day to another.
    Clocks(Clock, Clock),
    /// From a time of one day to a time of the same or another.
    Moments((Day, Clock), (Day, Clock)),
    /// A number.
    Number(i64),
}

impl fmt::Display for Normal {
    /// ISO 8601: `2026-03-15`, `15:30`, `2026-03-15T15:30`, `2026-03-15/2026-03-21`,
    /// `2026-03-15T15:00/2026-03-15T17:00`; a number in digits.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(day) => write!(to, "{day}"),
            Self::Clock(clock) => write!(to, "{clock}"),
            Self::Moment(day, clock) => write!(to, "{day}T{clock}"),
            Self::Days(first, last) => write!(to, "{first}/{last}"),
            Self::Clocks(first, last) => write!(to, "{first}/{last}"),
            Self::Moments((first, from), (last, to_clock)) => write!(to, "{first}T{from}/{last}T{to_clock}"),
            Self::Number(number) => write!(to, "{number}"),
        }
    }
}
