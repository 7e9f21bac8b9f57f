//! A template filled in (RFC 6570, §3.2), with texts as values.

use std::fmt::Write as _;

use toolbay_protocol::types::Dict;

use super::parse::{Hole, Operator, Part, UriTemplate};

impl UriTemplate {
    /// The URI with `values` filled in; holes without a value are left out.
    pub fn expand(&self, values: &Dict<String>) -> String {
        let mut out = String::with_capacity(self.text.len() + 32);
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Holes(operator, holes) => fill(&mut out, *operator, holes, values),
            }
        }
        out
    }
}

fn fill(out: &mut String, operator: Operator, holes: &[Hole], values: &Dict<String>) {
    let present = holes.iter().filter_map(|hole| Some((hole, values.get(&hole.name)?)));
    for (place, (hole, value)) in present.enumerate() {
        if place == 0 {
            out.push_str(operator.first());
        } else {
            out.push(operator.between());
        }
        if operator.names() {
            out.push_str(&hole.name);
            if operator != Operator::Parameter || !value.is_empty() {
                out.push('=');
            }
        }
        let end = hole.prefix.and_then(|most| value.char_indices().nth(most)).map_or(value.len(), |(at, _)| at);
        encode(out, &value[..end], operator);
    }
}

fn encode(out: &mut String, text: &str, operator: Operator) {
    for (at, byte) in text.bytes().enumerate() {
        let escaped = operator.reserved() && byte == b'%' && is_escape(&text.as_bytes()[at..]);
        let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        let reserved = operator.reserved() && b":/?#[]@!$&'()*+,;=".contains(&byte);
        if plain || reserved || escaped {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("a growing text takes every write");
        }
    }
}

fn is_escape(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}
