//! Both ends of a link in one process; frames are handed over as they are.

use std::collections::VecDeque;

use tokio::sync::mpsc;
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
    let end = |inward, outward| (MemoryReader(inward), MemoryWriter { out: Some(outward), backlog: VecDeque::new() });
    (end(here.1, there.0), end(there.1, here.0))
}

/// The reading half of an end.
#[derive(Debug)]
pub struct MemoryReader(mpsc::Receiver<Frame>);

impl ReadFrames for MemoryReader {
    async fn read(&mut self) -> Result<Option<Came>, Error> {
        Ok(self.0.recv().await.map(|frame| Came::One(Ok(frame))))
    }

    fn at_hand(&mut self) -> Option<Came> {
        self.0.try_recv().ok().map(|frame| Came::One(Ok(frame)))
    }
}

/// The writing half of an end.
#[derive(Debug)]
pub struct MemoryWriter {
    out: Option<mpsc::Sender<Frame>>,
    backlog: VecDeque<Frame>,
}

impl WriteFrames for MemoryWriter {
    fn push(&mut self, frame: Frame) {
        self.backlog.push_back(frame);
    }

    fn backlog(&self) -> usize {
        self.backlog.len() * 1024
    }

    async fn flush(&mut self) -> Result<(), Error> {
        let Some(out) = &self.out else { return Err(Error::closed("the link was closed here")) };
        while !self.backlog.is_empty() {
            let place = out.reserve().await.map_err(|_| Error::closed("the other end closed the link"))?;
            if let Some(frame) = self.backlog.pop_front() {
                place.send(frame);
            }
        }
        Ok(())
    }

    async fn close(&mut self) {
        self.out = None;
    }
}
