//! What the operations answer.

use cap_std::fs::FileType;
use serde::Serialize;

/// What a name in a folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A pipe, a socket or a device: never opened.
    Other,
}

impl Kind {
    pub(super) fn of(kind: FileType) -> Self {
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Folder
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The name; bytes that are not UTF-8 are shown as `�`.
    pub name: String,
    /// What it stands for.
    pub kind: Kind,
    /// Bytes, for a regular file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Whether `name` is the very name on disk: otherwise nothing can be asked about it by this name.
    pub exact: bool,
}

/// The names in a folder, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listing {
    /// The folder that was opened, relative to the served one.
    pub path: String,
    /// Its entries by name.
    pub entries: Vec<Entry>,
    /// What is missing in the answer, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A name in a tree, with what lies below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// The name; bytes that are not UTF-8 are shown as `�`.
    pub name: String,
    /// What it stands for.
    pub kind: Kind,
    /// What lies below, for a folder that was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<Node>>,
}

/// A folder with what lies below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tree {
    /// The folder that was opened, relative to the served one.
    pub path: String,
    /// What lies in it.
    pub children: Vec<Node>,
    /// What is missing in the answer, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A path that fits a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Match {
    /// The path, relative to the served folder.
    pub path: String,
    /// What it stands for.
    pub kind: Kind,
}

/// The paths that fit a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Matches {
    /// The folder that was searched, relative to the served one.
    pub path: String,
    /// What was found, nearer folders first.
    pub matches: Vec<Match>,
    /// What is missing in the answer, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "where")]
pub enum Leads {
    /// To something in the served folder.
    Inside {
        /// Its path, relative to the served folder.
        path: String,
        /// What it is.
        kind: Kind,
    },
    /// Out of the served folder: it cannot be followed, and where to is not told.
    Outside,
    /// To nothing, or in a circle.
    Nowhere,
}

/// What is known of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    /// The path, relative to the served folder.
    pub path: String,
    /// What it stands for.
    pub kind: Kind,
    /// Bytes, for a regular file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// When it was last changed, ISO 8601 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// When it was made, where the disk knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The media type its name suggests, for a regular file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime: Option<&'static str>,
    /// Where it leads, for a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads: Option<Leads>,
}
