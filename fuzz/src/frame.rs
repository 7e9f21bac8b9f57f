//! Any bytes as a message: taken or refused as JSON and the limits say, and what is taken is written and read unchanged.

use std::collections::HashSet;

use bytes::Bytes;
use serde::de::IgnoredAny;
use toolbay_protocol::{
    Frame, Raw,
    frame::Rejected,
    scan::{self, Flaw, Limits},
};

/// As deep as may ever be asked for.
const WIDE: Limits = Limits { depth: 127, nodes: u32::MAX, batch: 1000 };

/// One message, one array of messages, and one value, of the same bytes.
pub fn frame(data: &[u8]) {
    let text = Bytes::copy_from_slice(data);
    whole(&text);
    batch(&text);
    value(&text);
}

fn whole(text: &Bytes) {
    let parsed = Frame::parse(text);
    if let Ok(frame) = &parsed {
        assert!(serde_json::from_slice::<IgnoredAny>(text).is_ok(), "a frame is no JSON");
        written(frame);
    }
    // What holds under tight limits holds under wide ones, and tight ones are kept.
    let tight = Limits { depth: 2, nodes: 8, batch: 1000 };
    match Frame::parse_within(text, tight) {
        Ok(frame) => {
            assert_eq!(parsed, Ok(frame));
            let size = Size::of(text);
            // The envelope itself does not count.
            assert!(size.depth <= usize::from(tight.depth) + 1 && size.nodes <= tight.nodes as usize + 1, "{size:?}");
        }
        Err(rejected) => answered(rejected),
    }
    if let Err(rejected) = parsed {
        answered(rejected);
    }
}

/// A refusal can be told to whoever sent the message.
fn answered(rejected: Rejected) {
    let id = rejected.id.clone();
    let answer = rejected.answer();
    assert_eq!(answer.id(), id.as_ref());
    written(&answer);
}

fn written(frame: &Frame) {
    let text = frame.to_bytes();
    assert_eq!(Frame::parse(&text).as_ref(), Ok(frame), "written as {text:?}");
    let (head, body) = frame.pieces();
    let pieces = [&head[..], body.as_deref().unwrap_or_default(), b"}"].concat();
    assert_eq!(pieces, text, "the pieces make the whole");
}

fn batch(text: &Bytes) {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    let Some(messages) = Frame::parse_batch(text, Limits::DEFAULT) else {
        assert_ne!(first, Some(&b'['), "an array is a batch");
        return;
    };
    assert!(first == Some(&b'[') && messages.len() <= 1000);
    for message in messages {
        match message {
            Ok(frame) => written(&frame),
            Err(rejected) => answered(rejected),
        }
    }
}

/// The scanner against another reader, and against another count.
fn value(text: &Bytes) {
    let found = scan::check(text, WIDE);
    match &found {
        Err(Flaw::Utf8(at)) => {
            let other = std::str::from_utf8(text).map_err(|error| error.valid_up_to());
            return assert_eq!(other, Err(*at));
        }
        Err(Flaw::TooDeep(_)) => return,
        Ok(_) | Err(_) => {}
    }
    let other = serde_json::from_slice::<IgnoredAny>(text);
    assert_eq!(found.is_ok(), other.is_ok(), "{found:?} here, {other:?} elsewhere");
    let Ok(place) = found else { return };
    let space: &[u8] = b" \n\r\t";
    assert!(text[..place.start].iter().chain(&text[place.end..]).all(|byte| space.contains(byte)));
    let size = Size::of(text);
    for (depth, nodes) in [(size.depth, size.nodes), (size.depth, size.nodes - 1), (size.depth.max(1) - 1, size.nodes)]
    {
        let limits = Limits { depth: depth as u8, nodes: nodes as u32, batch: 1000 };
        let held = size.depth <= depth && size.nodes <= nodes;
        assert_eq!(scan::check(text, limits).is_ok(), held, "{size:?} within {limits:?}");
    }
    taken_apart(&Raw::parse(text.clone(), WIDE).expect("it was judged just now"));
}

/// Every part of a value is a value, and the parts make the whole.
fn taken_apart(raw: &Raw) {
    let whole = |part: &Raw| assert_eq!(scan::check(part.as_bytes(), WIDE), Ok(0..part.as_bytes().len()), "{part:?}");
    let elements: Vec<Raw> = raw.elements().collect();
    elements.iter().for_each(whole);
    assert!(Raw::array(&elements).elements().eq(elements));
    let members: Vec<_> = raw.members().map(|member| (member.key.into_owned(), member.value)).collect();
    let keys: HashSet<_> = members.iter().map(|(key, _)| key.as_str()).collect();
    for (key, value) in &members {
        whole(value);
        let first = members.iter().find(|(other, _)| other == key).map(|(_, value)| value);
        if members.len() < 100 {
            assert_eq!(raw.get(key).as_ref(), first, "the member {key:?}");
        }
    }
    let distinct = raw.distinct().is_ok();
    assert!(!distinct || keys.len() == members.len(), "two keys alike were let by");
    assert_eq!(raw.gather(["id", "params"]).is_ok(), distinct);
    let nine = Raw::of(&9);
    let edited = raw.with(&[("id", Some(&nine)), ("params", None)]);
    whole(&edited);
    assert_eq!((edited.get("id"), edited.get("params")), (Some(nine), None));
    let kept = |(key, _): &&(String, Raw)| key != "id" && key != "params";
    let others: Vec<_> = edited.members().map(|member| (member.key.into_owned(), member.value)).collect();
    assert!(others.iter().filter(kept).eq(members.iter().filter(kept)), "{raw:?} became {edited:?}");
}

/// How much a text holds that is known to be one JSON value.
#[derive(Debug, Default)]
struct Size {
    depth: usize,
    nodes: usize,
}

impl Size {
    fn of(text: &[u8]) -> Self {
        let (mut size, mut open, mut at) = (Self::default(), 0, 0);
        while let Some(byte) = text.get(at) {
            at += 1;
            match byte {
                b'{' | b'[' => {
                    open += 1;
                    size.depth = size.depth.max(open);
                    size.nodes += 1;
                }
                b'}' | b']' => open -= 1,
                b'"' => {
                    while text[at] != b'"' {
                        at += if text[at] == b'\\' { 2 } else { 1 };
                    }
                    at += 1;
                    let next = text[at..].iter().find(|byte| !byte.is_ascii_whitespace());
                    size.nodes += usize::from(next != Some(&b':'));
                }
                b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => {}
                _ => {
                    size.nodes += 1;
                    at += text[at..]
                        .iter()
                        .take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
                        .count();
                }
            }
        }
        size
    }
}
