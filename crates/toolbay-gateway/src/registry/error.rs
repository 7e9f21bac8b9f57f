//! What can be wrong with an operation on the registry: what was asked for, or the file.

use std::{fmt, io, path::PathBuf, time::Duration};

use crate::config;

/// Why an operation was not done; nothing was changed.
#[derive(Debug)]
pub enum Error {
    /// There is no entry of that name.
    Unknown {
        /// The name.
        name: String,
        /// The entry that was probably meant.
        near: Option<String>,
    },
    /// A different entry has that name.
    Taken {
        /// The name.
        name: String,
    },
    /// The entry cannot be used.
    Unsound {
        /// Its name.
        name: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The file does not say what it should.
    File(config::Error),
    /// The disk refused.
    Disk {
        /// The file.
        file: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// Why it was not done.
        why: io::Error,
    },
    /// It is written, but the file as a whole cannot be taken on: what runs is as it was before.
    NotLive {
        /// Why.
        why: String,
    },
    /// Somebody else writes, and goes on writing.
    Busy {
        /// The file.
        file: PathBuf,
        /// How long that was waited for.
        waited: Duration,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, near: Some(near) } => {
                write!(f, "there is no tool entry {name:?}; did you mean {near:?}?")
            }
            Self::Unknown { name, near: None } => {
                write!(f, "there is no tool entry {name:?}; `toolbay tool list` shows those there are")
            }
            Self::Taken { name } => {
                write!(
                    f,
                    "the name {name:?} is taken in the file; ask for the tool entry to be replaced, or take another name"
                )
            }
            Self::Unsound { name, why } => write!(f, "the tool entry {name:?} cannot be used: {why}"),
            Self::File(error) => error.fmt(f),
            Self::Disk { file, doing, why } => {
                write!(
                    f,
                    "{}: {doing} failed ({why}); nothing was changed: check the folder and its disk",
                    file.display()
                )
            }
            Self::NotLive { why } => {
                write!(f, "it is written, but not live, and what was there before goes on: {why}")
            }
            Self::Busy { file, waited } => {
                let (file, waited) = (file.display(), waited.as_secs());
                write!(
                    f,
                    "{file} is being written by somebody else for {waited} s; try again, or see who holds its lock"
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::Disk { why, .. } => Some(why),
            Self::Unknown { .. }
            | Self::Taken { .. }
            | Self::Unsound { .. }
            | Self::NotLive { .. }
            | Self::Busy { .. } => None,
        }
    }
}

impl From<config::Error> for Error {
    fn from(error: config::Error) -> Self {
        Self::File(error)
    }
}
