//! Whether a connection is alive, without a timer or a look at the clock for each request: whatever is answered or written
//! leaves a mark, and a slow tick looks for marks.

use std::{
    io::IoSlice,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use hyper::rt::{Read, ReadBufCursor, Write};

/// The marks of one connection.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    beat: AtomicBool,
    busy: AtomicUsize,
}

impl Pulse {
    /// Marks a request until the guard is dropped.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.beat.store(true, Ordering::Relaxed);
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Waits until nothing was answered, written or worked on for `limit`, give or take a half.
    pub(super) async fn stopped(&self, limit: Duration) {
        let mut quiet = 0;
        while quiet < 2 {
            tokio::time::sleep(limit / 2).await;
            let alive = self.beat.swap(false, Ordering::Relaxed) || self.busy.load(Ordering::Relaxed) > 0;
            quiet = if alive { 0 } else { quiet + 1 };
        }
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Busy(Arc<Pulse>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.beat.store(true, Ordering::Relaxed);
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection whose writes leave marks. Reads leave none: a request that never becomes whole is no sign of life.
pub(super) struct Marked<T> {
    inner: T,
    pulse: Arc<Pulse>,
}

impl<T> Marked<T> {
    pub(super) fn new(inner: T, pulse: Arc<Pulse>) -> Self {
        Self { inner, pulse }
    }

    fn mark(&self, written: Poll<std::io::Result<usize>>) -> Poll<std::io::Result<usize>> {
        if let Poll::Ready(Ok(1..)) = written {
            self.pulse.beat.store(true, Ordering::Relaxed);
        }
        written
    }
}

impl<T: Read + Unpin> Read for Marked<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<T: Write + Unpin> Write for Marked<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.mark(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        self.mark(written)
    }
}
