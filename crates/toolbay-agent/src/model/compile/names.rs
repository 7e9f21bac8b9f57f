//! Names that a provider takes.

use super::rules;
use crate::{model::Wire, toolbox::ToolId};

/// How much of a hash stands at the end of a name.
const HASH: usize = 8;

/// The name a tool would be shown by on a wire, from the one it has here: made of what the wire takes. One that is cut, or
/// has nothing left, ends with a hash of the tool.
pub fn name_of(wire: Wire, public: &str, tool: &ToolId) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut name: String = public.chars().map(safe).collect();
    if wire == Wire::Gemini && !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        name.insert(0, '_');
    }
    if name.is_empty() || name.len() > rules::longest_name(wire) { with_hash(wire, &name, tool, 0) } else { name }
}

/// The name with as much of a hash of the tool as makes it another's no more.
pub(crate) fn with_hash(wire: Wire, name: &str, tool: &ToolId, salt: u32) -> String {
    let hash = fingerprint(&[&tool.server, &tool.name, &salt.to_string()]);
    let room = rules::longest_name(wire) - HASH - 1;
    // Names are ASCII here.
    format!("{}_{}", &name[..name.len().min(room)], &hash[..HASH])
}

/// Sixteen digits that are the same for the same words, on every machine and in every release (FNV-1a).
pub(crate) fn fingerprint(words: &[&str]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    // A byte that stands in no text parts the words.
    for byte in words.iter().flat_map(|word| word.bytes().chain([0xff])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    // The last bytes hardly reach the upper half by themselves.
    hash ^= hash >> 29;
    format!("{:016x}", hash.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
