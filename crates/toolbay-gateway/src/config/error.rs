//! What can be wrong with a whole file ([`Error`]) and with one server in it ([`Reason`]).

use std::{fmt, path::PathBuf};

use super::source::Place;

/// What kind of thing is wrong with a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The named file is not there.
    Missing,
    /// The file is there and cannot be read.
    Unreadable,
    /// The file is longer than a configuration may be.
    TooLarge,
    /// The bytes are not UTF-8.
    Encoding,
    /// The text is not JSON with comments.
    Syntax,
    /// One name is given twice.
    Duplicate,
    /// The JSON is sound and does not say what servers there are.
    Shape,
    /// The file was written for another program and cannot be read as it is.
    Foreign,
    /// More servers than one configuration may name.
    TooMany,
}

/// A configuration file that cannot be used: where, what is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file.
    pub file: PathBuf,
    /// The place in it, if the trouble has one.
    pub place: Option<Place>,
    /// The kind of trouble.
    pub fault: Fault,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(place) = self.place {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}; {}", self.problem, self.remedy)
    }
}

impl std::error::Error for Error {}

/// Why one server cannot be started as it is written; the others go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Where in the file.
    pub place: Place,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

impl std::error::Error for Reason {}
