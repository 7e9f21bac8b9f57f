//! The words of a request, read as arguments: places, routes, dates, what to search for.
//!
//! Not a planner: which tool takes the arguments is somebody else's choice.

mod dates;
mod english;
mod fit;
mod line;
mod places;
pub mod prescribed;
mod read;
mod reading;
mod slot;
#[cfg(test)]
mod tests;
mod words;

pub use dates::{Clock, Day};
pub use fit::{Fit, Missing, fit};
pub use read::read;
pub use slot::{Kind, Normal, Slot};
