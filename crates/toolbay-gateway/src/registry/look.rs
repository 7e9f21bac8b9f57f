//! Whether a file is what it was: by its metadata, and by its text while that is so fresh that the metadata may lie.

use std::{
    fs::{self, Metadata},
    path::Path,
    time::{Duration, SystemTime},
};

/// Within this time after a change a file may change again and keep its times.
const FRESH: Duration = Duration::from_secs(2);
/// The longest file that is read.
const MOST_BYTES: u64 = 4 << 20;

/// What was seen of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    stamp: Option<Stamp>,
    /// The text, or why there is none.
    pub(super) text: Option<Result<String, String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    changed: Option<SystemTime>,
    node: (u64, i64, i64),
}

/// Looks again; nothing where all is as it was.
pub(super) fn look(file: &Path, before: &Seen) -> Option<Seen> {
    let now = fs::metadata(file).ok().map(|found| Stamp::of(&found));
    let fresh = now.and_then(|now| now.changed).is_some_and(|changed| changed.elapsed().is_ok_and(|age| age < FRESH));
    if before.text.is_some() && now == before.stamp && !fresh {
        return None;
    }
    let text = match fs::metadata(file) {
        Ok(found) if found.len() > MOST_BYTES => Err(format!("it is longer than {} MiB", MOST_BYTES >> 20)),
        Ok(_) => fs::read_to_string(file).map_err(|why| why.to_string()),
        Err(why) => Err(why.to_string()),
    };
    let seen = Seen { stamp: now, text: Some(text) };
    (seen != *before).then_some(seen)
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        Self { bytes: found.len(), changed: found.modified().ok(), node: node(found) }
    }
}

#[cfg(unix)]
fn node(found: &Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (found.ino(), found.ctime(), found.ctime_nsec())
}

#[cfg(not(unix))]
fn node(_: &Metadata) -> (u64, i64, i64) {
    (0, 0, 0)
}
