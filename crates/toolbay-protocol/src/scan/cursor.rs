//! The reader itself.

use std::ops::Range;

use super::{
    Flaw, Limits,
    noting::{Notes, Noting, Seen, is_quoted},
    runs::{odd_ones, plain_run},
};

/// Reads strictly; used where text comes from outside. Whatever gives `None` has left its reason in `flaw`.
pub(super) struct Cursor<'t> {
    text: &'t [u8],
    pub(super) at: usize,
    limits: Limits,
    nodes: u32,
    flaw: Option<Flaw>,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t [u8], limits: Limits) -> Self {
        let depth = limits.depth.min(127);
        Self { text, at: 0, limits: Limits { depth, ..limits }, nodes: 0, flaw: None }
    }

    /// Why nothing was given; without a reason of its own, the text was too short.
    #[cold]
    pub(super) fn flaw(&mut self) -> Flaw {
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
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let hit = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(hit);
        hit
    }

    #[inline]
    pub(super) fn space(&mut self) {
        // Between machines there is none.
        while let Some(0..=b' ') = self.text.get(self.at) {
            if !matches!(self.text[self.at], b' ' | b'\n' | b'\r' | b'\t') {
                return;
            }
            self.at += 1;
        }
    }

    pub(super) fn end(&mut self) -> Result<(), Flaw> {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { Err(Flaw::Syntax(self.at)) }
    }

    /// A member of the outermost object: where its quoted key and its value stand.
    pub(super) fn member(&mut self, noting: Noting<'_>, notes: &mut Notes) -> Option<(Range<usize>, Range<usize>)> {
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

    pub(super) fn value(&mut self) -> Option<()> {
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
