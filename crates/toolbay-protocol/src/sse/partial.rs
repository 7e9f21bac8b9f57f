//! An event as its fields come in. Not for finding the lines: see `read`.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::{Item, Message, Name, Priming, StreamFault};

/// An event whose blank line has not come yet.
#[derive(Debug, Default)]
pub(super) struct Partial {
    id: Option<String>,
    name: Name,
    retry: Option<Duration>,
    pub(super) data: Data,
    fault: Option<StreamFault>,
}

#[derive(Debug, Default)]
pub(super) enum Data {
    #[default]
    None,
    One(Bytes),
    Many(BytesMut),
}

impl Partial {
    pub(super) fn set(&mut self, field: &[u8], value: Bytes) {
        match field {
            b"data" => self.data = std::mem::take(&mut self.data).with(value),
            b"id" if !value.contains(&0) => self.id = self.text(&value),
            b"event" => self.name = self.text(&value).map_or(Name::Message, Name::of),
            b"retry" => self.retry = milliseconds(&value).or(self.retry),
            // spec: the event-stream format ignores what it does not know.
            _ => {}
        }
    }

    fn text(&mut self, value: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(value);
        if text.is_err() {
            self.fault = Some(StreamFault::NotUtf8);
        }
        text.ok().map(str::to_owned)
    }

    pub(super) fn held(&self) -> usize {
        let name = if let Name::Other(name) = &self.name { name.len() } else { 0 };
        name + self.id.as_ref().map_or(0, String::len) + self.data.len()
    }

    pub(super) fn finish(self) -> Result<Option<Item>, StreamFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let Self { id, name, retry, data, fault: _ } = self;
        let data = data.into_bytes();
        if data.is_empty() {
            let counts = id.is_some() || retry.is_some();
            return Ok(counts.then_some(Item::Priming(Priming { id, retry })));
        }
        if std::str::from_utf8(&data).is_err() {
            return Err(StreamFault::NotUtf8);
        }
        Ok(Some(Item::Message(Message { id, name, retry, data })))
    }
}

impl Data {
    fn with(self, line: Bytes) -> Self {
        let mut joined = match self {
            Self::None => return Self::One(line),
            Self::One(first) => BytesMut::from(&first[..]),
            Self::Many(joined) => joined,
        };
        joined.reserve(line.len() + 1);
        joined.extend_from_slice(b"\n");
        joined.extend_from_slice(&line);
        Self::Many(joined)
    }

    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            // One more than there is, for the line end before the next line: endless empty lines must reach the limit too.
            Self::One(line) => line.len() + 1,
            Self::Many(joined) => joined.len() + 1,
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::None => Bytes::new(),
            Self::One(line) => line,
            Self::Many(joined) => joined.freeze(),
        }
    }
}

/// Digits only, as the format asks; anything else is ignored.
fn milliseconds(value: &[u8]) -> Option<Duration> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| digits)?;
    text.parse().ok().map(Duration::from_millis)
}
