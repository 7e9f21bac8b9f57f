//! The event-stream codec: events to bytes ([`Event`]) and bytes to events ([`Decoder`]).
//!
//! Not for messages: what an event's data means is the business of `frame`. Not for IO: bytes are pushed in and pulled out.

mod item;
mod partial;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub use item::{Item, Message, Name, Priming, StreamFault};
pub use read::{DEFAULT_EVENT_LIMIT, Decoder};
pub use write::{Event, comment, keep_alive, priming};
