//! Any bytes as a stream of events: where they are cut changes nothing, limits hold, and a plain reading of the format
//! finds the same events. What is written is read.

use std::time::Duration;

use arbitrary::{Arbitrary, Unstructured};
use bytes::{Bytes, BytesMut};
use toolbay_protocol::sse::{Decoder, Event, Item, Message, Name, Priming, StreamFault, comment, keep_alive, priming};

type Read = Vec<Result<Item, StreamFault>>;

/// The first byte says how large an event may be, the second where the stream is cut, the rest is the stream.
pub fn sse(data: &[u8]) {
    let [size, cut, stream @ ..] = data else { return };
    let limit = if size.is_multiple_of(4) { 1 << 20 } else { usize::from(*size) };
    let whole = at_once(stream, limit);
    assert_eq!(whole, in_pieces(stream, limit, &mut Cuts(*cut)), "cut by {cut}");
    assert_eq!(whole, in_pieces(stream, limit, &mut Cuts(0)), "byte by byte");
    for item in whole.iter().flatten() {
        assert!(held(item) <= limit, "{item:?} is larger than {limit}");
    }
    if stream.len() <= limit {
        assert_eq!(whole, plainly(stream), "read plainly");
    }
    written(stream);
}

fn held(item: &Item) -> usize {
    match item {
        Item::Message(message) => message.data.len() + message.id.as_ref().map_or(0, String::len),
        Item::Priming(priming) => priming.id.as_ref().map_or(0, String::len),
    }
}

fn pull(decoder: &mut Decoder, read: &mut Read) {
    read.extend(std::iter::from_fn(|| decoder.pull().transpose()));
}

fn at_once(stream: &[u8], limit: usize) -> Read {
    let (mut decoder, mut read) = (Decoder::with_limit(limit), vec![]);
    decoder.push(Bytes::copy_from_slice(stream));
    pull(&mut decoder, &mut read);
    read
}

/// Where to cut: the lengths of pieces, made from one byte; nought cuts after every byte.
struct Cuts(u8);

impl Cuts {
    fn next(&mut self) -> usize {
        if self.0 == 0 {
            return 1;
        }
        self.0 = self.0.wrapping_mul(181).wrapping_add(53) | 1;
        usize::from(self.0 >> 4)
    }
}

/// Every other piece is left to lie for a while.
fn in_pieces(mut stream: &[u8], limit: usize, cuts: &mut Cuts) -> Read {
    let (mut decoder, mut read) = (Decoder::with_limit(limit), vec![]);
    let mut lazy = false;
    while !stream.is_empty() {
        let (piece, rest) = stream.split_at(cuts.next().min(stream.len()));
        decoder.push(Bytes::copy_from_slice(piece));
        lazy = !lazy && cuts.0.is_multiple_of(3);
        if !lazy {
            pull(&mut decoder, &mut read);
        }
        stream = rest;
    }
    pull(&mut decoder, &mut read);
    read
}

/// The format as its description reads, one line after the other.
fn plainly(stream: &[u8]) -> Read {
    let (mut read, mut event) = (vec![], Plain::default());
    for line in lines(stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream)) {
        if line.is_empty() {
            read.extend(std::mem::take(&mut event).end());
        } else {
            event.line(line);
        }
    }
    read
}

/// Lines with an end, without it.
fn lines(mut stream: &[u8]) -> Vec<&[u8]> {
    let mut lines = vec![];
    while let Some(end) = stream.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        lines.push(&stream[..end]);
        let width = if stream[end..].starts_with(b"\r\n") { 2 } else { 1 };
        stream = &stream[end + width..];
    }
    lines
}

#[derive(Default)]
struct Plain {
    id: Option<String>,
    name: String,
    retry: Option<Duration>,
    data: Option<Vec<u8>>,
    broken: bool,
}

impl Plain {
    fn line(&mut self, line: &[u8]) {
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = colon.map_or((line, &[][..]), |at| (&line[..at], &line[at + 1..]));
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8(value.to_vec());
        match field {
            b"data" => match &mut self.data {
                Some(data) => data.extend([b"\n", value].concat()),
                None => self.data = Some(value.to_vec()),
            },
            b"id" if !value.contains(&0) => match text() {
                Ok(id) => self.id = Some(id),
                Err(_) => (self.id, self.broken) = (None, true),
            },
            b"event" => match text() {
                Ok(name) => self.name = name,
                Err(_) => self.broken = true,
            },
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let number = text().ok().and_then(|digits| digits.parse().ok());
                self.retry = number.map(Duration::from_millis).or(self.retry);
            }
            _ => {}
        }
    }

    fn end(self) -> Option<Result<Item, StreamFault>> {
        let Self { id, name, retry, data, broken } = self;
        let data = data.unwrap_or_default();
        if broken || std::str::from_utf8(&data).is_err() {
            return Some(Err(StreamFault::NotUtf8));
        }
        if data.is_empty() {
            return (id.is_some() || retry.is_some()).then_some(Ok(Item::Priming(Priming { id, retry })));
        }
        Some(Ok(Item::Message(Message { id, name: named(&name), retry, data: data.into() })))
    }
}

fn named(name: &str) -> Name {
    match name {
        "" | "message" => Name::Message,
        "endpoint" => Name::Endpoint,
        other => Name::Other(other.to_owned()),
    }
}

#[derive(Arbitrary, Debug)]
enum Write<'a> {
    Event { id: Option<&'a str>, name: Option<&'a str>, retry: Option<u32>, data: &'a str },
    Priming { id: &'a str, retry: Option<u32> },
    Comment(&'a str),
    Alive,
}

/// Writes what the bytes ask for, and reads it again.
fn written(data: &[u8]) {
    let mut source = Unstructured::new(data);
    let (mut out, mut expected) = (BytesMut::new(), vec![]);
    while let (false, Ok(write)) = (source.is_empty() || expected.len() > 64, Write::arbitrary(&mut source)) {
        let millis = |retry: Option<u32>| retry.map(|millis| Duration::from_millis(millis.into()));
        match write {
            Write::Event { id, name, retry, data } => {
                Event { id, name, retry: millis(retry), data: data.as_bytes() }.write(&mut out);
                expected.extend(meant(id, name, millis(retry), data));
            }
            Write::Priming { id, retry } => {
                priming(id, millis(retry), &mut out);
                expected.extend(meant(Some(id), None, millis(retry), ""));
            }
            Write::Comment(text) => comment(text, &mut out),
            Write::Alive => keep_alive(&mut out),
        }
    }
    assert_eq!(at_once(&out, 1 << 20), expected, "written as {out:?}");
}

/// What an event means that was written.
fn meant(
    id: Option<&str>,
    name: Option<&str>,
    retry: Option<Duration>,
    data: &str,
) -> Option<Result<Item, StreamFault>> {
    let on_its_line = |text: &str| text.replace(['\r', '\n', '\0'], "");
    let id = id.map(on_its_line);
    let data = data.replace("\r\n", "\n").replace('\r', "\n");
    if data.is_empty() {
        return (id.is_some() || retry.is_some()).then_some(Ok(Item::Priming(Priming { id, retry })));
    }
    let name = named(&on_its_line(name.unwrap_or_default()));
    Some(Ok(Item::Message(Message { id, name, retry, data: data.into() })))
}
