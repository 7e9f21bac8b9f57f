//! JSON that stays bytes: a slice of the read buffer that holds exactly one value.

use std::{borrow::Cow, fmt, ops::Range};

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::scan::{self, Flaw, Limits};

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
        let mut text = BytesMut::with_capacity(items.iter().map(|item| item.0.len() + 1).sum::<usize>() + 2);
        text.put_u8(b'[');
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                text.put_u8(b',');
            }
            text.put_slice(&item.0);
        }
        text.put_u8(b']');
        Self(text.freeze())
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
        let (mut found, mut seen) = ([const { None }; N], Seen::default());
        for (quoted, place) in self.walk() {
            if !seen.is_new(quoted) {
                self.distinct_among_many()?;
            }
            if let Some(slot) = keys.iter().position(|key| says(quoted, key)) {
                found[slot].get_or_insert_with(|| Raw(self.0.slice(place)));
            }
        }
        Ok(found)
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

/// The keys of an object so far, as they are quoted. Most objects are small and their keys plain, so that each can be held
/// against those before it.
#[derive(Default)]
struct Seen<'a> {
    keys: [&'a [u8]; 16],
    count: usize,
}

impl<'a> Seen<'a> {
    /// Whether a key is surely none of those before it; `false` also where only a closer look could tell.
    fn is_new(&mut self, quoted: &'a [u8]) -> bool {
        let plain = quoted.iter().all(|byte| byte.is_ascii() && *byte != b'\\');
        let twin = |before: &&[u8]| before.len() == quoted.len() && before.eq_ignore_ascii_case(quoted);
        if self.count == self.keys.len() || !plain || self.keys[..self.count].iter().any(twin) {
            return false;
        }
        self.keys[self.count] = quoted;
        self.count += 1;
        true
    }
}

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
        self.0.put_slice(&value.0);
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
        Raw(self.0.freeze())
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
        self.0.put_slice(&value.0);
    }

    /// The finished array.
    pub fn finish(mut self) -> Raw {
        self.0.put_u8(b']');
        Raw(self.0.freeze())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(Bytes::copy_from_slice(text.as_bytes()), Limits::DEFAULT).unwrap()
    }

    #[test]
    fn what_is_not_edited_stays_as_it_was_written() {
        let (one, two) = (raw("1"), raw("[2 ]"));
        let edits = [("k", Some(&one)), ("a", Some(&two)), ("gone", None)];
        for (text, edited) in [
            ("{}", r#"{"k":1,"a":[2 ]}"#),
            ("{ }", r#"{ "k":1,"a":[2 ]}"#),
            (r#"{"a":{}}"#, r#"{"a":[2 ],"k":1}"#),
            (r#"{"b":"{" , "\u0061" : 7 , "c":1.50 }"#, r#"{"b":"{" , "\u0061" : [2 ] , "c":1.50 ,"k":1}"#),
            (r#"{"k":0,"a":0}"#, r#"{"k":1,"a":[2 ]}"#),
            // A member that goes, and one that stands twice.
            (r#"{"b": 0, "gone" :1 ,"k":2}"#, r#"{"b":0,"k":1,"a":[2 ]}"#),
            (r#"{"k":0,"k":2,"a":3}"#, r#"{"k":1,"a":[2 ]}"#),
            ("[1]", r#"{"k":1,"a":[2 ]}"#),
        ] {
            assert_eq!(raw(text).with(&edits), raw(edited), "{text}");
        }
    }

    #[test]
    fn members_are_slices_of_the_same_buffer() {
        let object = raw(r#"{"name":"x","arguments":{"n":1.50,"s":"}\"]"},"l":[1,[2]],"z":null}"#);
        let all: Vec<_> = object.members().map(|m| (m.key.into_owned(), format!("{:?}", m.value))).collect();
        let expected = [("name", r#""x""#), ("arguments", r#"{"n":1.50,"s":"}\"]"}"#), ("l", "[1,[2]]"), ("z", "null")];
        assert_eq!(all, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
        let inner = object.get("arguments").unwrap();
        assert!(object.as_bytes().as_ptr_range().contains(&inner.as_bytes().as_ptr()));
        assert_eq!(raw(" [1, {\"a\":2} ,\"]\"]").elements().count(), 3);
    }

    #[test]
    fn edits_leave_the_rest_as_written() {
        let object = raw(r#"{"a": 1.50, "b":2,"c":3}"#);
        let (nine, x) = (raw("9"), raw("\"x\""));
        let edited = object.with(&[("b", Some(&nine)), ("c", None), ("d", Some(&x))]);
        assert_eq!(format!("{edited:?}"), r#"{"a":1.50,"b":9,"d":"x"}"#);
        assert_eq!(format!("{:?}", Raw::NULL.with(&[("a", Some(&nine))])), r#"{"a":9}"#);
    }

    #[test]
    fn keys_alike_but_for_case_or_escapes_are_one_key() {
        for bad in [r#"{"a":1,"a":2}"#, r#"{"name":1,"Name":2}"#, r#"{"name":1,"n\u0061me":2}"#, "{\"s\":1,\"ſ\":2}"] {
            assert!(raw(bad).distinct().is_err(), "{bad}");
        }
        assert!(raw(r#"{"a":1,"b":{"a":2}}"#).distinct().is_ok());
        let many: Vec<_> = (0..40).map(|n| format!("\"k{n}\":{n}")).collect();
        assert!(raw(&format!("{{{}}}", many.join(","))).distinct().is_ok());
        assert!(raw(&format!("{{{},\"K3\":0}}", many.join(","))).distinct().is_err());
    }

    #[test]
    fn a_key_that_is_no_text_is_found_as_it_is_listed() {
        let object = raw(r#"{"\ud800":1}"#);
        let key = object.members().next().unwrap().key.into_owned();
        assert_eq!(object.get(&key), Some(raw("1")));
    }

    #[test]
    fn several_members_are_found_in_one_walk() {
        let object = raw(r#"{"b":2,"\u0061":1,"é":3}"#);
        let [a, b, c] = object.gather(["a", "b", "c"]).unwrap();
        assert_eq!((a, b, c), (Some(raw("1")), Some(raw("2")), None));
        assert!(raw(r#"{"a":1,"b":2,"A":3}"#).gather(["a"]).is_err());
        assert_eq!(Raw::NULL.gather(["a"]), Ok([None]));
    }
}
