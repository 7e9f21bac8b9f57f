//! Messages over standard input and output: a child's ([`child`]) or our own ([`own`]), one message a line ([`lines`]).
//!
//! Not for what the messages mean: lines are bytes here. What a server writes beside its messages is in [`junk`].
// spec: basic/transports/stdio

pub mod child;
#[cfg(unix)]
mod guard;
pub mod junk;
pub mod lines;
#[cfg(unix)]
pub mod own;
pub mod wire;
