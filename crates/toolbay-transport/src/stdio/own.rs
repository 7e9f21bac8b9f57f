//! Our own standard input and output as streams, without a thread in between where the system allows it.
//!
//! A pipe or socket is read and written without blocking. That is a flag of the *open file*, which other processes may share
//! (a shell's group, our stderr), so a pipe is opened anew where there is `/proc`; elsewhere the flag is put back on drop,
//! and an output shared with stderr is left to a blocking thread. Terminals and files always are: there a pending read keeps
//! its thread, so a program ends by leaving `main`, not by waiting for its runtime.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::fs::{FileType, OFlags, Stat, fcntl_getfl, fcntl_setfl, fstat};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// Our standard input.
#[derive(Debug)]
pub struct OwnInput(Stream<pipe::Receiver, tokio::io::Stdin>);

/// Our standard output.
#[derive(Debug)]
pub struct OwnOutput {
    stream: Stream<pipe::Sender, tokio::io::Stdout>,
    pipe: Pipe,
}

/// How much a pipe of ours holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pipe {
    /// As much as the system says.
    Usual,
    /// A long message was written to it: it holds as much as can be had.
    Wide,
}

/// As much as a pipe holds most of the time.
const USUAL: usize = 64 << 10;
/// As much as one may hold without privileges.
#[cfg(target_os = "linux")]
const WIDE: usize = 1 << 20;

/// Widens a pipe to which more is written than it holds, or writer and reader would take turns at each piece.
fn widen(pipe: &pipe::Sender) {
    #[cfg(target_os = "linux")]
    // Where that is not allowed, they take turns.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, WIDE);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}

#[derive(Debug)]
enum Stream<P, B> {
    Pipe(Restored<P>),
    Socket(Restored<UnixStream>),
    Blocking(B),
}

/// A stream whose open file gets its flags back when the stream is gone.
#[derive(Debug)]
struct Restored<S> {
    stream: S,
    _flags: Flags,
}

impl OwnInput {
    /// Takes standard input; nothing else may read it. Needs a tokio runtime with IO.
    pub fn open() -> io::Result<Self> {
        let fd = io::stdin().as_fd().try_clone_to_owned()?;
        let stat = fstat(&fd)?;
        Ok(Self(match FileType::from_raw_mode(stat.st_mode) {
            FileType::Fifo => match anew(|| pipe::OpenOptions::new().open_receiver("/proc/self/fd/0")) {
                Some(pipe) => Stream::Pipe(Restored { stream: pipe, _flags: Flags(None) }),
                None => {
                    let _flags = Flags::of(&fd)?;
                    Stream::Pipe(Restored { stream: pipe::Receiver::from_owned_fd(fd)?, _flags })
                }
            },
            FileType::Socket => match socket(fd, is_same(&stat, &io::stdout()))? {
                Some(socket) => Stream::Socket(socket),
                None => Stream::Blocking(tokio::io::stdin()),
            },
            _ => Stream::Blocking(tokio::io::stdin()),
        }))
    }
}

impl OwnOutput {
    /// Takes standard output; nothing else may write to it. Needs a tokio runtime with IO.
    pub fn open() -> io::Result<Self> {
        let fd = io::stdout().as_fd().try_clone_to_owned()?;
        let stat = fstat(&fd)?;
        let with_stderr = is_same(&stat, &io::stderr()) == Shared::Yes;
        let stream = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Fifo => match anew(|| pipe::OpenOptions::new().open_sender("/proc/self/fd/1")) {
                Some(pipe) => Stream::Pipe(Restored { stream: pipe, _flags: Flags(None) }),
                // Without blocking, whoever logs to stderr would lose text.
                None if with_stderr => Stream::Blocking(tokio::io::stdout()),
                None => {
                    let _flags = Flags::of(&fd)?;
                    Stream::Pipe(Restored { stream: pipe::Sender::from_owned_fd(fd)?, _flags })
                }
            },
            FileType::Socket if !with_stderr => match socket(fd, is_same(&stat, &io::stdin()))? {
                Some(socket) => Stream::Socket(socket),
                None => Stream::Blocking(tokio::io::stdout()),
            },
            _ => Stream::Blocking(tokio::io::stdout()),
        };
        Ok(Self { stream, pipe: Pipe::Usual })
    }
}

/// Opens a pipe of ours a second time, so that its flags are ours alone; impossible without `/proc`.
fn anew<P>(open: impl FnOnce() -> io::Result<P>) -> Option<P> {
    if cfg!(target_os = "linux") { open().ok() } else { None }
}

/// A socket of the local kind (Node.js gives its children such), or nothing for another kind.
fn socket(fd: OwnedFd, other_direction: Shared) -> io::Result<Option<Restored<UnixStream>>> {
    let socket = StdUnixStream::from(fd);
    if socket.local_addr().is_err() {
        return Ok(None);
    }
    // The first of two directions to be dropped must not make the other block.
    let _flags = if other_direction == Shared::Yes { Flags(None) } else { Flags::of(&socket)? };
    socket.set_nonblocking(true)?;
    Ok(Some(Restored { stream: UnixStream::from_std(socket)?, _flags }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shared {
    Yes,
    No,
}

fn is_same(stat: &Stat, other: &impl AsFd) -> Shared {
    match fstat(other) {
        Ok(other) if (stat.st_dev, stat.st_ino) == (other.st_dev, other.st_ino) => Shared::Yes,
        _ => Shared::No,
    }
}

/// The flags of an open file, put back on drop.
#[derive(Debug)]
struct Flags(Option<(OwnedFd, OFlags)>);

impl Flags {
    fn of(fd: &impl AsFd) -> io::Result<Self> {
        Ok(Self(Some((fd.as_fd().try_clone_to_owned()?, fcntl_getfl(fd)?))))
    }
}

impl Drop for Flags {
    fn drop(&mut self) {
        if let Some((fd, flags)) = &self.0 {
            // Nobody is left to tell if it fails.
            let _ = fcntl_setfl(fd, *flags);
        }
    }
}

impl AsyncRead for OwnInput {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Stream::Pipe(pipe) => Pin::new(&mut pipe.stream).poll_read(cx, buf),
            Stream::Socket(socket) => Pin::new(&mut socket.stream).poll_read(cx, buf),
            Stream::Blocking(stdin) => Pin::new(stdin).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for OwnOutput {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let Self { stream, pipe: width } = &mut *self;
        match stream {
            Stream::Pipe(pipe) => {
                if buf.len() > USUAL && *width == Pipe::Usual {
                    *width = Pipe::Wide;
                    widen(&pipe.stream);
                }
                Pin::new(&mut pipe.stream).poll_write(cx, buf)
            }
            Stream::Socket(socket) => Pin::new(&mut socket.stream).poll_write(cx, buf),
            Stream::Blocking(stdout) => Pin::new(stdout).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Pipe(pipe) => Pin::new(&mut pipe.stream).poll_flush(cx),
            Stream::Socket(socket) => Pin::new(&mut socket.stream).poll_flush(cx),
            Stream::Blocking(stdout) => Pin::new(stdout).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        match &mut self.stream {
            Stream::Pipe(pipe) => Pin::new(&mut pipe.stream).poll_shutdown(cx),
            Stream::Socket(socket) => Pin::new(&mut socket.stream).poll_shutdown(cx),
            Stream::Blocking(stdout) => Pin::new(stdout).poll_shutdown(cx),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_widened_pipe_takes_a_long_message_at_once() {
        let (sender, _receiver) = pipe::pipe().unwrap();
        widen(&sender);
        sender.writable().await.unwrap();
        assert_eq!(sender.try_write(&vec![b'x'; 4 * USUAL]).unwrap(), 4 * USUAL);
    }
}
