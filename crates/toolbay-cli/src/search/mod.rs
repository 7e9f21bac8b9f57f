//! `toolbay find` and `toolbay get`: servers that registries list, looked for and added. How they are searched is the gateway's
//! business.

mod args;
pub(crate) mod find;
pub(crate) mod get;
mod told;

pub(crate) use args::{Find, Get};
