//! Objects, arrays and strings, written piece by piece. What is written here is JSON, so nobody judges it again.

use bytes::{BufMut, BytesMut};
use serde::Serialize;

use super::Raw;
use crate::scan;

/// Writes an object member by member, each value as bytes.
#[derive(Debug)]
pub struct Object(BytesMut);

impl Object {
    /// An empty object with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut text = BytesMut::with_capacity(capacity + 2);
        text.put_u8(b'{');
        Self(text)
    }

    /// Adds a member.
    pub fn put(&mut self, key: &str, value: &Raw) {
        if self.0.len() > 1 {
            self.0.put_u8(b',');
        }
        put_text(&mut self.0, key);
        self.0.put_u8(b':');
        self.0.put_slice(value.as_bytes());
    }

    /// Adds a member that is a string.
    pub fn put_text(&mut self, key: &str, text: &str) {
        if self.0.len() > 1 {
            self.0.put_u8(b',');
        }
        put_text(&mut self.0, key);
        self.0.put_u8(b':');
        put_text(&mut self.0, text);
    }

    /// Adds the members of `object` as they were written, but for those that `except` names.
    pub fn append(&mut self, object: &Raw, except: impl Fn(&str) -> bool) {
        for member in object.members().filter(|member| !except(&member.key)) {
            self.put(&member.key, &member.value);
        }
    }

    /// Adds a member whose value is serialized here.
    pub fn put_value<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) {
        self.put(key, &Raw::of(value));
    }

    /// The finished object.
    pub fn finish(mut self) -> Raw {
        self.0.put_u8(b'}');
        Raw::judged(self.0.freeze())
    }
}

/// Writes an array element by element, each as bytes.
#[derive(Debug)]
pub struct Array(BytesMut);

impl Array {
    /// An empty array with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut text = BytesMut::with_capacity(capacity + 2);
        text.put_u8(b'[');
        Self(text)
    }

    /// Adds an element.
    pub fn push(&mut self, value: &Raw) {
        if self.0.len() > 1 {
            self.0.put_u8(b',');
        }
        self.0.put_slice(value.as_bytes());
    }

    /// The finished array.
    pub fn finish(mut self) -> Raw {
        self.0.put_u8(b']');
        Raw::judged(self.0.freeze())
    }
}

/// Writes `text` as a JSON string.
pub(crate) fn put_text(out: &mut BytesMut, text: &str) {
    Quoted::of(text).put(out);
}

/// A text to be written as a JSON string, looked through once.
pub(crate) struct Quoted<'t> {
    text: &'t str,
    /// How many bytes at the front need no escape.
    plain: usize,
}

impl<'t> Quoted<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { text, plain: scan::plain_run(text.as_bytes()) }
    }

    /// How many bytes it will take, where none but the short escapes are needed.
    pub(crate) fn size(&self) -> usize {
        let escapes = |byte: &&u8| matches!(byte, 0..0x20 | b'"' | b'\\');
        self.text.len() + 2 + self.text.as_bytes()[self.plain..].iter().filter(escapes).count()
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        if self.plain == self.text.len() {
            out.put_u8(b'"');
            out.put_slice(self.text.as_bytes());
            out.put_u8(b'"');
        } else {
            serde_json::to_writer(out.writer(), self.text).expect("a string always serializes");
        }
    }
}
