//! One direction of a link: frames are written on it as bytes, and come off it as whatever the bytes say.

use std::collections::VecDeque;

use bytes::Bytes;
use serde_json::json;
use toolbay_protocol::{Frame, frame::Rejected, scan::Limits};

use crate::Rng;

/// What may befall a line, each in so many of a thousand cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// It is lost.
    pub lost: usize,
    /// It comes twice, the second time later.
    pub doubled: usize,
    /// It lets the next ones pass that belong to other requests, as where each has a stream of its own.
    pub overtaken: usize,
    /// It comes broken.
    pub broken: usize,
    /// Something that nobody here sent comes before it.
    pub foreign: usize,
}

impl Faults {
    /// Some of everything.
    pub fn all() -> Self {
        Self { lost: 60, doubled: 80, overtaken: 200, broken: 40, foreign: 120 }
    }
}

/// The lines under way.
#[derive(Debug, Default)]
pub struct Wire {
    lines: VecDeque<Bytes>,
    log: Vec<String>,
    faults: Option<(Faults, Rng)>,
}

impl Wire {
    /// Makes a wire bad, or (with no faults at all) good again.
    pub fn spoil(&mut self, faults: Faults, rng: Rng) {
        self.faults = Some((faults, rng));
    }

    /// Makes a wire good again.
    pub fn mend(&mut self) {
        self.faults = None;
    }

    /// Puts a frame on it.
    pub fn send(&mut self, frame: &Frame) {
        self.put(frame.to_bytes());
    }

    /// Puts a line on it.
    pub fn put(&mut self, line: Bytes) {
        self.log.push(String::from_utf8_lossy(&line).into_owned());
        self.lines.push_back(line);
    }

    /// All that was ever put on it.
    pub fn log(&self) -> &[String] {
        &self.log
    }

    /// Loses all that is under way.
    pub fn cut(&mut self) {
        self.lines.clear();
    }

    /// Takes the next line off it, and what it says: several messages, where it is an array.
    pub fn take(&mut self) -> Option<Vec<Result<Frame, Rejected>>> {
        let line = self.next()?;
        Some(Frame::parse_batch(&line, Limits::DEFAULT).unwrap_or_else(|| vec![Frame::parse(&line)]))
    }

    fn next(&mut self) -> Option<Bytes> {
        let Some((faults, rng)) = &mut self.faults else { return self.lines.pop_front() };
        while !self.lines.is_empty() {
            if rng.chance(faults.foreign) {
                return Some(foreign(rng));
            }
            let place = if rng.chance(faults.overtaken) { overtaking(&self.lines, rng) } else { 0 };
            let line = self.lines.remove(place)?;
            if rng.chance(faults.lost) {
                continue;
            }
            if rng.chance(faults.doubled) {
                let later = rng.below(self.lines.len() + 1);
                self.lines.insert(later, line.clone());
            }
            return Some(if rng.chance(faults.broken) { broken(&line, rng) } else { line });
        }
        None
    }
}

/// The place of a line that no earlier one of the same request stands before.
fn overtaking(lines: &VecDeque<Bytes>, rng: &mut Rng) -> usize {
    let place = rng.below(lines.len().min(4));
    let subject = subject(&lines[place]);
    lines.iter().position(|line| self::subject(line) == subject).unwrap_or(0)
}

/// Which request a line is about, as far as it says; what names none belongs together.
fn subject(line: &Bytes) -> String {
    let Ok(frame) = Frame::parse(line) else { return String::new() };
    let of = |key| match &frame {
        Frame::Notification { params: Some(params), .. } => params.get(key),
        Frame::Request { .. } | Frame::Notification { .. } | Frame::Result { .. } | Frame::Error { .. } => None,
    };
    let named = frame.id().map(|id| id.to_raw()).or_else(|| of("progressToken")).or_else(|| of("requestId"));
    named.map(|id| format!("{id:?}")).unwrap_or_default()
}

/// The same line made unreadable, in a way that no reader can take for another message.
fn broken(line: &Bytes, rng: &mut Rng) -> Bytes {
    let text = line.to_vec();
    match rng.below(4) {
        0 => text[..rng.below(text.len())].to_vec(),
        1 => [&text[..text.len() / 2], b"\xff", &text[text.len() / 2..]].concat(),
        2 => String::from_utf8_lossy(&text).replacen("\"2.0\"", "\"1.0\"", 1).into_bytes(),
        _ => [b"{\"jsonrpc\":\"2.0\",".as_slice(), text.get(1..).unwrap_or_default()].concat(),
    }
    .into()
}

/// A line that belongs to nothing that is under way.
fn foreign(rng: &mut Rng) -> Bytes {
    let (far, near) = (1_000_000 + rng.below(1000), rng.below(12));
    let value = rng.value(2);
    let line = match rng.below(12) {
        0 => json!({"jsonrpc": "2.0", "id": far, "result": {"x": value}}),
        1 => json!({"jsonrpc": "2.0", "id": near.to_string(), "result": {}}),
        2 => json!({"jsonrpc": "2.0", "id": far, "error": {"code": -1, "message": "m"}}),
        3 => json!({"jsonrpc": "2.0", "error": value}),
        4 => json!({"jsonrpc": "2.0", "method": "notifications/unheard_of", "params": {"v": value}}),
        5 => {
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": far, "progress": value}})
        }
        6 => json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": value}}),
        7 => json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": near}}),
        8 => json!({"jsonrpc": "2.0", "id": far, "method": rng.pick(&["ping", "no/such", "roots/list", "initialize"])}),
        9 => json!({"jsonrpc": "2.0", "id": value, "method": "tools/list", "params": {}}),
        10 => json!({"jsonrpc": "2.0", "id": far, "result": {}, "error": {}}),
        _ => value,
    };
    line.to_string().into()
}
