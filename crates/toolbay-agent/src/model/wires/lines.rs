//! JSON values, one a line, out of chunks of bytes.

use bytes::{Buf as _, Bytes, BytesMut};

/// Cuts chunks into lines. Bounded by whoever feeds it.
#[derive(Debug, Default)]
pub(super) struct Lines {
    kept: BytesMut,
    searched: usize,
}

impl Lines {
    /// Takes a chunk.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.kept.extend_from_slice(chunk);
    }

    /// The next line that is complete and not blank.
    pub(super) fn pull(&mut self) -> Option<Bytes> {
        loop {
            let Some(at) = self.kept[self.searched..].iter().position(|byte| *byte == b'\n') else {
                self.searched = self.kept.len();
                return None;
            };
            let line = self.kept.split_to(self.searched + at).freeze();
            self.kept.advance(1);
            self.searched = 0;
            if !line.trim_ascii().is_empty() {
                return Some(line);
            }
        }
    }

    /// What is left at the end: a line without its end.
    pub(super) fn rest(self) -> Option<Bytes> {
        let rest = self.kept.freeze();
        (!rest.trim_ascii().is_empty()).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_whole_wherever_chunks_are_cut() {
        let text = b"{\"a\":1}\n\r\n{\"b\":2}\n{\"c\"";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut got = vec![];
            for chunk in text.chunks(size) {
                lines.push(chunk);
                got.extend(std::iter::from_fn(|| lines.pull()));
            }
            assert_eq!(got, ["{\"a\":1}", "{\"b\":2}"], "{size}");
            assert_eq!(lines.rest().unwrap(), "{\"c\"");
        }
    }
}
