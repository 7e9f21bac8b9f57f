//! A server over HTTP, from the client's side: Streamable HTTP of both eras, and HTTP with two endpoints (2024-11-05).
//!
//! One request is one POST, read by whoever waits for it. Not for what messages mean: the protocol crate decides that, and
//! which era is spoken.

mod chores;
mod clock;
mod courier;
mod dial;
mod errand;
mod fields;
mod guard;
mod handle;
mod inbox;
mod legacy_sse;
mod line;
mod listen;
mod meet;
mod pace;
mod place;
mod plans;
mod post;
mod problem;
mod relist;
mod reply;
mod session;
mod target;

#[cfg(test)]
mod tests;

pub use courier::{Courier, Receipt};
pub use errand::{Answer, Arriving, Errands, Event, Events, Opened};
pub use guard::{Reach, names_private};
pub(crate) use handle::Client;
pub use meet::connect;
pub(crate) use post::RunningCall;
pub use target::{Limits, Mode, Target};
