//! Calls that outlive their request: tasks, of the 2025-11-25 core and of the extension for 2026-07-28.
//!
//! A task is one run of a tool's function. What it came to, what it asks and where it stands is a [`TaskRecord`], kept in
//! a [`TaskStore`]; what only makes sense while the function runs is a [`Slot`].

mod jobs;
mod listen;
mod methods;
mod record;
mod slot;
mod start;
mod store;
mod tables;
mod written;

pub(crate) use jobs::Jobs;
pub(crate) use listen::watch;
pub(crate) use methods::serve;
pub use record::TaskRecord;
pub(crate) use slot::Slot;
pub(crate) use start::{Start, call};
pub use store::{MemoryStore, TaskStore};
pub(crate) use tables::{Keeping, Tasks};

#[cfg(test)]
mod tests;
