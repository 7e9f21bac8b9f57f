//! How much one call may read. Every limit is finite, and is named where it is reached.

/// How much one call may read and return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file in one answer.
    pub bytes: u64,
    /// Entries in one answer.
    pub entries: usize,
    /// Folders below folders in a tree.
    pub depth: usize,
    /// Names looked at by one call, shown or not.
    pub visits: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 1 << 20, entries: 1_000, depth: 16, visits: 100_000 }
    }
}
