//! What can be wrong with a question about time: always the question.

use std::{error, fmt};

/// What is wrong with a question about time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such time zone.
    UnknownZone {
        /// The name asked for.
        name: String,
        /// Names that may have been meant, the likeliest first.
        nearest: Vec<String>,
    },
    /// The time of day cannot be read.
    BadTime {
        /// The text given.
        given: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownZone { name, nearest } if nearest.is_empty() => {
                write!(f, "there is no time zone `{name}`; give an IANA name such as Europe/Vienna or America/New_York")
            }
            Self::UnknownZone { name, nearest } => {
                write!(f, "there is no time zone `{name}`; did you mean {}?", nearest.join(" or "))
            }
            Self::BadTime { given } => {
                write!(f, "`{given}` is no time of day; write HH:MM with hours from 00 to 23, such as 16:30")
            }
        }
    }
}

impl error::Error for Error {}
