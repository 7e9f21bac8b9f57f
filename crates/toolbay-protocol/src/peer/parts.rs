//! Where the members stand that say what a request is about: found once, when it is taken in.

use std::{num::NonZeroU32, ops::Range};

use crate::{fault::Fault, greeting::envelope::Envelope, method::Method, raw::Raw};

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

/// A request whose parameters hold no key twice.
#[derive(Clone, Debug, Default)]
pub struct Sound {
    /// What its `_meta` holds.
    pub envelope: Envelope,
    /// Where the rest stands.
    pub parts: Parts,
}

/// No key twice in `params`, in `_meta` and in `arguments`: what is judged here must be what anybody behind us reads.
pub fn sound(params: Option<&Raw>) -> Result<Sound, Fault> {
    let Some(params) = params else { return Ok(Sound::default()) };
    let parts = Parts::of(params)?;
    if let Some(arguments) = parts.get(Part::Arguments, params) {
        arguments.distinct()?;
    }
    let meta = parts.get(Part::Meta, params);
    Ok(Sound { envelope: Envelope::of(meta.as_ref())?, parts })
}
