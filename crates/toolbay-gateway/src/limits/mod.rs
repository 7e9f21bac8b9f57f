//! Every limit of the gateway: its value, and the one table of them that the configuration is read with, that errors name
//! and that the guide shows. Not the place where a limit is kept to: each stands where the work is done.

mod children;
mod table;
mod values;

pub(crate) use children::{ChildPlace, Children};
pub use table::{Effect, ROWS, Row, Scope, Unit, row};
pub use values::{Bounds, Devices, Limits, PerServer};

#[cfg(test)]
mod tests;
