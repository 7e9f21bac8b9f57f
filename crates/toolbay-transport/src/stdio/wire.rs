//! Frames on lines: the duplex link over a child's pipes, or over our own.

use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::ChildStdin;
use toolbay_protocol::{
    Frame, Raw,
    fault::{Fault, Malformed},
    frame::Rejected,
    scan::Limits,
};

use super::{
    child::ServerProcess,
    junk::Junk,
    lines::{LineError, LineReader, LineWriter},
};
use crate::{
    Error, Kind,
    duplex::{Came, ReadFrames, WriteFrames},
};

/// Reads a frame a line.
#[derive(Debug)]
pub struct FrameLines<R> {
    lines: LineReader<R>,
    limits: Limits,
}

impl<R: AsyncRead + Unpin> FrameLines<R> {
    /// A reader with the default limits.
    pub fn new(inner: R) -> Self {
        Self { lines: LineReader::new(inner), limits: Limits::DEFAULT }
    }

    /// A reader that takes messages of at most so many bytes, within these limits of their JSON.
    pub fn within(inner: R, message_bytes: usize, limits: Limits) -> Self {
        Self { lines: LineReader::with_limit(inner, message_bytes), limits }
    }

    fn frame(&self, line: Result<Option<bytes::Bytes>, LineError>) -> Result<Option<Came>, Error> {
        let line = match line {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(None),
            Err(LineError::TooLong { limit }) => {
                let fault = Fault::Malformed(Malformed::TooLarge(limit));
                return Ok(Some(Came::One(Err(Rejected { id: None, fault }))));
            }
            Err(LineError::Io(error)) => {
                return Err(Error::closed("the link broke while reading").caused_by(error));
            }
        };
        // What begins like a message is one, or a broken one.
        if line.starts_with(b"{\"") {
            return Ok(Some(Came::One(Frame::parse_answer(&line, self.limits))));
        }
        // A lone number or text is JSON, though no message; a line of log is neither.
        if let Some(junk) = Junk::find(&line)
            && Raw::parse(line.clone(), self.limits).is_err()
        {
            return Ok(Some(Came::Junk(junk.excerpt().to_owned())));
        }
        Ok(Some(match Frame::parse_batch(&line, self.limits) {
            Some(batch) => Came::Batch(batch),
            None => Came::One(Frame::parse_answer(&line, self.limits)),
        }))
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> ReadFrames for FrameLines<R> {
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Came>, Error>> {
        let line = ready!(self.lines.poll_next(cx));
        Poll::Ready(self.frame(line))
    }

    fn at_hand(&mut self) -> Option<Came> {
        let line = self.lines.buffered();
        self.frame(line.transpose()?.map(Some)).ok().flatten()
    }
}

/// Writes a frame a line.
#[derive(Debug)]
pub struct LineFrames<W> {
    lines: LineWriter<W>,
}

impl<W: AsyncWrite + Unpin> LineFrames<W> {
    /// A writer with nothing pending.
    pub fn new(inner: W) -> Self {
        Self { lines: LineWriter::new(inner) }
    }

    fn put(&mut self, frame: &Frame) {
        self.lines.push_with(|out| frame.write(out));
    }

    fn send(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let flushed = ready!(self.lines.poll_flush(cx));
        Poll::Ready(flushed.map_err(|error| Error::closed("the link broke while writing").caused_by(error)))
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> WriteFrames for LineFrames<W> {
    fn push(&mut self, frame: Frame) {
        self.put(&frame);
    }

    fn backlog(&self) -> usize {
        self.lines.pending()
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.send(cx)
    }

    async fn close(&mut self) {
        // What could not be written before is not waited for: nobody reads it.
        let _ = self.send(&mut Context::from_waker(Waker::noop()));
    }
}

/// Writes frames to a child, and ends the child when it is closed.
#[derive(Debug)]
pub struct ChildFrames {
    stdin: Option<LineFrames<ChildStdin>>,
    process: ServerProcess,
}

impl ChildFrames {
    /// A writer to a child that was just started.
    pub fn new(stdin: ChildStdin, process: ServerProcess) -> Self {
        Self { stdin: Some(LineFrames::new(stdin)), process }
    }
}

impl WriteFrames for ChildFrames {
    fn push(&mut self, frame: Frame) {
        if let Some(stdin) = &mut self.stdin {
            stdin.put(&frame);
        }
    }

    fn backlog(&self) -> usize {
        self.stdin.as_ref().map_or(0, |stdin| stdin.lines.pending())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match &mut self.stdin {
            Some(stdin) => stdin.send(cx),
            None => Poll::Ready(Err(Error::new(Kind::Closed, "the server was ended here"))),
        }
    }

    async fn epitaph(&mut self) -> Option<String> {
        Some(self.process.exited().await.to_string())
    }

    async fn close(&mut self) {
        self.stdin = None;
        self.process.shutdown().await;
    }
}
