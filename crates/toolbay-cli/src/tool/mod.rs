//! `toolbay tool`: the registry of tools, in a file or by way of the `up` that runs.

mod act;
mod args;
mod entry;
mod run;

pub(crate) use act::{Act, Refusal, perform};
pub(crate) use args::{Tool, span};
pub(crate) use run::run;
