//! A folder to read and nothing else: no write, no link out of it, no wait for a pipe.
//!
//! Paths are resolved beneath the folder by the kernel, never by looking at their text. Only `server` knows the
//! protocol; all else blocks: run it where blocking is allowed.

mod entry;
mod error;
mod limits;
mod list;
mod mime;
mod read;
mod root;
mod server;
mod uri;
mod walk;

pub use entry::{Entry, Info, Kind, Leads, Listing, Match, Matches, Node, Tree};
pub use error::Error;
pub use limits::Limits;
pub use mime::{mime_of, speaks_text};
pub use read::{Binary, Part, Text};
pub use root::Root;
pub use server::server;

#[cfg(test)]
#[cfg(unix)]
mod tests;
