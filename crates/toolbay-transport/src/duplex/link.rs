//! What a duplex link must be able to do.

use std::{
    future::{Future, poll_fn},
    task::{Context, Poll},
};

use toolbay_protocol::{Frame, frame::Rejected};

use crate::Error;

/// What came over a link.
#[derive(Debug)]
pub enum Came {
    /// One message, or what is wrong with it.
    One(Result<Frame, Rejected>),
    /// Several messages in one array.
    Batch(Vec<Result<Frame, Rejected>>),
    /// Text that is no message at all (log lines on stdout); an excerpt.
    Junk(String),
}

/// The reading half.
pub trait ReadFrames: Send + 'static {
    /// The next thing that came; `None` at the end.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Came>, Error>>;

    /// The same, waited for. Losing the future loses nothing.
    fn read(&mut self) -> impl Future<Output = Result<Option<Came>, Error>> + Send {
        async { poll_fn(|cx| self.poll_read(cx)).await }
    }

    /// The next thing, where it is here already.
    fn at_hand(&mut self) -> Option<Came> {
        None
    }
}

/// The writing half: frames are put into a backlog, and the backlog is flushed.
pub trait WriteFrames: Send + 'static {
    /// Adds a frame to the backlog.
    fn push(&mut self, frame: Frame);

    /// How many bytes (or, where frames are not written out, an estimate of them) wait.
    fn backlog(&self) -> usize;

    /// Sends the backlog.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// The same, waited for. Losing the future loses nothing; what was not sent stays.
    fn flush(&mut self) -> impl Future<Output = Result<(), Error>> + Send {
        async { poll_fn(|cx| self.poll_flush(cx)).await }
    }

    /// How the other side came to its end, where that can be known; waits for it.
    fn epitaph(&mut self) -> impl Future<Output = Option<String>> + Send {
        async { None }
    }

    /// Says that nothing more will come, and ends what this side started.
    fn close(&mut self) -> impl Future<Output = ()> + Send;
}
