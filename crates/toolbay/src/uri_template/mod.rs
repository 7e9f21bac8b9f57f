//! URI templates (RFC 6570): taken apart, filled in, and read backwards from a URI.
//!
//! Reading backwards is not part of the RFC. It is done so that what is filled in and then read gives the same values,
//! as far as the template can tell them apart.

mod expand;
mod matching;
mod parse;

pub use parse::{Flaw, UriTemplate};

#[cfg(test)]
mod tests;
