//! Tools that can be searched: put in, taken out, found.
//!
//! Holds what the other rooms need of each tool, and asks them; knows no language and no weights itself.

mod read;
mod search;
#[cfg(test)]
mod tests;
mod tools;

pub use tools::Index;
