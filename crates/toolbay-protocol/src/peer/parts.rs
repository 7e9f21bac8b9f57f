//! Where the members stand that say what a request is about: found once, when it is taken in.

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

/// The places of those that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts([Option<(u32, u32)>; KEYS.len()]);

impl Parts {
    /// Finds them; a fault where a key stands twice.
    pub fn of(params: &Raw) -> Result<Self, Fault> {
        // What is longer than this has no places that fit, and no transport takes it.
        let fits =
            |place: std::ops::Range<usize>| Some((u32::try_from(place.start).ok()?, u32::try_from(place.end).ok()?));
        Ok(Self(params.places(KEYS)?.map(|place| place.and_then(fits))))
    }

    /// The one called `part` in the parameters that these are of.
    pub fn get(&self, part: Part, params: &Raw) -> Option<Raw> {
        let (start, end) = self.0[part as usize]?;
        params.slice(start as usize..end as usize)
    }

    /// What a request of `method` names: its tool, prompt, resource or task.
    pub fn named(&self, method: &Method, params: &Raw) -> Option<Raw> {
        let key = method.named_by()?;
        let place = KEYS.iter().position(|known| *known == key)?;
        let (start, end) = self.0[place]?;
        params.slice(start as usize..end as usize)
    }

    /// Whether there is one.
    pub fn has(&self, part: Part) -> bool {
        self.0[part as usize].is_some()
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
