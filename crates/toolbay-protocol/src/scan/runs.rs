//! Runs of plain text, and ends of values in text already known to be JSON.

use memchr::memchr2;

/// The high bit of each of eight bytes that is a quote, a backslash or a control character; above the first of them perhaps
/// that of others, too.
#[inline]
pub(super) fn odd_ones(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let below = |word: u64, bound: u64| word.wrapping_sub(bound) & !word;
    let quote = below(word ^ (ONES * u64::from(b'"')), ONES);
    let slash = below(word ^ (ONES * u64::from(b'\\')), ONES);
    (quote | slash | below(word, ONES * 0x20)) & HIGHS
}

/// How many bytes at the front hold neither a quote, nor a backslash, nor a control character.
pub(crate) fn plain_run(text: &[u8]) -> usize {
    run(text, |rest| controls_before(&rest[..quote_or_slash(rest)]))
}

/// The same in text already known to be JSON, whose strings hold no control characters.
fn trusted_run(text: &[u8]) -> usize {
    run(text, quote_or_slash)
}

fn quote_or_slash(text: &[u8]) -> usize {
    memchr2(b'"', b'\\', text).unwrap_or(text.len())
}

/// Most strings are short; a long one is worth the search `long`, which takes longer to set up.
#[inline]
fn run(text: &[u8], long: impl FnOnce(&[u8]) -> usize) -> usize {
    let mut run = 0;
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
    run + long(&text[run..])
}

/// Where the first control character stands; the end where there is none.
fn controls_before(text: &[u8]) -> usize {
    let first = |text: &[u8]| text.iter().take_while(|byte| **byte >= 0x20).count();
    let (blocks, rest) = text.as_chunks::<256>();
    // Within a block without a way out, so that the compiler can take many bytes at once.
    match blocks.iter().position(|block| block.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < 0x20) {
        Some(at) => at * 256 + first(&blocks[at]),
        None => blocks.len() * 256 + first(rest),
    }
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
        at += trusted_run(text.get(at..).unwrap_or_default());
        match text.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}
