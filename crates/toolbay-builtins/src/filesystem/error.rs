//! Why a path cannot be read: each says whether the question is at fault or the disk, and what to do.

use std::{error, fmt};

use super::entry::Kind;

/// Why a path cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The path, or a link on the way, leads out of the served folder.
    Outside {
        /// The path asked for.
        path: String,
    },
    /// There is nothing of this name.
    Missing {
        /// The path asked for.
        path: String,
    },
    /// A file was wanted, and this is something else.
    NotFile {
        /// The path asked for.
        path: String,
        /// What it is.
        kind: Kind,
    },
    /// A folder was wanted, and this is something else.
    NotFolder {
        /// The path asked for.
        path: String,
    },
    /// The file is longer than one answer may be.
    TooLarge {
        /// The path asked for.
        path: String,
        /// Its size in bytes.
        size: u64,
        /// The most bytes in one answer.
        limit: u64,
    },
    /// The file holds bytes that are not UTF-8.
    NotText {
        /// The path asked for.
        path: String,
        /// The first byte that is not.
        offset: u64,
    },
    /// No file can have such a path.
    BadPath {
        /// The path asked for, as far as it can be shown.
        path: String,
        /// Why not.
        why: &'static str,
    },
    /// The pattern cannot be read.
    BadPattern {
        /// The pattern asked for.
        pattern: String,
        /// Why not.
        why: String,
    },
    /// A number is beyond its limits.
    OutOfRange {
        /// What the number counts.
        what: &'static str,
        /// The number asked for.
        given: usize,
        /// The most that may be asked for.
        most: usize,
    },
    /// The system does not let us read it.
    Denied {
        /// The path asked for.
        path: String,
    },
    /// The disk or the system failed.
    Disk {
        /// The path asked for.
        path: String,
        /// What the system says.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside { path } => {
                write!(f, "`{path}` leads out of the served folder; only what lies inside it can be read")
            }
            Self::Missing { path } => write!(f, "there is no `{path}`; list the folder to see what there is"),
            Self::NotFile { path, kind: Kind::Folder } => write!(f, "`{path}` is a folder; list it instead"),
            Self::NotFile { path, kind: Kind::File | Kind::Link | Kind::Other } => {
                write!(f, "`{path}` is no regular file; pipes, sockets and devices are not read")
            }
            Self::NotFolder { path } => write!(f, "`{path}` is not a folder; read it as a file, or name a folder"),
            Self::TooLarge { path, size, limit } => {
                write!(f, "`{path}` has {size} bytes, and {limit} is the most in one answer; read it in parts as text")
            }
            Self::NotText { path, offset } => {
                write!(f, "`{path}` is not UTF-8 text (byte {offset}); read it as bytes")
            }
            Self::BadPath { path, why } => write!(f, "`{path}` cannot be a path: {why}"),
            Self::BadPattern { pattern, why } => {
                write!(f, "the pattern `{pattern}` cannot be read ({why}); write for example `*.txt` or `src/**/*.rs`")
            }
            Self::OutOfRange { what, given, most } => {
                write!(f, "{given} is out of range for {what}; ask for 1 to {most}")
            }
            Self::Denied { path } => {
                write!(f, "the system does not let this server read `{path}`; its owner can change the rights")
            }
            Self::Disk { path, why } => {
                write!(f, "`{path}` could not be read, through no fault of the question: {why}")
            }
        }
    }
}

impl error::Error for Error {}
