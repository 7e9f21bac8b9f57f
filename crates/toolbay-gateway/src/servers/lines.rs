//! The last lines that a server wrote to its log and stderr.

use std::collections::VecDeque;

/// How many bytes of a line are kept.
const LINE: usize = 4096;

/// Lines of a server's log and stderr, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The lines.
    pub lines: Vec<String>,
    /// How many were ever written: where to go on from.
    pub upto: u64,
}

/// Keeps the last of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    lines: VecDeque<String>,
    written: u64,
}

impl Ring {
    /// Takes a line; at `most` so many are kept.
    pub(super) fn push(&mut self, line: &str, most: usize) {
        self.written += 1;
        self.lines.push_back(line[..line.floor_char_boundary(LINE)].to_owned());
        if self.lines.len() > most {
            self.lines.pop_front();
        }
    }

    /// Those that are kept and were written after so many.
    pub(super) fn after(&self, after: u64) -> Lines {
        let new = usize::try_from(self.written.saturating_sub(after)).unwrap_or(usize::MAX);
        let skip = self.lines.len().saturating_sub(new);
        Lines { lines: self.lines.iter().skip(skip).cloned().collect(), upto: self.written }
    }
}
