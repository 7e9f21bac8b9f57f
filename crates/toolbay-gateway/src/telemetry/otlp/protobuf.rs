//! Parts as protocol buffers.

use super::part::{Field, Part, pair};

/// Writes a message.
pub(super) fn write(part: &Part<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(16 << 10);
    if let Part::Message(fields) = part {
        fields.iter().for_each(|(number, _, part)| put(&mut out, *number, part));
    }
    out
}

const VARINT: u64 = 0;
const FIXED: u64 = 1;
const LENGTH: u64 = 2;
const SHORT: u64 = 5;

fn put(out: &mut Vec<u8>, number: u32, part: &Part<'_>) {
    match part {
        Part::Text(text) => bytes(out, number, text.as_bytes()),
        Part::Made(text) => bytes(out, number, text.as_bytes()),
        Part::Id(id) => bytes(out, number, id),
        Part::Word(word) => small(out, number, *word),
        Part::Whole(whole) => small(out, number, whole.cast_unsigned()),
        Part::Flag(flag) => small(out, number, u64::from(*flag)),
        Part::Fixed(bits) => {
            key(out, number, FIXED);
            out.extend_from_slice(&bits.to_le_bytes());
        }
        Part::Real(real) => {
            key(out, number, FIXED);
            out.extend_from_slice(&real.to_le_bytes());
        }
        Part::Short(bits) => {
            key(out, number, SHORT);
            out.extend_from_slice(&bits.to_le_bytes());
        }
        Part::Message(fields) => message(out, number, fields),
        Part::Many(parts) => parts.iter().for_each(|part| put(out, number, part)),
        Part::Attributes(all) => all.iter().for_each(|attribute| message(out, number, &pair(attribute))),
        // Numbers of one field stand together.
        Part::Fixeds(all) => {
            key(out, number, LENGTH);
            varint(out, all.len() as u64 * 8);
            all.iter().for_each(|bits| out.extend_from_slice(&bits.to_le_bytes()));
        }
        Part::Reals(all) => {
            key(out, number, LENGTH);
            varint(out, all.len() as u64 * 8);
            all.iter().for_each(|real| out.extend_from_slice(&real.to_le_bytes()));
        }
    }
}

/// A message, and before it how long it turned out to be.
fn message(out: &mut Vec<u8>, number: u32, fields: &[Field<'_>]) {
    key(out, number, LENGTH);
    let start = out.len();
    fields.iter().for_each(|(number, _, part)| put(out, *number, part));
    let end = out.len();
    varint(out, (end - start) as u64);
    let length = out.len() - end;
    out[start..].rotate_right(length);
}

fn bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    key(out, number, LENGTH);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn small(out: &mut Vec<u8>, number: u32, value: u64) {
    key(out, number, VARINT);
    varint(out, value);
}

fn key(out: &mut Vec<u8>, number: u32, sort: u64) {
    varint(out, u64::from(number) << 3 | sort);
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
