//! JSON that stays bytes: a slice of the read buffer that holds exactly one value.

mod write;

use std::{borrow::Cow, fmt, ops::Range};

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;

pub use write::{Array, Object};
pub(crate) use write::{Quoted, put_text};

use crate::scan::{self, Flaw, Limits, Seen};

/// Exactly one JSON value, as it was written; cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Raw(Bytes);

/// What sort of JSON value a [`Raw`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "JSON's own words")]
pub enum Kind {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

impl Raw {
    /// The empty object.
    pub const EMPTY: Self = Self(Bytes::from_static(b"{}"));
    /// The number nought.
    pub const ZERO: Self = Self(Bytes::from_static(b"0"));
    /// The null value.
    pub const NULL: Self = Self(Bytes::from_static(b"null"));

    /// Takes text from outside, checking that it is one JSON value within `limits`.
    pub fn parse(text: Bytes, limits: Limits) -> Result<Self, Flaw> {
        let place = scan::check(&text, limits)?;
        Ok(Self(text.slice(place)))
    }

    /// Writes a value of this crate's own types (or a `serde_json::Value`).
    ///
    /// # Panics
    /// If serializing fails, which for those types it cannot; take [`Raw::encode`] for anybody else's.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        Self::encode(value).expect("the protocol's own types always serialize")
    }

    /// The array of `items`, each as it was written.
    pub fn array(items: &[Raw]) -> Self {
        let mut array = Array::with_capacity(items.iter().map(|item| item.0.len() + 1).sum());
        items.iter().for_each(|item| array.push(item));
        array.finish()
    }

    /// Writes any serializable value.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_vec(value).map(|text| Self(text.into()))
    }

    /// Writes any serializable value into a buffer that has room for `capacity` bytes at first.
    pub fn encode_within<T: Serialize + ?Sized>(value: &T, capacity: usize) -> Result<Self, serde_json::Error> {
        let mut text = Vec::with_capacity(capacity);
        serde_json::to_writer(&mut text, value)?;
        Ok(Self(text.into()))
    }

    /// A slice that the scanner has already judged.
    pub(crate) fn judged(text: Bytes) -> Self {
        Self(text)
    }

    /// The text, as it was written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, as a string.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("JSON is UTF-8, which was checked when it came in or was written here")
    }

    /// The text, as a shared buffer.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// Reads the value as a `T`.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }

    /// Reads the value as a `T` that may borrow from it.
    pub fn borrow<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }

    /// What sort of value this is.
    pub fn kind(&self) -> Kind {
        match self.0.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    /// The string this is, unescaped; `None` for any other kind.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        (self.kind() == Kind::String).then(|| scan::unquote(&self.0))
    }

    /// The members of an object in the order they stand; none for any other kind.
    pub fn members(&self) -> Members<'_> {
        Members { text: &self.0, walk: self.walk() }
    }

    fn walk(&self) -> Walk<'_> {
        let at = if self.kind() == Kind::Object { 1 } else { self.0.len() };
        Walk { text: &self.0, at }
    }

    /// The elements of an array; none for any other kind.
    pub fn elements(&self) -> impl Iterator<Item = Raw> + '_ {
        let mut at = if self.kind() == Kind::Array { 1 } else { self.0.len() };
        std::iter::from_fn(move || {
            at = skip(&self.0, at);
            if matches!(self.0.get(at), None | Some(b']')) {
                return None;
            }
            let end = scan::trusted_end(&self.0, at);
            let element = Raw(self.0.slice(at..end));
            at = end;
            Some(element)
        })
    }

    /// The member called `key`, matched exactly.
    pub fn get(&self, key: &str) -> Option<Raw> {
        self.walk().find(|(quoted, _)| says(quoted, key)).map(|(_, place)| Raw(self.0.slice(place)))
    }

    /// The members called `keys`, and whether all keys are [distinct](Self::distinct), in one walk.
    pub fn gather<const N: usize>(&self, keys: [&str; N]) -> Result<[Option<Raw>; N], Flaw> {
        Ok(self.places(keys)?.map(|place| place.map(|place| Raw(self.0.slice(place)))))
    }

    /// The same, saying where they stand.
    pub(crate) fn places<const N: usize>(&self, keys: [&str; N]) -> Result<[Option<Range<usize>>; N], Flaw> {
        let (mut found, mut seen, mut judged) = ([const { None }; N], Seen::default(), false);
        for (quoted, place) in self.walk() {
            // One closer look is enough for all keys.
            if !judged && !seen.is_new(quoted) {
                self.distinct_among_many()?;
                judged = true;
            }
            if let Some(slot) = keys.iter().position(|key| says(quoted, key)) {
                found[slot].get_or_insert(place);
            }
        }
        Ok(found)
    }

    /// The value that stands there.
    pub(crate) fn slice(&self, place: Range<usize>) -> Option<Raw> {
        (place.end <= self.0.len() && place.start < place.end).then(|| Raw(self.0.slice(place)))
    }

    /// The first members called `keys`, in one walk.
    pub fn find<const N: usize>(&self, keys: [&str; N]) -> [Option<Raw>; N] {
        let mut found = [const { None }; N];
        for (quoted, place) in self.walk() {
            if let Some(slot) = keys.iter().position(|key| says(quoted, key)) {
                found[slot].get_or_insert_with(|| Raw(self.0.slice(place)));
            }
        }
        found
    }

    /// The members called `keys`, where the object holds nothing else and none of them twice.
    pub fn only<const N: usize>(&self, keys: [&str; N]) -> Option<[Option<Raw>; N]> {
        let mut found = [const { None }; N];
        for (quoted, place) in self.walk() {
            let slot = keys.iter().position(|key| says(quoted, key))?;
            if found[slot].replace(Raw(self.0.slice(place))).is_some() {
                return None;
            }
        }
        Some(found)
    }

    /// An error where a key stands twice, or two keys differ by case alone: what two readers of one object see must be
    /// the same (a published gateway let a method past its filter by exactly this difference).
    pub fn distinct(&self) -> Result<(), Flaw> {
        let mut seen = Seen::default();
        if self.walk().all(|(quoted, _)| seen.is_new(quoted)) { Ok(()) } else { self.distinct_among_many() }
    }

    fn distinct_among_many(&self) -> Result<(), Flaw> {
        let mut keys: Vec<_> = self.members().map(|member| fold(member.key)).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Flaw::DuplicateKey(pair[0].to_string())),
            None => Ok(()),
        }
    }

    /// The same object with members set, or (with `None`) taken out; all others stay as they were written. Anything but
    /// an object becomes an object.
    pub fn with(&self, edits: &[(&str, Option<&Raw>)]) -> Raw {
        debug_assert!(edits.len() <= EDITS);
        self.spliced(edits).unwrap_or_else(|| self.rebuilt(edits))
    }

    /// The same text with `new` in the place of `old`, a slice of it that was found in it before; `None` where it is none.
    pub fn replacing(&self, old: &Raw, new: &Raw) -> Option<Raw> {
        let start = old.0.as_ptr().addr().wrapping_sub(self.0.as_ptr().addr());
        let (before, behind) = (self.0.get(..start)?, self.0.get(start.checked_add(old.0.len())?..)?);
        let mut out = BytesMut::with_capacity(before.len() + new.0.len() + behind.len());
        out.put_slice(before);
        out.put_slice(&new.0);
        out.put_slice(behind);
        Some(Self(out.freeze()))
    }

    /// The same text with values put into the places of others, and members added at the end; `None` where a member goes,
    /// or stands twice.
    fn spliced(&self, edits: &[(&str, Option<&Raw>)]) -> Option<Raw> {
        if self.kind() != Kind::Object {
            return None;
        }
        let room: usize = edits.iter().map(|(key, value)| value.map_or(0, |value| key.len() + value.0.len() + 4)).sum();
        let (mut out, mut copied) = (BytesMut::with_capacity(self.0.len() + room), 0);
        let mut done = [false; EDITS];
        for (quoted, place) in self.walk() {
            let Some(edit) = edits.iter().position(|(key, _)| says(quoted, key)) else { continue };
            let value = edits[edit].1.filter(|_| !done[edit])?;
            out.put_slice(&self.0[copied..place.start]);
            out.put_slice(&value.0);
            (copied, done[edit]) = (place.end, true);
        }
        out.put_slice(self.0[copied..].strip_suffix(b"}")?);
        let mut first = out.iter().rev().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        for ((key, value), _) in edits.iter().zip(done).filter(|(_, done)| !done) {
            let Some(value) = value else { continue };
            if !std::mem::take(&mut first) {
                out.put_u8(b',');
            }
            put_text(&mut out, key);
            out.put_u8(b':');
            out.put_slice(&value.0);
        }
        out.put_u8(b'}');
        Some(Self(out.freeze()))
    }

    fn rebuilt(&self, edits: &[(&str, Option<&Raw>)]) -> Raw {
        let mut object = Object::with_capacity(self.0.len() + 64);
        let mut done = [false; EDITS];
        for member in self.members() {
            match edits.iter().position(|(key, _)| *key == member.key) {
                None => object.put(&member.key, &member.value),
                Some(place) => {
                    if let (false, Some(value)) = (done[place], edits[place].1) {
                        object.put(edits[place].0, value);
                    }
                    done[place] = true;
                }
            }
        }
        for ((key, value), _) in edits.iter().zip(done).filter(|(_, done)| !done) {
            if let Some(value) = value {
                object.put(key, value);
            }
        }
        object.finish()
    }
}

/// How many members are set or taken out at once.
const EDITS: usize = 8;

/// Letter case away, as the most lenient reader would (`ſ` is an `s`, the Kelvin sign a `k`).
fn fold(key: Cow<'_, str>) -> Cow<'_, str> {
    if key.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return key;
    }
    Cow::Owned(key.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect())
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(Bytes::from(String::from(Box::<str>::from(raw)))))
    }
}

/// One member of an object.
#[derive(Debug)]
pub struct Member<'a> {
    /// Its key, unescaped.
    pub key: Cow<'a, str>,
    /// Its value, a slice of the object's own text.
    pub value: Raw,
}

/// Walks the members of an object.
#[derive(Debug)]
pub struct Members<'a> {
    text: &'a Bytes,
    walk: Walk<'a>,
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        let (quoted, place) = self.walk.next()?;
        Some(Member { key: scan::unquote(quoted), value: Raw(self.text.slice(place)) })
    }
}

/// Walks the members of an object: each key as it is quoted, and the place of its value.
#[derive(Debug)]
struct Walk<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Walk<'a> {
    type Item = (&'a [u8], Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = skip(self.text, self.at);
        if self.text.get(start) != Some(&b'"') {
            return None;
        }
        let end = scan::trusted_string_end(self.text, start + 1);
        let value = skip(self.text, end);
        self.at = scan::trusted_end(self.text, value);
        Some((&self.text[start..end], value..self.at))
    }
}

/// Whether a quoted text says `key`. An escaped text is never shorter than what it says, and as long where it is no text
/// (a lone surrogate) and stays as it was written.
fn says(quoted: &[u8], key: &str) -> bool {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let key = key.as_bytes();
    if inner.len() == key.len() && !key.contains(&b'\\') {
        return inner == key;
    }
    inner.len() >= key.len() && inner.contains(&b'\\') && scan::unquote(quoted).as_bytes() == key
}

/// Past white space, commas and colons.
fn skip(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b',' | b':')).count()
}

#[cfg(test)]
mod tests;
