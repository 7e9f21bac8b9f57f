//! Names of places: the provinces, cities and counties of China, and places abroad.
//!
//! Finds names where they stand; what a place is to the request is read elsewhere.

mod blocked;
mod find;
mod gazetteer;

pub(super) use blocked::is_blocked;
pub(super) use find::{Place, find, is_place};
