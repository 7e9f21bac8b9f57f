//! All that the servers offer, under one roof: public names, and the way back from each to its server.
//!
//! A catalog is a snapshot: it never changes, another one takes its place.

mod dress;
mod merge;
mod names;
mod part;
mod pick;
mod sound;
mod template;

pub use merge::{Catalog, Found, Listed, Report, TaskNeed};
pub use names::public_name;
pub use part::{Part, Tasks};
pub(crate) use pick::{Picks, Wanted};
pub use sound::schema_flaw;

#[cfg(test)]
mod tests;
