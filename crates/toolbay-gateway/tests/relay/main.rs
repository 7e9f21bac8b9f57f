//! Every caller to every server through the bay: all pairs of revisions, over memory, with scripted ends.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod across;
mod crossing;
mod legs;
mod matrix;
mod rooms;
mod script;
mod seen;
mod tasker;
mod tasks;
mod worker;
