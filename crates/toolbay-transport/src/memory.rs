//! Both ends of a link in one process; frames are handed over as they are.

use std::{
    collections::VecDeque,
    task::{Context, Poll, ready},
};

use tokio::sync::mpsc;
use tokio_util::sync::PollSender;
use toolbay_protocol::Frame;

use crate::{
    Error,
    duplex::{Came, ReadFrames, WriteFrames},
};

/// How many frames may be under way each way.
const UNDER_WAY: usize = 64;

/// One end of a link.
pub type End = (MemoryReader, MemoryWriter);

/// Both ends of a link.
pub fn pair() -> (End, End) {
    let (there, here) = (mpsc::channel(UNDER_WAY), mpsc::channel(UNDER_WAY));
    let end = |inward, outward| {
        (MemoryReader(inward), MemoryWriter { out: Some(PollSender::new(outward)), backlog: VecDeque::new() })
    };
    (end(here.1, there.0), end(there.1, here.0))
}

/// The reading half of an end.
#[derive(Debug)]
pub struct MemoryReader(mpsc::Receiver<Frame>);

impl ReadFrames for MemoryReader {
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Came>, Error>> {
        self.0.poll_recv(cx).map(|frame| Ok(frame.map(|frame| Came::One(Ok(frame)))))
    }

    fn at_hand(&mut self) -> Option<Came> {
        self.0.try_recv().ok().map(|frame| Came::One(Ok(frame)))
    }
}

/// The writing half of an end.
#[derive(Debug)]
pub struct MemoryWriter {
    out: Option<PollSender<Frame>>,
    backlog: VecDeque<Frame>,
}

impl WriteFrames for MemoryWriter {
    fn push(&mut self, frame: Frame) {
        self.backlog.push_back(frame);
    }

    fn backlog(&self) -> usize {
        self.backlog.len() * 1024
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let gone = |_| Error::closed("the other end closed the link");
        let Some(out) = &mut self.out else { return Poll::Ready(Err(Error::closed("the link was closed here"))) };
        while !self.backlog.is_empty() {
            ready!(out.poll_reserve(cx)).map_err(gone)?;
            if let Some(frame) = self.backlog.pop_front() {
                out.send_item(frame).map_err(gone)?;
            }
        }
        Poll::Ready(Ok(()))
    }

    async fn close(&mut self) {
        self.out = None;
    }
}
