//! `read_result`: what it is asked, and what it answers.

use serde_json::{Map, Value};

use super::{limits::ResultLimits, page, store::Store};
use crate::{
    transcript::{Content, Origin, Outcome, Part},
    turn::Given,
};

/// So many places are told at once.
const PLACES: usize = 20;
/// So much is shown on either side of a place, in bytes.
const BESIDE: usize = 100;
/// So many lines, where no number is asked for.
const LINES: usize = 200;

/// Answers a call of `read_result`.
pub(crate) fn read(arguments: &Map<String, Value>, limits: &ResultLimits, store: &Store) -> Given {
    let handle = arguments.get("handle").and_then(Value::as_str).unwrap_or_default();
    let number = |key: &str| {
        let number = arguments.get(key).and_then(Value::as_u64);
        number.map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    };
    match store.find(handle) {
        Err(why) => Given::failure(format!("[host] {why}")),
        Ok((text, origin)) => {
            let wanted = arguments.get("find").and_then(Value::as_str).filter(|wanted| !wanted.is_empty());
            let lines = arguments.get("unit").and_then(Value::as_str) == Some("lines");
            let (from, count) = (number("from"), number("count"));
            match wanted {
                Some(wanted) => places(&text, wanted, from.unwrap_or(0), origin),
                None if lines => {
                    let (from, count) = (from.unwrap_or(1).max(1), count.unwrap_or(LINES).max(1));
                    by_lines(&text, from, count, limits.page, origin)
                }
                None => {
                    let count = count.unwrap_or(limits.page).clamp(1, limits.page);
                    by_characters(&text, from.unwrap_or(0), count, origin)
                }
            }
        }
    }
}

fn by_characters(text: &str, from: usize, count: usize, origin: &Origin) -> Given {
    let start = page::byte_of(text, from);
    let end = start + page::byte_of(&text[start..], count);
    let total = text.chars().count();
    if start == text.len() {
        return Given::failure(format!("[host] It has {total} characters, counted from 0."));
    }
    let to = from + text[start..end].chars().count();
    let note = match to < total {
        true => format!("[host] Characters {from} to {to} of {total}; it goes on from {to}."),
        false => format!("[host] Characters {from} to {to} of {total}: its end."),
    };
    piece(&text[start..end], note, origin)
}

fn by_lines(text: &str, from: usize, count: usize, page: usize, origin: &Origin) -> Given {
    let start = page::byte_of_line(text, from);
    if start == text.len() {
        return Given::failure("[host] It has fewer lines; they are counted from 1.");
    }
    let whole = start + page::byte_of_line(&text[start..], count.saturating_add(1));
    let end = whole.min(start + page::byte_of(&text[start..], page));
    let read = text[start..end].matches('\n').count();
    // A line that is longer than a page is read on by characters.
    let note = match (end < whole, read, end == text.len()) {
        (true, 0, _) => {
            let at = text[..end].chars().count();
            format!("[host] Line {from} is longer than a page; it goes on from character {at}, unit \"characters\".")
        }
        (_, _, true) => format!("[host] From line {from} to its end."),
        (..) => format!("[host] From line {from}; it goes on from line {}.", from + read),
    };
    // Of a page that ends within a line, whole lines are given.
    let end = match end < whole {
        true => text[start..end].rfind('\n').map_or(end, |last| start + last + 1),
        false => end,
    };
    piece(&text[start..end], note, origin)
}

fn places(text: &str, wanted: &str, from: usize, origin: &Origin) -> Given {
    let found = page::find(text, wanted, page::byte_of(text, from), PLACES);
    let Some(last) = found.last() else {
        return Given::failure(format!("[host] {wanted:?} does not stand in it from character {from} on."));
    };
    let shown = found.iter().map(|place| {
        let around = page::around(text, place, wanted.len(), BESIDE);
        format!("line {}, character {}: {around}", place.line, place.char)
    });
    let note = match found.len() == PLACES {
        true => format!("[host] The first {PLACES} places; look further from character {}.", last.char + 1),
        false => format!("[host] {} places, which are all.", found.len()),
    };
    piece(&shown.collect::<Vec<_>>().join("\n"), note, origin)
}

fn piece(text: &str, note: String, origin: &Origin) -> Given {
    let piece = Part { what: Content::Text(text.to_owned()), origin: Some(origin.clone()) };
    Given { parts: vec![piece, Part::text(note)], outcome: Outcome::Success }
}
