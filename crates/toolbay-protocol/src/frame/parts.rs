//! Where the members stand that say what a request is about: noted while its text is read, or found afterwards.

use std::{fmt, num::NonZeroU32, ops::Range};

use crate::{
    fault::Fault,
    method::Method,
    raw::Raw,
    scan::{Notes, Noting},
};

/// A member of a request's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `name`: a tool or a prompt.
    Name,
    /// `uri`: a resource.
    Uri,
    /// `taskId`.
    TaskId,
    /// `task`: how the caller wants it to run (2025-11-25).
    Task,
    /// `_meta`.
    Meta,
    /// `arguments`.
    Arguments,
    /// `inputResponses`: what the caller brings back after it was asked.
    Responses,
    /// `requestState`: what goes with them.
    State,
}

const KEYS: [&str; 8] = ["name", "uri", "taskId", "task", "_meta", "arguments", "inputResponses", "requestState"];

/// The places of those that are there: beginning and end, which is never nought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts([Place; KEYS.len()]);

type Place = (u32, Option<NonZeroU32>);

impl Parts {
    /// Finds them; a fault where a key stands twice.
    pub fn of(params: &Raw) -> Result<Self, Fault> {
        // What is longer than this has no places that fit, and no transport takes it.
        let fits = |place: Range<usize>| {
            Some((u32::try_from(place.start).ok()?, NonZeroU32::new(u32::try_from(place.end).ok()?)))
        };
        Ok(Self(params.places(KEYS)?.map(|place| place.and_then(fits).unwrap_or_default())))
    }

    /// The one called `part` in the parameters that these are of.
    pub fn get(&self, part: Part, params: &Raw) -> Option<Raw> {
        Self::slice(self.0[part as usize], params)
    }

    /// What a request of `method` names: its tool, prompt, resource or task.
    pub fn named(&self, method: &Method, params: &Raw) -> Option<Raw> {
        let key = method.named_by()?;
        let place = KEYS.iter().position(|known| *known == key)?;
        Self::slice(self.0[place], params)
    }

    fn slice((start, end): Place, params: &Raw) -> Option<Raw> {
        params.slice(start as usize..end?.get() as usize)
    }

    /// Whether there is one.
    pub fn has(&self, part: Part) -> bool {
        self.0[part as usize].1.is_some()
    }
}

/// How the parameters of a request are noted while its text is read.
pub(super) const NOTING: Noting<'static> = Noting { member: "params", keys: &KEYS, distinct: "arguments" };

/// What was noted of a request when its text was read; nothing where only a closer look can tell, or where it was not read.
/// Requests are the same whatever was noted of them.
#[derive(Clone, Copy, Default)]
pub struct Noted(Option<Parts>);

impl Noted {
    /// What was noted, where `start` is where the parameters begin.
    pub(super) fn of(notes: &Notes, start: usize) -> Self {
        let within = |(from, to): (usize, usize)| {
            let end = u32::try_from(to - start).ok().and_then(NonZeroU32::new)?;
            Some((u32::try_from(from - start).ok()?, Some(end)))
        };
        let places = notes.places.map(|place| place.and_then(within).unwrap_or_default());
        Self(notes.is_sound().then_some(Parts(places)))
    }

    /// The parts of a request in whose parameters and arguments no key stands twice.
    pub(crate) fn parts(self) -> Option<Parts> {
        self.0
    }
}

impl PartialEq for Noted {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Noted" } else { "Unnoted" })
    }
}
