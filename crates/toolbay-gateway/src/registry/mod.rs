//! The registry of tools: the entries that stand under `tools` in a configuration file, changed on disk and taken on while
//! everything else goes on. Not how an entry becomes a server that can be called: that is the configuration's business
//! (`config`), and what is called then is a server like any other (`servers`).

pub mod acquire;
mod asked;
mod disk;
mod edit;
mod entry;
mod error;
mod expiry;
pub mod fetch;
mod file;
pub mod hot;
pub mod listing;
mod look;
pub mod mirror;
mod offered;
pub mod plan;
pub mod shelf;
mod store;
mod upstream;

pub use disk::Disk;
pub use entry::{Call, Entry, Poll, Transport};
pub use error::Error;
pub use expiry::{Expiry, ExpiryError};
pub use file::{Added, Existing, Registry, Switched};
pub(crate) use upstream::connector;

#[cfg(test)]
mod tests;
