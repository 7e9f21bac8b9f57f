//! Writing lines, many with one system call. Not a queue: whoever pushes bounds what is pending.

use std::{
    future::{Future as _, poll_fn},
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use bytes::{BufMut, BytesMut};
use memchr::memchr2;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// Writes messages, one a line.
#[derive(Debug)]
pub struct LineWriter<W> {
    inner: W,
    pending: BytesMut,
    /// Whether the stream has taken bytes that may not be through yet.
    taken: bool,
}

impl<W: AsyncWrite + Unpin> LineWriter<W> {
    /// A writer with nothing pending.
    pub fn new(inner: W) -> Self {
        Self { inner, pending: BytesMut::new(), taken: false }
    }

    /// Puts one message behind what is pending. Line ends inside are JSON's insignificant blanks and become spaces.
    pub fn push(&mut self, message: &[u8]) {
        self.push_with(|out| out.put_slice(message));
    }

    /// The same for a message that is written here.
    pub fn push_with(&mut self, write: impl FnOnce(&mut BytesMut)) {
        let start = self.pending.len();
        write(&mut self.pending);
        let mut message = &mut self.pending[start..];
        while let Some(at) = memchr2(b'\n', b'\r', message) {
            message[at] = b' ';
            message = &mut message[at + 1..];
        }
        self.pending.put_u8(b'\n');
    }

    /// How many bytes wait to be written; never none before all are through.
    pub fn pending(&self) -> usize {
        self.pending.len() + usize::from(self.taken)
    }

    /// Writes what is pending. If the future is dropped, the next call goes on where it stopped.
    pub async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// The same, for whoever polls.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.pending.is_empty() {
            self.taken = true;
            let write = pin!(self.inner.write_buf(&mut self.pending));
            if ready!(write.poll(cx))? == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
        }
        if self.pending.capacity() > KEPT {
            self.pending = BytesMut::new();
        }
        ready!(Pin::new(&mut self.inner).poll_flush(cx))?;
        self.taken = false;
        Poll::Ready(Ok(()))
    }

    /// Pushes a batch and writes it.
    pub async fn write_all<M: AsRef<[u8]>>(&mut self, batch: impl IntoIterator<Item = M>) -> io::Result<()> {
        for message in batch {
            self.push(message.as_ref());
        }
        self.flush().await
    }

    /// The stream itself; what is pending is lost.
    pub fn into_inner(self) -> W {
        self.inner
    }
}

/// The largest buffer kept for the next batch.
const KEPT: usize = 1 << 20;
