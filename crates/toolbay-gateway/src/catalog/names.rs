//! Public names. A name follows from its server and its own name alone, so it stays when other servers come or go.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::meta::Own;

/// The longest name that every model provider takes.
const LONGEST: usize = 64;
/// How many characters of a digest tell two names apart.
const DIGEST: usize = 10;

/// The public name of `name` at `server`: `server__name` where that can be read in one way only, else made safe and
/// told apart by a digest of both.
pub fn public_name(server: &str, name: &str) -> String {
    let plain = format!("{server}__{name}");
    if plain.len() <= LONGEST
        && is_safe(&plain)
        && is_unambiguous(server)
        && !looks_digested(&plain)
        && !name.is_empty()
    {
        return plain;
    }
    let digest = digest(server, name);
    let mut head = format!("{}__{}", safe(server), safe(name));
    head.truncate(LONGEST - DIGEST - 1);
    format!("{head}_{digest}")
}

/// Whether a name can be public as it is, beside those with a prefix and our own: none of them could ever be the same.
pub(super) fn stands_alone(name: &str) -> bool {
    Own::named(name).is_none()
        && !name.is_empty()
        && name.len() <= LONGEST
        && is_safe(name)
        && !name.contains("__")
        && !looks_digested(name)
}

/// Whether the first `__` behind such a server's name is always the one that we put there.
fn is_unambiguous(server: &str) -> bool {
    !server.is_empty() && !server.contains("__") && !server.ends_with('_')
}

/// Whether a name ends as one with a digest does: left as it is, it could be another's.
fn looks_digested(name: &str) -> bool {
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let end = name.len().checked_sub(DIGEST + 1).and_then(|start| name.as_bytes().get(start..));
    end.is_some_and(|end| end[0] == b'_' && end[1..].iter().all(is_hex))
}

fn is_safe(name: &str) -> bool {
    name.bytes().all(is_safe_byte)
}

fn is_safe_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn safe(name: &str) -> String {
    let safe = |c: char| if c.is_ascii() && is_safe_byte(c as u8) { c } else { '_' };
    name.chars().map(safe).take(LONGEST).collect()
}

fn digest(server: &str, name: &str) -> String {
    let mut hash = Sha256::new();
    hash.update((server.len() as u64).to_be_bytes());
    hash.update(server);
    hash.update(name);
    let mut text = String::with_capacity(DIGEST);
    for byte in &hash.finalize()[..DIGEST / 2] {
        write!(text, "{byte:02x}").expect("a string takes every write");
    }
    text
}
