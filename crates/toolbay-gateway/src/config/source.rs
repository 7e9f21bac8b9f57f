//! The text of a configuration file and the places in it. It does not know JSON.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::error::{Error, Fault};

/// A line and a column of a configuration file, both counted from one; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from one.
    pub line: usize,
    /// The column in characters, from one.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A value and the byte where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) at: usize,
}

/// A file's text, ready to name places in it.
pub(super) struct Source<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(super) fn new(file: &'a Path, text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { file, text, line_starts: std::iter::once(0).chain(newlines).collect() }
    }

    /// The place of a byte; a byte past the end counts as the end.
    pub(super) fn place(&self, at: usize) -> Place {
        let at = self.text.floor_char_boundary(at);
        let line = self.line_starts.partition_point(|start| *start <= at);
        let start = self.line_starts[line - 1];
        Place { line, column: self.text[start..at].chars().count() + 1 }
    }

    /// An error about the byte `at`.
    pub(super) fn error(
        &self,
        fault: Fault,
        at: usize,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        Error {
            file: PathBuf::from(self.file),
            place: Some(self.place(at)),
            fault,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let source = Source::new(Path::new("f"), "ab\né=\n\nz");
        for (at, line, column) in [(0, 1, 1), (2, 1, 3), (3, 2, 1), (5, 2, 2), (7, 3, 1), (8, 4, 1), (99, 4, 2)] {
            assert_eq!(source.place(at), Place { line, column }, "byte {at}");
        }
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        assert_eq!(Source::new(Path::new("f"), "\u{feff}{").place(0), Place { line: 1, column: 1 });
    }
}
