//! The registry while a bay serves: changes by the API, by hand and by the clock, and writers that are killed.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

#[path = "../ears/mod.rs"]
mod ears;
mod hot;
mod house;
mod killed;
mod services;
