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
        // Most keys are short, so the last eight bytes and those before them are most of the work.
        let (words, rest) = quoted.as_chunks::<8>();
        let plain = words.iter().all(|word| is_plain(u64::from_le_bytes(*word)))
            && match quoted.last_chunk::<8>() {
                Some(last) => is_plain(u64::from_le_bytes(*last)),
                None => rest.iter().all(|byte| *byte < 0x80 && *byte != b'\\'),
            };
        let twin = |before: &&[u8]| before.len() == quoted.len() && before.eq_ignore_ascii_case(quoted);
        if self.count == self.keys.len() || !plain || self.keys[..self.count].iter().any(twin) {
            return false;
        }
        self.keys[self.count] = quoted;
        self.count += 1;
        true
    }
}

/// Whether eight bytes are ASCII and none of them is a backslash.
fn is_plain(word: u64) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let slash = word ^ (ONES * u64::from(b'\\'));
    (word | (slash.wrapping_sub(ONES) & !slash)) & HIGHS == 0
}

/// Whether a text is quoted exactly like this, without escapes.
#[inline]
pub(super) fn is_quoted(quoted: &[u8], key: &str) -> bool {
    quoted.len() == key.len() + 2 && &quoted[1..=key.len()] == key.as_bytes()
}
