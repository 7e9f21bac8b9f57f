//! The end of what a child wrote to stderr, bounded. It is told, never judged: writing to stderr is no error.
// spec: basic/transports/stdio

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Called with each line a server writes to stderr, in order, from the task that reads it; it must not block.
#[derive(Clone)]
pub struct OnLine(Arc<dyn Fn(&str) + Send + Sync>);

impl OnLine {
    /// Wraps a function.
    pub fn new(hook: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hook))
    }
}

impl fmt::Debug for OnLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnLine")
    }
}

/// The task that reads stderr and what it has kept. Dropping it ends the task.
#[derive(Debug)]
pub(super) struct Stderr {
    tail: Arc<Mutex<Tail>>,
    task: JoinHandle<()>,
}

impl Stderr {
    pub(super) fn read(stream: impl AsyncRead + Unpin + Send + 'static, hook: Option<OnLine>) -> Self {
        let tail = Arc::new(Mutex::new(Tail::default()));
        let task = tokio::spawn(follow(stream, Arc::clone(&tail), hook));
        Self { tail, task }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.lines.iter().cloned().chain(tail.unfinished()).collect()
    }

    /// Waits until everything is read, or a little while: somebody else may hold the pipe open.
    pub(super) async fn drained(&mut self) {
        if !self.task.is_finished() && timeout(DRAIN, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

impl Drop for Stderr {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn follow(mut stream: impl AsyncRead + Unpin, tail: Arc<Mutex<Tail>>, hook: Option<OnLine>) {
    let mut chunk = vec![0; CHUNK];
    // A stream that cannot be read has ended.
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        let lines = tail.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..read]);
        if let Some(OnLine(hook)) = &hook {
            lines.iter().for_each(|line| hook(line));
        }
    }
    let last = tail.lock().unwrap_or_else(PoisonError::into_inner).finish();
    if let (Some(OnLine(hook)), Some(last)) = (&hook, last) {
        hook(&last);
    }
}

/// The last lines, of which the oldest make room for the newest.
#[derive(Debug, Default)]
struct Tail {
    lines: VecDeque<String>,
    held: usize,
    partial: Vec<u8>,
}

impl Tail {
    /// Takes bytes and gives the lines they complete.
    fn push(&mut self, mut bytes: &[u8]) -> Vec<String> {
        let mut completed = Vec::new();
        while !bytes.is_empty() {
            let room = LONGEST - self.partial.len();
            let window = &bytes[..bytes.len().min(room)];
            let end = memchr(b'\n', window);
            self.partial.extend_from_slice(&window[..end.unwrap_or(window.len())]);
            bytes = &bytes[end.map_or(window.len(), |end| end + 1)..];
            if end.is_some() || self.partial.len() == LONGEST {
                completed.extend(self.finish());
            }
        }
        completed
    }

    /// Takes what has come of a line as a line; an empty one is not kept.
    fn finish(&mut self) -> Option<String> {
        let line = self.unfinished();
        self.partial.clear();
        let line = line?;
        self.held += line.len();
        self.lines.push_back(line.clone());
        while self.held > TAIL {
            self.held -= self.lines.pop_front().map_or(self.held, |oldest| oldest.len());
        }
        Some(line)
    }

    fn unfinished(&self) -> Option<String> {
        let line = self.partial.strip_suffix(b"\r").unwrap_or(&self.partial);
        (!line.is_empty()).then(|| String::from_utf8_lossy(line).into_owned())
    }
}

/// How much is kept.
const TAIL: usize = 64 << 10;
/// A line longer than this is cut into several.
const LONGEST: usize = 4 << 10;
const CHUNK: usize = 8 << 10;
const DRAIN: std::time::Duration = std::time::Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_keeps_the_newest_lines() {
        let mut tail = Tail::default();
        assert_eq!(tail.push(b"a\r\n\nb"), ["a"]);
        assert_eq!(tail.unfinished().as_deref(), Some("b"));
        assert_eq!(tail.push(b"c\n"), ["bc"]);
        for number in 0..100_000 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        assert!(tail.held <= TAIL);
        assert_eq!(tail.lines.back().unwrap(), "line 99999");
        assert_eq!(tail.lines.iter().map(String::len).sum::<usize>(), tail.held);
    }

    #[test]
    fn an_endless_line_is_cut() {
        let mut tail = Tail::default();
        assert_eq!(tail.push(&vec![b'x'; 1 << 20]).len(), (1 << 20) / LONGEST);
        assert!(tail.held <= TAIL && tail.partial.is_empty());
    }
}
