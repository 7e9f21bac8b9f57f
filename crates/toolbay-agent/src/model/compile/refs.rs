//! Where a reference leads. Nothing is fetched.

use std::borrow::Cow;

use serde_json::Value;

/// What a reference within the same schema means.
pub(super) fn local<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let fragment = match reference.strip_prefix('#') {
        Some(fragment) => fragment,
        // Its own name before the fragment is the same schema.
        None => reference.strip_prefix(root.get("$id")?.as_str()?.trim_end_matches('#'))?.trim_start_matches('#'),
    };
    match fragment {
        "" => Some(root),
        pointer if pointer.starts_with('/') => root.pointer(&decoded(pointer)),
        anchor => named(root.get("$defs").or_else(|| root.get("definitions"))?, anchor),
    }
}

fn named<'s>(definitions: &'s Value, anchor: &str) -> Option<&'s Value> {
    let is = |schema: &Value| schema.get("$anchor").and_then(Value::as_str) == Some(anchor);
    definitions.as_object()?.values().find(|schema| is(schema))
}

/// A fragment of a URI as the text it stands for.
fn decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return fragment.into();
    }
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (bytes, mut at, mut out) = (fragment.as_bytes(), 0, Vec::with_capacity(fragment.len()));
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned().into()
}
