//! The gateway's own tools, as clients of both eras see them.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod acquiring;
mod calling;
mod embedding;
mod exposing;
mod house;
#[path = "../relay/script.rs"]
#[expect(dead_code, reason = "not all that the relay is tested with is needed here")]
mod script;
mod searching;
#[path = "../relay/seen.rs"]
#[expect(dead_code, reason = "not all that the relay is tested with is needed here")]
mod seen;
#[path = "../relay/tasker.rs"]
#[expect(dead_code, reason = "not all that the relay is tested with is needed here")]
mod tasker;
