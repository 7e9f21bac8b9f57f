//! What one side said that nobody has taken yet to send it; it is counted, and a request may be taken back while it is here.

use std::collections::VecDeque;

use crate::frame::{Frame, Id};

/// About how many bytes of a frame are not its payload.
const ENVELOPE: usize = 64;

/// How much waits to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How many messages.
    pub messages: usize,
    /// About how many bytes, all of them together.
    pub bytes: usize,
    /// How many of these bytes are no requests: what the other side causes is among them, and nothing else that it causes.
    pub replies: usize,
}

/// Frames in the order in which they are to be sent.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    frames: VecDeque<Frame>,
    bytes: usize,
    replies: usize,
}

impl Outbox {
    pub(super) fn push(&mut self, frame: Frame) {
        let weight = weight(&frame);
        self.bytes += weight;
        if !is_request(&frame) {
            self.replies += weight;
        }
        self.frames.push_back(frame);
    }

    pub(super) fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop_front()?;
        self.gone(&frame);
        Some(frame)
    }

    /// Takes a request back that is still here.
    pub(super) fn take_back(&mut self, id: &Id) -> Option<Frame> {
        let mine = |frame: &Frame| matches!(frame, Frame::Request { id: of, .. } if of == id);
        // What is taken back is mostly young.
        let place = self.frames.iter().rposition(mine)?;
        let frame = self.frames.remove(place)?;
        self.gone(&frame);
        Some(frame)
    }

    fn gone(&mut self, frame: &Frame) {
        let weight = weight(frame);
        self.bytes -= weight;
        if !is_request(frame) {
            self.replies -= weight;
        }
    }

    pub(super) fn waiting(&self) -> Waiting {
        Waiting { messages: self.frames.len(), bytes: self.bytes, replies: self.replies }
    }
}

fn is_request(frame: &Frame) -> bool {
    matches!(frame, Frame::Request { .. })
}

fn weight(frame: &Frame) -> usize {
    let payload = match frame {
        Frame::Request { params, .. } | Frame::Notification { params, .. } => params.as_ref(),
        Frame::Result { result, .. } => Some(result),
        Frame::Error { error, .. } => Some(error),
    };
    ENVELOPE + payload.map_or(0, |payload| payload.as_bytes().len())
}
