//! The reference server: each feature of the protocol once. It serves the official conformance suite, whose fixtures have
//! the names that begin with `test_` and `test://`.
//!
//! With [`Faults::Offered`] it also has tools that are slow, that panic, and that change the server: for tests of any
//! client or gateway.

mod asks;
mod content;
mod faults;
mod forms;
mod headers;
mod prompts;
mod resources;
mod schema;
mod server;
mod tasks;
mod tell;

pub use server::{Faults, server};

#[cfg(test)]
mod tests;
