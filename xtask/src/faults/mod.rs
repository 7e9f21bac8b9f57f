//! `cargo xtask faults`: what the official suite leaves out. Broken input, broken streams, ends in the middle, on both
//! sides: a server is driven by hand-written bytes, and a client is let loose on scripted servers that misbehave.
//!
//! Every wait has a deadline and every child is ended. Nothing here uses a crate of ours, so that a mistake of ours cannot
//! hide; any other server or client can be a target. Not here: the peers themselves (`interop/faults`, `peers`).

mod case;
mod client;
mod guests;
mod http;
mod link;
mod note;
mod pipe;
mod player;
mod server;
mod suite;
mod targets;
mod wire;

pub(crate) use self::suite::{run, run_ours};
