//! Reading events from chunks cut anywhere. Not for reconnecting: the transport remembers ids and delays.
//!
//! Time is linear in the bytes pushed: what has been searched for a line end is never searched again. Memory is bounded by
//! the event limit, plus the chunks pushed and not yet pulled.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};
use memchr::{memchr, memchr2};

use super::partial::{Data, Partial};
use super::{Item, StreamFault};

/// The largest event accepted unless told otherwise: 16 MiB.
pub const DEFAULT_EVENT_LIMIT: usize = 16 << 20;

/// Turns chunks of an event stream into events: [`push`](Self::push) a chunk, then [`pull`](Self::pull) until nothing comes.
#[derive(Debug)]
pub struct Decoder {
    chunk: Bytes,
    queue: VecDeque<Bytes>,
    /// The beginning of a line whose end has not come yet, already searched.
    carry: BytesMut,
    event: Partial,
    limit: usize,
    at_start: bool,
    after_cr: bool,
    discard: Discard,
}

/// Whether the rest of an oversized event is being thrown away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Discard {
    No,
    AtLineStart,
    InsideLine,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with_limit(DEFAULT_EVENT_LIMIT)
    }
}

impl Decoder {
    /// A decoder that refuses events of more than `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            chunk: Bytes::new(),
            queue: VecDeque::new(),
            carry: BytesMut::new(),
            event: Partial::default(),
            limit,
            at_start: true,
            after_cr: false,
            discard: Discard::No,
        }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, chunk: Bytes) {
        if self.chunk.is_empty() && self.queue.is_empty() {
            self.chunk = chunk;
        } else {
            self.queue.push_back(chunk);
        }
    }

    /// The next event, or nothing until more bytes are pushed.
    pub fn pull(&mut self) -> Result<Option<Item>, StreamFault> {
        while let Some(line) = self.line()? {
            if line.is_empty() {
                if let Some(item) = std::mem::take(&mut self.event).finish()? {
                    return Ok(Some(item));
                }
            } else {
                self.field(line)?;
            }
        }
        Ok(None)
    }

    /// Whether the stream, if it ends here, ends inside an event; such an event is lost.
    pub fn is_mid_event(&self) -> bool {
        !self.carry.is_empty() || !matches!(self.event.data, Data::None) || self.discard != Discard::No
    }

    /// The next whole line without its end.
    fn line(&mut self) -> Result<Option<Bytes>, StreamFault> {
        loop {
            if self.after_cr && !self.chunk.is_empty() {
                self.after_cr = false;
                if self.chunk[0] == b'\n' {
                    self.chunk.advance(1);
                }
            }
            if let Some(end) = memchr2(b'\r', b'\n', &self.chunk) {
                let line = self.chunk.split_to(end);
                self.after_cr = self.chunk[0] == b'\r';
                self.chunk.advance(1);
                if let Some(line) = self.complete(line)? {
                    return Ok(Some(line));
                }
                continue;
            }
            let rest = std::mem::take(&mut self.chunk);
            self.chunk = self.queue.pop_front().unwrap_or_default();
            self.hold(&rest)?;
            if self.chunk.is_empty() && self.queue.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Joins a line's end to its beginning; nothing if the line belongs to an event that is being thrown away.
    fn complete(&mut self, end: Bytes) -> Result<Option<Bytes>, StreamFault> {
        if self.discard != Discard::No {
            let blank = end.is_empty() && self.discard == Discard::AtLineStart;
            self.discard = if blank { Discard::No } else { Discard::AtLineStart };
            return Ok(None);
        }
        if !self.has_room(end.len()) {
            return Err(self.refuse(Discard::AtLineStart));
        }
        let mut line = if self.carry.is_empty() {
            end
        } else {
            self.carry.extend_from_slice(&end);
            self.carry.split().freeze()
        };
        if std::mem::take(&mut self.at_start) && line.starts_with(BOM) {
            line.advance(BOM.len());
        }
        Ok(Some(line))
    }

    /// Keeps the beginning of a line until its end comes.
    fn hold(&mut self, rest: &[u8]) -> Result<(), StreamFault> {
        if rest.is_empty() {
            return Ok(());
        }
        if self.discard != Discard::No {
            self.discard = Discard::InsideLine;
            return Ok(());
        }
        if !self.has_room(rest.len()) {
            return Err(self.refuse(Discard::InsideLine));
        }
        self.carry.extend_from_slice(rest);
        Ok(())
    }

    /// Whether the line being read may grow by so much. Comments count too, each alone, so that no line is kept without end.
    fn has_room(&self, more: usize) -> bool {
        self.event.held() + self.carry.len() + more <= self.limit.saturating_add(LONGEST_FIELD_NAME)
    }

    fn field(&mut self, line: Bytes) -> Result<(), StreamFault> {
        let colon = memchr(b':', &line);
        if colon == Some(0) {
            return Ok(());
        }
        let mut value = colon.map_or_else(Bytes::new, |at| line.slice(at + 1..));
        if value.first() == Some(&b' ') {
            value.advance(1);
        }
        let name = &line[..colon.unwrap_or(line.len())];
        if matches!(name, b"data" | b"id" | b"event") && self.event.held() + value.len() > self.limit {
            return Err(self.refuse(Discard::AtLineStart));
        }
        self.event.set(name, value);
        Ok(())
    }

    fn refuse(&mut self, discard: Discard) -> StreamFault {
        self.discard = discard;
        self.carry = BytesMut::new();
        self.event = Partial::default();
        self.at_start = false;
        StreamFault::TooLarge { limit: self.limit }
    }
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// `event: ` and a byte order mark: what a line may hold beyond a value that still fits.
const LONGEST_FIELD_NAME: usize = 10;
