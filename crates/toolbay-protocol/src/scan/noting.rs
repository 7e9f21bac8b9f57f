//! Where the members of one member of an object stand, noted while the object is read.

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
    pub(super) const NOTHING: Self = Self { member: "\0", keys: &[""; NOTES], distinct: "" };
}

/// How many members can be noted.
pub(crate) const NOTES: usize = 8;

/// What was noted.
#[derive(Default)]
pub(crate) struct Notes {
    /// Where the members stand.
    pub(crate) places: [Option<(usize, usize)>; NOTES],
    pub(super) taken: bool,
    pub(super) doubtful: bool,
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
pub(super) fn is_quoted(quoted: &[u8], key: &str) -> bool {
    quoted.len() == key.len() + 2 && &quoted[1..=key.len()] == key.as_bytes()
}
