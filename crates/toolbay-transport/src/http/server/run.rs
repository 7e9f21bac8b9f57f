//! A body as our own connections send it: what is there at once goes out in one write, however many buffers it lies in.
//!
//! Who serves the endpoint with a server of their own gets [`Body`], whose chunks are plain `Bytes`.

use std::{
    array::IntoIter,
    convert::Infallible,
    io::IoSlice,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};

use super::body::Body;

/// A body, a run of buffers at a time.
pub(super) struct Runs(pub(super) Body);

/// Buffers that follow each other.
pub(super) enum Run {
    /// One.
    One(Bytes),
    /// Several.
    Several(Box<IntoIter<Bytes, 3>>),
}

impl http_body::Body for Runs {
    type Data = Run;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Run>, Infallible>>> {
        if let Some(pieces) = self.0.take_pieces() {
            return Poll::Ready(Some(Ok(Frame::data(Run::Several(pieces)))));
        }
        Pin::new(&mut self.0).poll_frame(cx).map_ok(|frame| frame.map_data(Run::One))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl Buf for Run {
    fn remaining(&self) -> usize {
        match self {
            Self::One(bytes) => bytes.len(),
            Self::Several(pieces) => pieces.as_slice().iter().map(Bytes::len).sum(),
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            Self::One(bytes) => bytes,
            Self::Several(pieces) => {
                pieces.as_slice().iter().find(|piece| !piece.is_empty()).map_or(&[], |piece| piece)
            }
        }
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        match self {
            Self::One(bytes) => bytes.chunks_vectored(slices),
            Self::Several(pieces) => {
                let full = pieces.as_slice().iter().filter(|piece| !piece.is_empty());
                slices.iter_mut().zip(full).map(|(slice, piece)| *slice = IoSlice::new(piece)).count()
            }
        }
    }

    fn advance(&mut self, mut count: usize) {
        match self {
            Self::One(bytes) => bytes.advance(count),
            Self::Several(pieces) => {
                while count > 0 {
                    let piece = pieces.as_mut_slice().first_mut().expect("no more is passed over than remains");
                    let passed = count.min(piece.len());
                    piece.advance(passed);
                    count -= passed;
                    if piece.is_empty() {
                        pieces.next();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        let pieces = [&b"head"[..], b"", b"tail"].map(Bytes::from_static);
        Run::Several(Box::new(pieces.into_iter()))
    }

    #[test]
    fn buffers_are_offered_together() {
        let run = run();
        let mut slices = [IoSlice::new(&[]); 4];
        assert_eq!(run.chunks_vectored(&mut slices), 2);
        assert_eq!((&slices[0][..], &slices[1][..], run.remaining()), (&b"head"[..], &b"tail"[..], 8));
    }

    #[test]
    fn what_was_sent_is_passed_over_wherever_it_ended() {
        for sent in 0..=8 {
            let mut run = run();
            run.advance(sent);
            assert_eq!(run.remaining(), 8 - sent);
            assert_eq!(run.copy_to_bytes(8 - sent), b"headtail"[sent..]);
        }
    }
}
