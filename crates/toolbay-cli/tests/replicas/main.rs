//! Two replicas behind a plain proxy, no store between them: what works, and how the rest fails.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod house;
mod keys;
mod newer;
mod older;
mod proxy;
mod wire;
