//! Parts as protocol buffers.

use super::part::{Field, Part};

/// Writes a message.
pub(in super::super) fn write(part: &Part) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096);
    if let Part::Message(fields) = part {
        fields.iter().for_each(|field| put(&mut out, field));
    }
    out
}

const VARINT: u64 = 0;
const FIXED: u64 = 1;
const LENGTH: u64 = 2;
const SHORT: u64 = 5;

fn put(out: &mut Vec<u8>, (number, name, part): &Field) {
    let key = |out: &mut Vec<u8>, sort: u64| varint(out, u64::from(*number) << 3 | sort);
    let bytes = |out: &mut Vec<u8>, bytes: &[u8]| {
        key(out, LENGTH);
        varint(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    };
    match part {
        Part::Text(text) => bytes(out, text.as_bytes()),
        Part::Id(id) => bytes(out, id),
        Part::Word(word) => {
            key(out, VARINT);
            varint(out, *word);
        }
        Part::Whole(number) => {
            key(out, VARINT);
            varint(out, number.cast_unsigned());
        }
        Part::Flag(flag) => {
            key(out, VARINT);
            varint(out, u64::from(*flag));
        }
        Part::Fixed(bits) => {
            key(out, FIXED);
            out.extend_from_slice(&bits.to_le_bytes());
        }
        Part::Real(real) => {
            key(out, FIXED);
            out.extend_from_slice(&real.to_le_bytes());
        }
        Part::Short(bits) => {
            key(out, SHORT);
            out.extend_from_slice(&bits.to_le_bytes());
        }
        Part::Message(_) => bytes(out, &write(part)),
        Part::Many(parts) => parts.iter().for_each(|part| put(out, &(*number, *name, part.clone()))),
        // Numbers of one field stand together.
        Part::Fixeds(all) => bytes(out, &all.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<_>>()),
        Part::Reals(all) => bytes(out, &all.iter().flat_map(|real| real.to_le_bytes()).collect::<Vec<_>>()),
    }
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
