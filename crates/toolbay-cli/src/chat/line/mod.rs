//! What a person types: one line at a time, with history and completion, on a thread of its own, since reading a terminal
//! waits. Not what is asked: see [`person`](super::person); nor what is written: see [`screen`](super::screen).

mod complete;
mod desk;
mod editor;

pub(super) use complete::Known;
pub(super) use desk::{Desk, Floor, Typed};
pub(super) use editor::history;

#[cfg(test)]
pub(super) use desk::tests;
