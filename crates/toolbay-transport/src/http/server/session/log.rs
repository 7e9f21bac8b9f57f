//! What was said on the streams of a session, for clients that come back: bounded in events and bytes. Knows no time and
//! waits for nobody.
//!
//! An event's id names its stream and its place there, so no stream is ever replayed on another. What a reader has not
//! read yet is never thrown away; whoever writes looks at [`Log::unread`] and waits.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;

use super::super::options::Replay;

/// The stream that belongs to no request.
pub(super) const STANDING: u64 = 0;

/// Everything that is kept of a session's streams.
#[derive(Debug)]
pub(super) struct Log {
    bounds: Replay,
    streams: VecDeque<Stream>,
    opened: u64,
    events: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Stream {
    number: u64,
    next: u64,
    kept: VecDeque<(u64, Bytes)>,
    finished: bool,
    /// Seen by the last sweep as finished.
    stale: bool,
    /// The next event to read, while somebody reads.
    reader: Option<u64>,
    /// Behind the last event that was ever read.
    read: u64,
    /// How often somebody began to read.
    generation: u64,
    hang_up: Option<Duration>,
}

/// What a reader finds.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// An event.
    Event(Bytes),
    /// The connection is to go, and the client to come back after this long.
    HangUp(Duration),
    /// Nothing yet.
    Wait,
    /// The end: nothing more will come, or somebody else reads now.
    Over,
}

impl Log {
    pub(super) fn new(bounds: Replay) -> Self {
        Self { bounds, streams: VecDeque::new(), opened: STANDING, events: 0, bytes: 0 }
    }

    /// Opens the stream of a request.
    pub(super) fn open(&mut self) -> u64 {
        self.opened += 1;
        self.streams.push_back(Stream::new(self.opened));
        self.opened
    }

    fn stream(&mut self, number: u64) -> Option<&mut Stream> {
        if number == STANDING && !self.streams.iter().any(|stream| stream.number == STANDING) {
            // Most sessions have no other stream that is kept.
            self.streams.reserve_exact(1);
            self.streams.push_front(Stream::new(STANDING));
        }
        self.streams.iter_mut().find(|stream| stream.number == number)
    }

    /// Adds an event, written by `write` under its id.
    pub(super) fn push(&mut self, number: u64, write: impl FnOnce(&str) -> Bytes) {
        let Some(stream) = self.stream(number).filter(|stream| !stream.finished) else { return };
        let place = stream.next;
        stream.next += 1;
        let event = write(&format!("{number}-{place}"));
        let length = event.len();
        if stream.kept.is_empty() {
            stream.kept.reserve_exact(1);
        }
        stream.kept.push_back((place, event));
        self.events += 1;
        self.bytes += length;
        self.trim();
    }

    /// Says that nothing more will come.
    pub(super) fn finish(&mut self, number: u64) {
        if let Some(stream) = self.stream(number) {
            stream.finished = true;
        }
    }

    /// Has the reader go, once it has read all there is.
    pub(super) fn hang_up(&mut self, number: u64, pause: Duration) {
        if let Some(stream) = self.stream(number).filter(|stream| stream.reader.is_some()) {
            stream.hang_up = Some(pause);
        }
    }

    /// Begins to read from event `from` on; whoever read before is done. `None` where the stream is not kept, or no event
    /// before `from` was ever said.
    pub(super) fn attach(&mut self, number: u64, from: u64) -> Option<u64> {
        let stream = self.stream(number).filter(|stream| from <= stream.next)?;
        stream.generation += 1;
        (stream.reader, stream.hang_up) = (Some(from), None);
        Some(stream.generation)
    }

    /// The place of the next event.
    pub(super) fn end(&mut self, number: u64) -> u64 {
        self.stream(number).map_or(0, |stream| stream.next)
    }

    /// Whether somebody reads.
    pub(super) fn is_attached(&self, number: u64) -> bool {
        self.streams.iter().any(|stream| stream.number == number && stream.reader.is_some())
    }

    /// Stops reading.
    pub(super) fn detach(&mut self, number: u64, generation: u64) {
        if let Some(stream) = self.stream(number).filter(|stream| stream.generation == generation) {
            stream.reader = None;
        }
        self.trim();
    }

    /// What the reader that attached as `generation` finds next.
    pub(super) fn next(&mut self, number: u64, generation: u64) -> Next {
        let Some(stream) = self.stream(number).filter(|stream| stream.generation == generation) else {
            return Next::Over;
        };
        let Some(from) = stream.reader else { return Next::Over };
        let place = stream.kept.partition_point(|(place, _)| *place < from);
        if let Some((place, event)) = stream.kept.get(place) {
            stream.reader = Some(place + 1);
            stream.read = stream.read.max(place + 1);
            return Next::Event(event.clone());
        }
        match stream.hang_up.take() {
            Some(pause) => Next::HangUp(pause),
            None if stream.finished => Next::Over,
            None => Next::Wait,
        }
    }

    /// How many events wait for whoever reads.
    pub(super) fn unread(&self, number: u64) -> usize {
        let stream = self.streams.iter().find(|stream| stream.number == number);
        stream.map_or(0, |stream| match stream.reader {
            Some(from) => stream.kept.len() - stream.kept.partition_point(|(place, _)| *place < from),
            None => 0,
        })
    }

    /// Forgets the streams that had ended already when this was called last.
    pub(super) fn sweep(&mut self) {
        let gone = |stream: &mut Stream| stream.finished && stream.reader.is_none() && stream.stale;
        for stream in self.streams.iter_mut().filter(|stream| stream.number != STANDING) {
            if gone(stream) {
                self.events -= stream.kept.len();
                self.bytes -= stream.size();
                stream.kept.clear();
                stream.number = u64::MAX;
            } else {
                stream.stale = stream.finished;
            }
        }
        self.streams.retain(|stream| stream.number != u64::MAX);
        self.streams.shrink_to(4);
    }

    /// Throws away until all is within bounds: ended streams that were read to the end, then what was read or is read by
    /// nobody but for the last of each stream, then whole streams that nobody came back for; never the newest of them.
    fn trim(&mut self) {
        while self.events > self.bounds.events || self.bytes > self.bounds.bytes {
            let newest = self.streams.back().map(|stream| stream.number);
            let idle = |stream: &Stream| stream.finished && stream.reader.is_none() && stream.number != STANDING;
            let delivered = self.streams.iter().position(|stream| idle(stream) && stream.read == stream.next);
            if let Some(place) = delivered {
                self.remove(place);
            } else if let Some(stream) = self.streams.iter_mut().find(|stream| stream.has_spare()) {
                let (_, event) = stream.kept.pop_front().expect("it has one to spare");
                self.events -= 1;
                self.bytes -= event.len();
            } else if let Some(place) =
                self.streams.iter().position(|stream| idle(stream) && Some(stream.number) != newest)
            {
                self.remove(place);
            } else {
                return;
            }
        }
    }

    fn remove(&mut self, place: usize) {
        if let Some(stream) = self.streams.remove(place) {
            self.events -= stream.kept.len();
            self.bytes -= stream.size();
        }
    }
}

impl Stream {
    fn new(number: u64) -> Self {
        let (kept, finished, stale) = (VecDeque::new(), false, false);
        Self { number, next: 0, kept, finished, stale, reader: None, read: 0, generation: 0, hang_up: None }
    }

    /// Whether its oldest event may go.
    fn has_spare(&self) -> bool {
        let read = |(place, _): &(u64, Bytes)| self.reader.is_none_or(|from| *place < from);
        self.kept.front().is_some_and(read) && self.kept.len() > 1
    }

    fn size(&self) -> usize {
        self.kept.iter().map(|(_, event)| event.len()).sum()
    }
}

/// The stream and the place that an event's id names.
pub(super) fn read_id(id: &str) -> Option<(u64, u64)> {
    let (stream, place) = id.split_once('-')?;
    let number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
    Some((number(stream)?, number(place)?))
}
