use std::future::Future as _;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::FutureExt as _;
use tokio::io::{AsyncWriteExt as _, duplex};

use super::*;

async fn check(stream: &'static [u8], expected: &[&str]) {
    let mut reader = LineReader::new(stream);
    let mut found = Vec::new();
    while let Some(line) = reader.next().await.unwrap() {
        found.push(String::from_utf8(line.to_vec()).unwrap());
    }
    assert_eq!(found, expected);
    assert!(reader.next().await.unwrap().is_none());
}

#[tokio::test]
async fn lines_are_found_whatever_surrounds_them() {
    check(b"{}\n[]\n", &["{}", "[]"]).await;
    check(b"{}\r\n\n \t\n\r\nlast", &["{}", "last"]).await;
    check(b"\xef\xbb\xbf{}\n", &["{}"]).await;
    check(b"\r", &[]).await;
    check(b"", &[]).await;
}

#[tokio::test]
async fn a_long_line_is_named_and_the_next_one_read() {
    let stream =
        [b"12345678\r\n123456789\n".to_vec(), vec![b'x'; 300_000], b"\nok\n".to_vec(), vec![b'y'; 50]].concat();
    let mut reader = LineReader::with_limit(&stream[..], 8);
    let too_long = |found: Result<Option<Bytes>, LineError>| {
        assert!(found.unwrap_err().to_string().contains("limit of 8 bytes"));
    };
    assert_eq!(reader.next().await.unwrap().unwrap(), "12345678");
    too_long(reader.next().await);
    too_long(reader.next().await);
    assert_eq!(reader.next().await.unwrap().unwrap(), "ok");
    too_long(reader.next().await);
    assert!(reader.next().await.unwrap().is_none());
}

#[tokio::test]
async fn an_endless_line_takes_bounded_memory() {
    let (mut peer, ours) = duplex(64 << 10);
    let flood = tokio::spawn(async move {
        for _ in 0..2000 {
            peer.write_all(&[b'x'; 32 << 10]).await.unwrap();
        }
        peer.write_all(b"\n{}\n").await.unwrap();
    });
    let mut reader = LineReader::with_limit(ours, 100_000);
    assert!(reader.next().await.is_err());
    assert_eq!(reader.next().await.unwrap().unwrap(), "{}");
    assert!(reader.capacity() <= 256 << 10);
    flood.await.unwrap();
}

#[tokio::test]
async fn a_dropped_wait_loses_nothing() {
    let (mut peer, ours) = duplex(64);
    let mut reader = LineReader::new(ours);
    for part in [&b"{\"a\""[..], b":", b"1}\n{\"b\""] {
        {
            let mut next = pin!(reader.next());
            assert!(next.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        peer.write_all(part).await.unwrap();
    }
    assert_eq!(reader.next().await.unwrap().unwrap(), "{\"a\":1}");
    drop(peer);
    assert_eq!(reader.next().await.unwrap().unwrap(), "{\"b\"");
}

#[tokio::test]
async fn lines_read_together_share_one_buffer() {
    let mut reader = LineReader::new(&b"{\"a\":1}\n{\"b\":2}\n"[..]);
    let first = reader.next().await.unwrap().unwrap();
    let second = reader.buffered().unwrap().unwrap();
    assert_eq!(second.as_ptr() as usize - first.as_ptr() as usize, first.len() + 1);
    assert!(reader.buffered().unwrap().is_none());
}

#[tokio::test]
async fn a_message_never_spans_lines() {
    let mut writer = LineWriter::new(Vec::new());
    writer.write_all([&b"{\n  \"a\":\r\n 1}"[..], b"{}"]).await.unwrap();
    assert_eq!(writer.pending(), 0);
    assert_eq!(writer.into_inner(), b"{   \"a\":   1}\n{}\n");
}

#[tokio::test]
async fn a_dropped_write_goes_on_where_it_stopped() {
    let (ours, peer) = duplex(4);
    let mut writer = LineWriter::new(ours);
    writer.push(b"{\"a\":123456789}");
    {
        let mut flush = pin!(writer.flush());
        assert!(matches!(flush.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
    }
    assert!(writer.pending() > 0);
    let mut reader = LineReader::new(peer);
    let (written, read) = tokio::join!(writer.flush(), reader.next());
    written.unwrap();
    assert_eq!(read.unwrap().unwrap(), "{\"a\":123456789}");
}

/// Takes every byte at once and says at the second try that they are through.
#[derive(Default)]
struct Buffered {
    flushes: usize,
}

impl tokio::io::AsyncWrite for Buffered {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.flushes += 1;
        if self.flushes > 1 { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn what_was_taken_but_is_not_through_is_still_pending() {
    let mut writer = LineWriter::new(Buffered::default());
    writer.push(b"{}");
    assert!(writer.flush().now_or_never().is_none());
    assert!(writer.pending() > 0);
    writer.flush().await.unwrap();
    assert_eq!(writer.pending(), 0);
}
