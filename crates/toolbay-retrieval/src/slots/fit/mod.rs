//! Slots as the arguments of a tool: names, descriptions, enums and formats of its input schema decide.
//!
//! Nothing is invented: a value stands in the request, or the property stays empty. Whether the arguments satisfy the schema in full is
//! checked by those who call the tool.

mod fill;
mod form;
mod property;
mod role;

#[cfg(test)]
mod tests;

pub use fill::{Fit, Missing, fit};
