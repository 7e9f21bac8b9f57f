//! One pass over JSON text that checks it, limits it and finds its parts.
//!
//! No tree is built and nothing recurses: a message is judged in time and memory that its length alone decides. What is
//! inside `params` or `result` is left to whoever knows its type.

use std::{borrow::Cow, fmt, ops::Range};

use memchr::memchr2;

/// How much one message may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep arrays and objects may nest; at most 127.
    pub depth: u8,
    /// How many values, all levels together, one message may hold.
    pub nodes: u32,
}

impl Limits {
    /// What is allowed where nobody says otherwise.
    pub const DEFAULT: Self = Self { depth: 100, nodes: 2_000_000 };
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

/// What is to be noted while an object is read.
#[derive(Clone, Copy)]
pub(crate) struct Noting<'k> {
    /// Of which of its members.
    pub(crate) member: &'k str,
    /// Which members of that.
    pub(crate) keys: &'k [&'k str; NOTES],
    /// Which of them is looked into, too, for a key that stands twice.
    pub(crate) distinct: &'k str,
}

impl Noting<'_> {
    /// Nothing: a key may be empty, but no object stands behind the one of a message that is noted.
    const NOTHING: Self = Self { member: "\0", keys: &[""; NOTES], distinct: "" };
}

/// How many members can be noted.
pub(crate) const NOTES: usize = 8;

/// What was noted.
#[derive(Default)]
pub(crate) struct Notes {
    /// Where the members stand.
    pub(crate) places: [Option<(usize, usize)>; NOTES],
    taken: bool,
    doubtful: bool,
}

impl Notes {
    /// Whether a member was noted, once, in which surely no key stands twice.
    pub(crate) fn is_sound(&self) -> bool {
        self.taken && !self.doubtful
    }
}

/// The keys of an object so far, as they are quoted. Most objects are small and their keys plain, so that each can be held
/// against those before it.
#[derive(Default)]
pub(crate) struct Seen<'a> {
    keys: [&'a [u8]; 16],
    count: usize,
}

impl<'a> Seen<'a> {
    /// Whether a key is surely none of those before it; `false` also where only a closer look could tell.
    pub(crate) fn is_new(&mut self, quoted: &'a [u8]) -> bool {
        // Without a way out, so that the compiler can take many bytes at once.
        let plain = quoted.iter().fold(true, |plain, byte| plain & (*byte < 0x80) & (*byte != b'\\'));
        let twin = |before: &&[u8]| before.len() == quoted.len() && before.eq_ignore_ascii_case(quoted);
        if self.count == self.keys.len() || !plain || self.keys[..self.count].iter().any(twin) {
            return false;
        }
        self.keys[self.count] = quoted;
        self.count += 1;
        true
    }
}

/// Whether a text is quoted exactly like this, without escapes.
#[inline]
fn is_quoted(quoted: &[u8], key: &str) -> bool {
    quoted.len() == key.len() + 2 && &quoted[1..=key.len()] == key.as_bytes()
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

/// Reads strictly; used where text comes from outside. Whatever gives `None` has left its reason in `flaw`.
struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
    limits: Limits,
    nodes: u32,
    flaw: Option<Flaw>,
}

impl<'t> Cursor<'t> {
    fn new(text: &'t [u8], limits: Limits) -> Self {
        let depth = limits.depth.min(127);
        Self { text, at: 0, limits: Limits { depth, ..limits }, nodes: 0, flaw: None }
    }

    /// Why nothing was given; without a reason of its own, the text was too short.
    #[cold]
    fn flaw(&mut self) -> Flaw {
        self.flaw.take().unwrap_or(Flaw::Truncated)
    }

    #[cold]
    fn fail<T>(&mut self, flaw: Flaw) -> Option<T> {
        self.flaw = Some(flaw);
        None
    }

    /// The byte before is not what must stand there.
    #[cold]
    fn wrong<T>(&mut self) -> Option<T> {
        self.fail(Flaw::Syntax(self.at - 1))
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn eat(&mut self, byte: u8) -> bool {
        let hit = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(hit);
        hit
    }

    #[inline]
    fn space(&mut self) {
        // Between machines there is none.
        while let Some(0..=b' ') = self.text.get(self.at) {
            if !matches!(self.text[self.at], b' ' | b'\n' | b'\r' | b'\t') {
                return;
            }
            self.at += 1;
        }
    }

    fn end(&mut self) -> Result<(), Flaw> {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { Err(Flaw::Syntax(self.at)) }
    }

    /// A member of the outermost object: where its quoted key and its value stand.
    fn member(&mut self, noting: Noting<'_>, notes: &mut Notes) -> Option<(Range<usize>, Range<usize>)> {
        let key = self.key()?;
        self.space();
        let start = self.at;
        if self.peek() == Some(b'{') && is_quoted(&self.text[key.clone()], noting.member) {
            notes.doubtful |= notes.taken;
            notes.taken = true;
            self.noted(noting, notes)?;
        } else {
            self.value()?;
        }
        Some((key, start..self.at))
    }

    /// An object whose members are noted.
    fn noted(&mut self, noting: Noting<'_>, notes: &mut Notes) -> Option<()> {
        self.members(1, |cursor, quoted, new| {
            notes.doubtful |= !new;
            let start = cursor.at;
            if cursor.peek() == Some(b'{') && is_quoted(quoted, noting.distinct) {
                cursor.members(2, |cursor, _, new| {
                    notes.doubtful |= !new;
                    cursor.value_below(2)
                })?;
            } else {
                cursor.value_below(1)?;
            }
            if let Some(place) = noting.keys.iter().position(|key| is_quoted(quoted, key)) {
                notes.places[place] = Some((start, cursor.at));
            }
            Some(())
        })
    }

    /// An object on such a level; `each` walks the value of each member, told its key and whether that is surely new.
    fn members(&mut self, level: u8, mut each: impl FnMut(&mut Self, &'t [u8], bool) -> Option<()>) -> Option<()> {
        self.nodes += 1;
        if level > self.limits.depth {
            return self.fail(Flaw::TooDeep(self.limits.depth));
        }
        self.at += 1;
        self.space();
        if self.eat(b'}') {
            return Some(());
        }
        let mut seen = Seen::default();
        loop {
            let key = self.key()?;
            let quoted = &self.text[key];
            self.space();
            each(self, quoted, seen.is_new(quoted))?;
            self.space();
            match self.next()? {
                b',' => self.space(),
                b'}' => return Some(()),
                _ => return self.wrong(),
            }
        }
    }

    fn value(&mut self) -> Option<()> {
        self.value_below(0)
    }

    /// Walks one value; `above` it are that many levels.
    #[inline]
    fn value_below(&mut self, above: u8) -> Option<()> {
        // Most values are strings.
        if self.peek() == Some(b'"') && self.nodes < self.limits.nodes {
            self.nodes += 1;
            self.at += 1;
            return self.string();
        }
        self.any_value_below(above)
    }

    /// Walks one value, whatever its depth, with a bit per open container (1 for an object) as its only stack.
    fn any_value_below(&mut self, above: u8) -> Option<()> {
        let most = self.limits.depth.saturating_sub(above);
        let (mut kinds, mut depth) = (0u128, 0u8);
        'value: loop {
            self.nodes += 1;
            if self.nodes > self.limits.nodes {
                return self.fail(Flaw::TooMany(self.limits.nodes));
            }
            let mut first = self.next()?;
            if first <= b' ' {
                self.at -= 1;
                self.space();
                first = self.next()?;
            }
            match first {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    if depth > most {
                        return self.fail(Flaw::TooDeep(self.limits.depth));
                    }
                    kinds = kinds << 1 | u128::from(first == b'{');
                    self.space();
                    if !matches!(self.peek()?, b'}' | b']') {
                        if first == b'{' {
                            self.key()?;
                        }
                        continue 'value;
                    }
                }
                b'-' | b'0'..=b'9' => self.number(first)?,
                b't' => self.word(b"rue")?,
                b'f' => self.word(b"alse")?,
                b'n' => self.word(b"ull")?,
                _ => return self.wrong(),
            }
            while depth > 0 {
                self.space();
                match (self.next()?, kinds & 1) {
                    (b',', 1) => {
                        self.space();
                        self.key()?;
                        continue 'value;
                    }
                    (b',', _) => continue 'value,
                    (b'}', 1) | (b']', 0) => (kinds, depth) = (kinds >> 1, depth - 1),
                    _ => return self.wrong(),
                }
            }
            return Some(());
        }
    }

    /// A quoted key and its colon; says where the quoted key stands.
    #[inline]
    fn key(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if self.next()? != b'"' {
            return self.wrong();
        }
        self.string()?;
        let end = self.at;
        self.space();
        if self.next()? == b':' { Some(start..end) } else { self.wrong() }
    }

    /// The rest of a string whose opening quote is behind us.
    #[inline]
    fn string(&mut self) -> Option<()> {
        // Most strings are short, and all but the last few have eight bytes to look at.
        if let Some(chunk) = self.text[self.at..].first_chunk::<8>() {
            let hits = odd_ones(u64::from_le_bytes(*chunk));
            let run = (hits.trailing_zeros() / 8) as usize;
            if hits != 0 && chunk[run] == b'"' {
                self.at += run + 1;
                return Some(());
            }
        }
        self.long_string()
    }

    fn long_string(&mut self) -> Option<()> {
        loop {
            self.at += plain_run(&self.text[self.at..]);
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => self.escape()?,
                _ => return self.wrong(),
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.next()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => {
                for _ in 0..4 {
                    if !self.next()?.is_ascii_hexdigit() {
                        return self.wrong();
                    }
                }
                Some(())
            }
            _ => self.wrong(),
        }
    }

    fn number(&mut self, first: u8) -> Option<()> {
        let lead = if first == b'-' { self.next()? } else { first };
        match lead {
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            _ => return self.wrong(),
        }
        if self.eat(b'.') {
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Some(())
    }

    #[inline]
    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Option<()> {
        if !self.peek()?.is_ascii_digit() {
            return self.fail(Flaw::Syntax(self.at));
        }
        self.digits();
        Some(())
    }

    fn word(&mut self, rest: &[u8]) -> Option<()> {
        for expected in rest {
            if self.next()? != *expected {
                return self.wrong();
            }
        }
        Some(())
    }
}

/// The high bit of each of eight bytes that is a quote, a backslash or a control character; above the first of them perhaps
/// that of others, too.
#[inline]
fn odd_ones(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let below = |word: u64, bound: u64| word.wrapping_sub(bound) & !word;
    let quote = below(word ^ (ONES * u64::from(b'"')), ONES);
    let slash = below(word ^ (ONES * u64::from(b'\\')), ONES);
    (quote | slash | below(word, ONES * 0x20)) & HIGHS
}

/// How many bytes at the front hold neither a quote, nor a backslash, nor a control character.
pub(crate) fn plain_run(text: &[u8]) -> usize {
    let mut run = 0;
    // Most strings are short; long ones are worth a search that takes longer to set up.
    while run < 64
        && let Some(chunk) = text[run..].first_chunk::<8>()
    {
        let hit = odd_ones(u64::from_le_bytes(*chunk));
        if hit != 0 {
            return run + (hit.trailing_zeros() / 8) as usize;
        }
        run += 8;
    }
    if run < 64 {
        return run + text[run..].iter().take_while(|b| !matches!(b, b'"' | b'\\' | 0..0x20)).count();
    }
    let rest = &text[run..];
    run + controls_before(&rest[..memchr2(b'"', b'\\', rest).unwrap_or(rest.len())])
}

/// Where the first control character stands; the end where there is none.
fn controls_before(text: &[u8]) -> usize {
    let mut at = 0;
    for block in text.chunks(256) {
        // Without a way out, so that the compiler can take many bytes at once.
        if block.iter().fold(false, |found, byte| found | (*byte < 0x20)) {
            return at + block.iter().take_while(|byte| **byte >= 0x20).count();
        }
        at += block.len();
    }
    at
}

/// Where the value that starts at `at` ends, in text already known to be JSON.
pub(crate) fn trusted_end(text: &[u8], at: usize) -> usize {
    let mut depth = 0usize;
    let mut at = at;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => at = trusted_string_end(text, at),
            b'{' | b'[' => {
                depth += 1;
                continue;
            }
            b'}' | b']' if depth == 0 => return at - 1,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return at - 1,
            b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => continue,
            _ if depth > 0 => continue,
            _ => {
                let rest = text[at..].iter();
                at += rest.take_while(|b| !matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')).count();
            }
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

/// Behind the closing quote of the string whose opening quote stands before `at`.
pub(crate) fn trusted_string_end(text: &[u8], mut at: usize) -> usize {
    loop {
        at += plain_run(text.get(at..).unwrap_or_default());
        match text.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}

#[cfg(test)]
mod tests;
