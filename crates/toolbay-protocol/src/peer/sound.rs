//! No key twice: what is judged here must be what anybody behind us reads.

use crate::{
    fault::Fault,
    frame::{Noted, Part, Parts},
    greeting::envelope::Envelope,
    raw::Raw,
};

/// A request in whose parameters no key stands twice.
#[derive(Clone, Debug, Default)]
pub struct Sound {
    /// What its `_meta` holds.
    pub envelope: Envelope,
    /// Where the rest stands.
    pub parts: Parts,
}

/// Judges `params`, their `_meta` and their `arguments`, as far as that was not `noted` when they were read.
pub fn sound(params: Option<&Raw>, noted: Noted) -> Result<Sound, Fault> {
    let Some(params) = params else { return Ok(Sound::default()) };
    let parts = match noted.parts() {
        Some(parts) => parts,
        None => {
            let parts = Parts::of(params)?;
            if let Some(arguments) = parts.get(Part::Arguments, params) {
                arguments.distinct()?;
            }
            parts
        }
    };
    let meta = parts.get(Part::Meta, params);
    Ok(Sound { envelope: Envelope::of(meta.as_ref())?, parts })
}
