//! Reading lines. Time is linear in what is read; memory is bounded by the limit plus one read.

use std::{
    fmt,
    future::{Future as _, poll_fn},
    io,
    pin::pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest line accepted unless told otherwise: 16 MiB.
pub const DEFAULT_LINE_LIMIT: usize = 16 << 20;

/// Cuts a byte stream into lines.
#[derive(Debug)]
pub struct LineReader<R> {
    inner: R,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    limit: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first line, where a byte order mark may stand.
    Start,
    Lines,
    /// Inside a line that was too long.
    Discarding,
    Ended,
}

/// Why there is no line.
#[derive(Debug)]
pub enum LineError {
    /// A line grew beyond the limit. The next call skips the rest of it and goes on.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The stream could not be read.
    Io(io::Error),
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { limit } => {
                write!(
                    f,
                    "the peer wrote a message longer than the limit of {limit} bytes; raise the limit if it is meant"
                )
            }
            Self::Io(error) => write!(f, "reading from the peer failed: {error}"),
        }
    }
}

impl std::error::Error for LineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooLong { .. } => None,
            Self::Io(error) => Some(error),
        }
    }
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// A reader with the default limit.
    pub fn new(inner: R) -> Self {
        Self::with_limit(inner, DEFAULT_LINE_LIMIT)
    }

    /// A reader that refuses lines of more than `limit` bytes, their end aside.
    pub fn with_limit(inner: R, limit: usize) -> Self {
        Self { inner, buffer: BytesMut::new(), searched: 0, limit, state: State::Start }
    }

    /// The next line that is not blank, without its end; nothing at the end of the stream.
    ///
    /// Nothing is lost when the future is dropped. The line is a slice of the read buffer and keeps that buffer alive.
    pub async fn next(&mut self) -> Result<Option<Bytes>, LineError> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The same, for whoever polls.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, LineError>> {
        loop {
            if let Some(line) = self.buffered()? {
                return Poll::Ready(Ok(Some(line)));
            }
            if self.state == State::Ended {
                return Poll::Ready(Ok(None));
            }
            if self.buffer.capacity() - self.buffer.len() < LEAST_ROOM {
                self.buffer.reserve(READ);
            }
            let read = pin!(self.inner.read_buf(&mut self.buffer));
            if ready!(read.poll(cx)).map_err(LineError::Io)? == 0 {
                return Poll::Ready(self.end());
            }
        }
    }

    /// The next line if it is already here, so that a batch can be taken without waiting.
    pub fn buffered(&mut self) -> Result<Option<Bytes>, LineError> {
        if self.searched == self.buffer.len() {
            return Ok(None);
        }
        while let Some(found) = memchr(b'\n', &self.buffer[self.searched..]) {
            let mut line = self.buffer.split_to(self.searched + found + 1);
            self.searched = 0;
            line.truncate(line.len() - 1);
            match self.state {
                State::Discarding => self.state = State::Lines,
                State::Start | State::Lines | State::Ended => {
                    if let Some(line) = self.line(line)? {
                        return Ok(Some(line));
                    }
                }
            }
        }
        self.searched = self.buffer.len();
        if self.state == State::Discarding {
            self.forget();
        } else if self.buffer.len() > self.limit.saturating_add(AROUND) {
            self.forget();
            self.state = State::Discarding;
            return Err(LineError::TooLong { limit: self.limit });
        }
        Ok(None)
    }

    fn end(&mut self) -> Result<Option<Bytes>, LineError> {
        let discarded = self.state == State::Discarding;
        let rest = std::mem::take(&mut self.buffer);
        self.searched = 0;
        let line = if discarded { Ok(None) } else { self.line(rest) };
        self.state = State::Ended;
        line
    }

    /// What counts of a line; nothing if it is blank.
    fn line(&mut self, mut line: BytesMut) -> Result<Option<Bytes>, LineError> {
        if self.state == State::Start {
            self.state = State::Lines;
            if line.starts_with(BOM) {
                line.advance(BOM.len());
            }
        }
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        if line.len() > self.limit {
            return Err(LineError::TooLong { limit: self.limit });
        }
        let blank = line.iter().all(u8::is_ascii_whitespace);
        Ok((!blank).then(|| line.freeze()))
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    fn forget(&mut self) {
        self.searched = 0;
        // A long line has grown the buffer; do not keep that.
        self.buffer = BytesMut::new();
    }
}

const BOM: &[u8] = b"\xef\xbb\xbf";
/// A byte order mark and a carriage return: what may stand around a line that still fits.
const AROUND: usize = 4;
/// As much as a pipe usually holds.
const READ: usize = 64 << 10;
/// With less room than this, another buffer is cheaper than many small reads.
const LEAST_ROOM: usize = 4 << 10;
