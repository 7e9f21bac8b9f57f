//! Asking the caller in the middle of a call: its user, its model, its roots.
//!
//! A caller that stays is waited for. One that returns ends the call here, and brings its answers back with a new one: the
//! handler then runs again, and finds the answers where it asks. What must be remembered in between travels with the
//! caller, sealed; nothing is kept here.

mod asking;
mod elicit;
mod memory;
mod seal;
mod verdict;

pub(crate) use asking::Parted;
pub use elicit::Elicited;
pub(crate) use memory::Memory;
pub(crate) use seal::{Binding, Sealer};

#[cfg(test)]
mod tests;
