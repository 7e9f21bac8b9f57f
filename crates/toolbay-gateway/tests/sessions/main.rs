//! Sessions per device: what a server keeps for one device, no other sees, in both eras and over each sort of link.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod apart;
mod house;
mod life;
