//! What a response is made of: nothing, one buffer, or a stream that is still being written.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::Stream;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::task::task_tracker::TaskTrackerToken;
use toolbay_protocol::Frame as Message;

/// From how many bytes on a result is not copied any more.
const LARGE: usize = 8 << 10;

/// The body of a response.
pub struct Body(Inner);

enum Inner {
    Empty,
    Full(Bytes),
    Pieces(Box<std::array::IntoIter<Bytes, 3>>),
    Live(Box<Live>),
}

struct Live {
    events: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    tick: Interval,
    _open: TaskTrackerToken,
}

impl Body {
    pub(super) const fn empty() -> Self {
        Self(Inner::Empty)
    }

    pub(super) const fn full(text: Bytes) -> Self {
        Self(Inner::Full(text))
    }

    /// One message; a large one goes out without being copied.
    pub(super) fn message(frame: &Message) -> Self {
        match frame {
            Message::Result { result, .. } if result.as_bytes().len() >= LARGE => {
                let (head, body) = frame.pieces();
                let pieces = [head, body.unwrap_or_default(), Bytes::from_static(b"}")];
                Self(Inner::Pieces(Box::new(pieces.into_iter())))
            }
            frame => Self::full(frame.to_bytes()),
        }
    }

    /// A stream of events, with a comment after each `keep_alive` of silence. Dropping the body drops the stream.
    pub(super) fn live(
        events: impl Stream<Item = Bytes> + Send + 'static,
        keep_alive: Duration,
        open: TaskTrackerToken,
    ) -> Self {
        let mut tick = tokio::time::interval_at(Instant::now() + keep_alive, keep_alive);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self(Inner::Live(Box::new(Live { events: Box::pin(events), tick, _open: open })))
    }
}

impl Body {
    /// The pieces of a large message, if that is what is left.
    pub(super) fn take_pieces(&mut self) -> Option<Box<std::array::IntoIter<Bytes, 3>>> {
        match std::mem::replace(&mut self.0, Inner::Empty) {
            Inner::Pieces(pieces) => Some(pieces),
            other @ (Inner::Empty | Inner::Full(_) | Inner::Live(_)) => {
                self.0 = other;
                None
            }
        }
    }
}

impl Live {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self.events.as_mut().poll_next(cx) {
            Poll::Ready(Some(event)) => {
                self.tick.reset();
                Poll::Ready(Some(event))
            }
            Poll::Ready(None) => Poll::Ready(None),
            // spec: basic/transports/streamable-http; a proxy that cuts an idle stream would cancel the call
            Poll::Pending => self.tick.poll_tick(cx).map(|_| Some(Bytes::from_static(b":\n\n"))),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let chunk = match &mut self.0 {
            Inner::Empty => None,
            Inner::Full(text) => Some(std::mem::take(text)).filter(|text| !text.is_empty()),
            Inner::Pieces(pieces) => pieces.next(),
            Inner::Live(live) => {
                let Poll::Ready(chunk) = live.poll(cx) else { return Poll::Pending };
                if chunk.is_none() {
                    // What the stream holds is done with; a slow connection need not keep it.
                    self.0 = Inner::Empty;
                }
                chunk
            }
        };
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Empty => true,
            Inner::Full(text) => text.is_empty(),
            Inner::Pieces(pieces) => pieces.len() == 0,
            Inner::Live(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Empty => SizeHint::with_exact(0),
            Inner::Full(text) => SizeHint::with_exact(text.len() as u64),
            Inner::Pieces(pieces) => {
                SizeHint::with_exact(pieces.as_slice().iter().map(|piece| piece.len() as u64).sum())
            }
            Inner::Live(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Empty => f.write_str("Body(empty)"),
            Inner::Full(text) => write!(f, "Body({} bytes)", text.len()),
            Inner::Pieces(pieces) => write!(f, "Body({} pieces)", pieces.len()),
            Inner::Live(_) => f.write_str("Body(live)"),
        }
    }
}
