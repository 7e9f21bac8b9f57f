//! What a client sends. Not for what it says.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// A body as it is sent: at once, in pieces, or broken off.
pub(super) struct Sent {
    pub(super) rest: Bytes,
    pub(super) piece: usize,
    pub(super) cut: bool,
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        let length = self.rest.len().min(self.piece);
        Poll::Ready(match length {
            0 if self.cut => Some(Err("broken off")),
            0 => None,
            _ => Some(Ok(Frame::data(self.rest.split_to(length)))),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && !self.cut
    }

    fn size_hint(&self) -> SizeHint {
        if self.piece == usize::MAX { SizeHint::with_exact(self.rest.len() as u64) } else { SizeHint::default() }
    }
}
