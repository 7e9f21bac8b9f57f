//! Any JSON as any word of the protocol, bent to every revision: nothing is lost in reading, bending twice is bending
//! once, and what is carried from one revision to another can be carried no further by carrying it again.

use std::fmt::Debug;

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use toolbay_protocol::{
    Method, Raw, Revision,
    scan::{self, Limits},
    types::*,
};

/// A line and a value: the line names a type (`Tool`), or says what is carried (`result tools/call 2025-06-18 2026-07-28`).
pub fn conform(data: &[u8]) {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let head = String::from_utf8_lossy(&data[..end]);
    let Ok(value) = Raw::parse(Bytes::copy_from_slice(&data[end + 1..]), Limits::DEFAULT) else { return };
    let words: Vec<&str> = head.split(' ').collect();
    match words[..] {
        [name] => (chosen(name, TYPES, |known| known.0).1)(&value),
        [what, method, from, to, ..] => {
            let (from, to) = (revision(from), revision(to));
            carried(what, chosen(method, Method::KNOWN, Method::as_str), &value, from, to);
        }
        _ => {}
    }
}

/// The one of that name; any other name is a name too, so that a changed input still means something.
fn chosen<'t, T>(name: &str, all: &'t [T], named: impl Fn(&T) -> &str) -> &'t T {
    let place = name.bytes().fold(0, |sum: usize, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % all.len();
    all.iter().find(|one| named(one) == name).unwrap_or(&all[place])
}

fn revision(date: &str) -> Revision {
    *chosen(date, &Revision::ALL, |known| known.as_str())
}

fn carried(what: &str, method: &Method, value: &Raw, from: Revision, to: Revision) {
    let carry = match what.as_bytes().first() {
        Some(b'p') => conform_params,
        Some(b'a') => conform_answer,
        Some(_) | None => conform_result,
    };
    let Ok(there) = carry(method, value, from, to) else { return };
    assert!(from != to || there == *value, "{from} is changed on the way to itself");
    assert_eq!(scan::check(there.as_bytes(), Limits { depth: 127, ..Limits::DEFAULT }), Ok(0..there.as_bytes().len()));
    let again = carry(method, &there, to, to).unwrap_or_else(|fault| panic!("{there:?} is refused at home: {fault}"));
    assert_eq!(again, there);
    // Back, and there and back again: the first way took what there is to take.
    let there_and_back = |value: &Raw| carry(method, &carry(method, value, from, to).ok()?, to, from).ok();
    let Some(back) = there_and_back(value) else { return };
    if let Some(twice) = there_and_back(&back) {
        assert_eq!(value_of(&twice), value_of(&back), "by way of {there:?}");
    }
}

/// Without regard to how it is written.
fn value_of(raw: &Raw) -> Option<serde_json::Value> {
    raw.read().ok()
}

fn check<T: Conform + Clone + PartialEq + Debug + Serialize + DeserializeOwned>(value: &Raw) {
    let Ok(typed) = value.read::<T>() else { return };
    survives(&typed);
    for revision in Revision::ALL {
        // Bending must not panic, whether or not there is a form for it.
        let bent = typed.clone().conformed(revision);
        if typed.check(revision).is_err() {
            continue;
        }
        survives(&bent);
        assert!(bent.check(revision).is_ok(), "{bent:?} has lost its form in {revision}");
        assert_eq!(bent.clone().conformed(revision), bent, "bent to {revision} once more");
    }
}

fn survives<T: PartialEq + Debug + Serialize + DeserializeOwned>(typed: &T) {
    let text = Raw::of(typed);
    match text.read::<T>() {
        Ok(read) => assert_eq!(read, *typed, "written as {text:?}"),
        Err(error) => panic!("{text:?} cannot be read: {error}"),
    }
}

/// Reads a value as one type and checks what must hold of it.
type Check = fn(&Raw);

macro_rules! types {
    ($($name:ident)*) => { &[$((stringify!($name), check::<$name> as Check)),*] };
}

const TYPES: &[(&str, Check)] = types! {
    AcknowledgedParams Annotations AudioContent CallToolParams CallToolResult CancelledParams ClientCapabilities
    CompleteParams CompleteResult ContentBlock CreateMessageParams CreateMessageResult CreateTaskResult DiscoverResult
    ElicitFormParams ElicitParams ElicitResult ElicitUrlParams ElicitationCompleteParams EmbeddedResource EmptyParams
    EmptyResult GetPromptParams GetPromptResult Icon ImageContent Implementation InitializeParams InitializeResult
    InputRequiredResult ListParams ListPromptsResult ListResourceTemplatesResult ListResourcesResult ListRootsResult
    ListTasksResult ListToolsResult ListenParams ListenResult LoggingMessageParams ProgressParams Prompt PromptArgument
    PromptMessage ReadResourceParams ReadResourceResult Resource ResourceContents ResourceLink ResourceParams
    ResourceTemplate Root ServerCapabilities SetLevelParams Task TaskMetadata TaskParams TextContent Tool ToolAnnotations
    ToolResultContent ToolUseContent
};
