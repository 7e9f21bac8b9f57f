//! Half characters: an escape in JSON may name one half of a surrogate pair, which is no text. Some readers refuse the whole
//! message for it, some pass it on and fail later.

use memchr::memchr_iter;

/// The same JSON with each half character replaced by U+FFFD; nothing where there is none.
pub(super) fn mended(json: &[u8]) -> Option<Vec<u8>> {
    let mut whole: Option<Vec<u8>> = None;
    let mut done = 0;
    for at in memchr_iter(b'\\', json) {
        if at < done {
            continue;
        }
        done = at + 2;
        let Some(unit) = unit(json, at) else { continue };
        done = at + 6;
        let lone = match unit {
            0xd800..=0xdbff if matches!(self::unit(json, done), Some(0xdc00..=0xdfff)) => {
                done += 6;
                false
            }
            0xd800..=0xdfff => true,
            _ => false,
        };
        if lone {
            whole.get_or_insert_with(|| json.to_vec())[at + 2..at + 6].copy_from_slice(b"fffd");
        }
    }
    whole
}

/// What an escape `\uXXXX` at this place says.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let escape = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(escape).ok()?, 16).ok()
}
