//! Writing events. Not for deciding when to write them: keep-alive timers and event ids belong to the transport.

use std::time::Duration;

use bytes::{BufMut, BytesMut};
use memchr::{memchr2, memchr3_iter};

/// One event to be written to a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Event<'a> {
    /// What a client sends back as `Last-Event-ID`; line ends and NUL are left out.
    pub id: Option<&'a str>,
    /// The kind of event; absent means `message`. Line ends and NUL are left out.
    pub name: Option<&'a str>,
    /// How long a client shall wait before it reconnects.
    pub retry: Option<Duration>,
    /// The payload: one `data:` line, or one for each line when it holds line ends.
    pub data: &'a [u8],
}

impl<'a> Event<'a> {
    /// An event that only carries data.
    pub fn of(data: &'a [u8]) -> Self {
        Self { data, ..Self::default() }
    }

    /// Appends the event with its closing blank line.
    pub fn write(&self, out: &mut BytesMut) {
        let fields = self.id.map_or(0, str::len) + self.name.map_or(0, str::len);
        out.reserve(fields + self.data.len() + FIELD_NAMES);
        if let Some(id) = self.id {
            field(b"id: ", id, out);
        }
        if let Some(name) = self.name {
            field(b"event: ", name, out);
        }
        if let Some(retry) = self.retry {
            field(b"retry: ", &retry.as_millis().to_string(), out);
        }
        data(self.data, out);
        out.put_u8(b'\n');
    }
}

/// Appends the event that gives a client an id (and perhaps a delay) to resume with before there is anything to say.
// spec: 2025-11-25 basic/transports, an event id with empty data
pub fn priming(id: &str, retry: Option<Duration>, out: &mut BytesMut) {
    Event { id: Some(id), retry, ..Event::default() }.write(out);
}

/// Appends a comment: one `:` line for each line of the text.
pub fn comment(text: &str, out: &mut BytesMut) {
    for line in text.split(['\r', '\n']) {
        out.put_slice(b": ");
        out.put_slice(line.as_bytes());
        out.put_u8(b'\n');
    }
    out.put_u8(b'\n');
}

/// Appends the shortest comment, to keep an idle stream from being cut.
pub fn keep_alive(out: &mut BytesMut) {
    out.put_slice(b":\n\n");
}

/// A field that must stay on its line; a line end inside would start a field of the sender's choosing.
fn field(name: &[u8], value: &str, out: &mut BytesMut) {
    out.put_slice(name);
    let mut from = 0;
    for at in memchr3_iter(b'\r', b'\n', 0, value.as_bytes()) {
        out.put_slice(&value.as_bytes()[from..at]);
        from = at + 1;
    }
    out.put_slice(&value.as_bytes()[from..]);
    out.put_u8(b'\n');
}

fn data(mut rest: &[u8], out: &mut BytesMut) {
    loop {
        out.put_slice(b"data: ");
        let Some(end) = memchr2(b'\r', b'\n', rest) else {
            out.put_slice(rest);
            out.put_u8(b'\n');
            return;
        };
        out.put_slice(&rest[..end]);
        out.put_u8(b'\n');
        let width = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + width..];
    }
}

/// Room for the names of the fields, a delay, and line ends.
const FIELD_NAMES: usize = 64;
