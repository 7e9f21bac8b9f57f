//! One pass over JSON text that checks it, limits it and finds its parts.
//!
//! No tree is built and nothing recurses: a message is judged in time and memory that its length alone decides. What is
//! inside `params` or `result` is left to whoever knows its type.

mod cursor;
mod noting;
mod runs;

use std::{borrow::Cow, fmt, ops::Range};

use cursor::Cursor;
pub(crate) use noting::{Notes, Noting, Seen};
pub(crate) use runs::{plain_run, trusted_end, trusted_string_end};

/// How much one message may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep arrays and objects may nest; at most 127.
    pub depth: u8,
    /// How many values, all levels together, one message may hold.
    pub nodes: u32,
    /// How many messages one array may hold.
    pub batch: u32,
}

impl Limits {
    /// What is allowed where nobody says otherwise.
    pub const DEFAULT: Self = Self { depth: 100, nodes: 2_000_000, batch: 1000 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Why a text is not one acceptable JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The text is not UTF-8; the offset of the first bad byte.
    Utf8(usize),
    /// The text is not JSON; the offset where it stops being so.
    Syntax(usize),
    /// The text ends in the middle of a value.
    Truncated,
    /// More nesting than [`Limits::depth`] allows.
    TooDeep(u8),
    /// More values than [`Limits::nodes`] allows.
    TooMany(u32),
    /// A key stands twice in an object, or differs from another by case alone.
    DuplicateKey(String),
    /// Something stands where an object must.
    NotObject,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8(at) => write!(f, "not UTF-8 at byte {at}"),
            Self::Syntax(at) => write!(f, "not JSON at byte {at}"),
            Self::Truncated => f.write_str("JSON ends in the middle of a value"),
            Self::TooDeep(depth) => write!(f, "JSON nests deeper than {depth} levels (limit `depth`)"),
            Self::TooMany(nodes) => write!(f, "JSON holds more than {nodes} values (limit `nodes`)"),
            Self::DuplicateKey(key) => write!(f, "key {key:?} stands twice in one object (letter case does not count)"),
            Self::NotObject => f.write_str("not a JSON object"),
        }
    }
}

impl std::error::Error for Flaw {}

/// Checks that `text` is exactly one JSON value within `limits`, and says where it stands.
pub fn check(text: &[u8], limits: Limits) -> Result<Range<usize>, Flaw> {
    is_utf8(text)?;
    let mut cursor = Cursor::new(text, limits);
    cursor.space();
    let start = cursor.at;
    let Some(()) = cursor.value() else { return Err(cursor.flaw()) };
    let end = cursor.at;
    cursor.end()?;
    Ok(start..end)
}

/// Checks the whole of `text` and calls `each` with every member of the object it must be: its key as it is quoted, and the
/// place of its value.
pub fn object<'t>(
    text: &'t [u8],
    limits: Limits,
    each: impl FnMut(&'t [u8], Range<usize>) -> Result<(), Flaw>,
) -> Result<(), Flaw> {
    noting(text, limits, Noting::NOTHING, &mut Notes::default(), each)
}

/// Checks like [`object`], and notes on the way where members of one of its members stand.
pub(crate) fn noting<'t>(
    text: &'t [u8],
    limits: Limits,
    noting: Noting<'_>,
    notes: &mut Notes,
    mut each: impl FnMut(&'t [u8], Range<usize>) -> Result<(), Flaw>,
) -> Result<(), Flaw> {
    is_utf8(text)?;
    let mut cursor = Cursor::new(text, limits);
    cursor.space();
    if cursor.peek() != Some(b'{') {
        let Some(()) = cursor.value() else { return Err(cursor.flaw()) };
        cursor.end()?;
        return Err(Flaw::NotObject);
    }
    cursor.at += 1;
    cursor.space();
    if !cursor.eat(b'}') {
        while let Some((key, place)) = cursor.member(noting, notes) {
            each(&text[key], place)?;
            cursor.space();
            match cursor.next() {
                Some(b',') => cursor.space(),
                Some(b'}') => return cursor.end(),
                Some(_) => return Err(Flaw::Syntax(cursor.at - 1)),
                None => return Err(Flaw::Truncated),
            }
        }
        return Err(cursor.flaw());
    }
    cursor.end()
}

fn is_utf8(text: &[u8]) -> Result<(), Flaw> {
    // Most messages are ASCII throughout, which is told several times faster.
    if text.is_ascii() {
        return Ok(());
    }
    std::str::from_utf8(text).map(drop).map_err(|error| Flaw::Utf8(error.valid_up_to()))
}

/// What a quoted JSON string says; borrowed where nothing is escaped.
pub(crate) fn unquote(quoted: &[u8]) -> Cow<'_, str> {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    match std::str::from_utf8(inner) {
        Ok(plain) if plain_run(inner) == inner.len() => Cow::Borrowed(plain),
        Ok(_) | Err(_) => Cow::Owned(serde_json::from_slice(quoted).unwrap_or_else(|_| lossy(inner))),
    }
}

/// A lone surrogate is legal JSON and no string; it stays as it was written.
fn lossy(inner: &[u8]) -> String {
    String::from_utf8_lossy(inner).into_owned()
}

#[cfg(test)]
mod tests;
