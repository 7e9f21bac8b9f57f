//! What is known of an endpoint's model: how it encodes, and the vectors of texts, within bounds.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use toolbay_retrieval::Encoder;

use super::{
    row::{Digest, Row},
    store::{Held, record},
};

/// How many bytes the vectors of one model may have, in memory and on disk.
pub(super) const MOST_BYTES: usize = 128 << 20;
/// How many texts may be known that the endpoint refuses.
const REFUSED: usize = 100_000;

/// Each of them names vectors that can be compared with one another.
static STAMPS: AtomicU64 = AtomicU64::new(1);

/// What is known.
#[derive(Debug)]
pub(super) struct Known {
    /// Vectors of different stamps are not of one space.
    pub(super) stamp: u64,
    /// How many numbers a vector has; nought until one was seen.
    pub(super) width: usize,
    /// Once it was tested.
    pub(super) encoder: Option<Arc<Encoder>>,
    rows: HashMap<Digest, One>,
    refused: HashSet<Digest>,
    most: usize,
}

#[derive(Debug)]
struct One {
    row: Arc<Row>,
    /// Whether somebody asked for it since we began.
    used: bool,
}

/// Whether there was room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// There was.
    Yes,
    /// There was when those were let go that nobody asked for: what is on disk is not what is known.
    Others,
    /// All that is known is in use.
    No,
}

impl Default for Known {
    fn default() -> Self {
        Self::within(MOST_BYTES)
    }
}

impl Known {
    pub(super) fn within(most: usize) -> Self {
        let (rows, refused) = (HashMap::new(), HashSet::new());
        Self { stamp: STAMPS.fetch_add(1, Ordering::Relaxed), width: 0, encoder: None, rows, refused, most }
    }

    /// Forgets everything: the model is another.
    pub(super) fn renew(&mut self) {
        *self = Self::within(self.most);
    }

    /// Takes what the disk held.
    pub(super) fn load(&mut self, held: Held) {
        self.width = held.width;
        let room = self.most / record(held.width);
        let newest = held.rows.into_iter().rev().take(room);
        self.rows = newest.map(|(digest, row)| (digest, One { row: Arc::new(row), used: false })).collect();
    }

    /// The row of a text.
    pub(super) fn row(&mut self, digest: &Digest) -> Option<Arc<Row>> {
        let one = self.rows.get_mut(digest)?;
        one.used = true;
        Some(Arc::clone(&one.row))
    }

    /// Whether a text has a row, or will never have one.
    pub(super) fn is_decided(&mut self, digest: &Digest) -> bool {
        self.row(digest).is_some() || self.refused.contains(digest)
    }

    /// Keeps the row of a text.
    pub(super) fn keep(&mut self, digest: Digest, row: Row) -> Kept {
        let room = (self.most / record(self.width)).max(1);
        let mut kept = Kept::Yes;
        if self.rows.len() >= room && !self.rows.contains_key(&digest) {
            self.rows.retain(|_, one| one.used);
            kept = Kept::Others;
            if self.rows.len() >= room {
                self.refuse(digest);
                return Kept::No;
            }
        }
        self.rows.insert(digest, One { row: Arc::new(row), used: true });
        kept
    }

    /// Does without a row of that text.
    pub(super) fn refuse(&mut self, digest: Digest) {
        if self.refused.len() < REFUSED {
            self.refused.insert(digest);
        }
    }

    /// Every row.
    pub(super) fn rows(&self) -> Vec<(Digest, Row)> {
        self.rows.iter().map(|(digest, one)| (*digest, Row::clone(&one.row))).collect()
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embeddings::row::digest;

    fn row() -> Row {
        Row(Box::from([1, 2, 3, 4]))
    }

    #[test]
    fn within_its_bound_it_lets_go_of_what_nobody_asked_for() {
        let mut known = Known::within(record(4) * 3);
        let held = ["a", "b", "c", "d"].map(|name| (digest(name), row())).into();
        known.load(Held { width: 4, rows: held });
        assert_eq!(known.count(), 3, "the oldest is left out");
        assert!(known.row(&digest("a")).is_none() && known.row(&digest("d")).is_some());
        assert_eq!(known.keep(digest("e"), row()), Kept::Others);
        assert!(known.row(&digest("d")).is_some() && known.row(&digest("b")).is_none());
        assert_eq!(known.keep(digest("f"), row()), Kept::Yes);
        assert_eq!(known.keep(digest("g"), row()), Kept::No, "all are in use");
        assert!(known.is_decided(&digest("g")), "and it is not asked for again");
    }

    #[test]
    fn another_model_is_another_space() {
        let mut known = Known::within(1000);
        let before = known.stamp;
        known.width = 4;
        known.keep(digest("a"), row());
        known.renew();
        assert!(known.stamp != before && known.width == 0 && known.count() == 0);
    }
}
