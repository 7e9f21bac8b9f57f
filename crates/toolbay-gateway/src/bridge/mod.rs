//! Carries the steps of one call between a caller and a server, whatever their revisions. No era is named here: both
//! ends are spoken to in steps.

mod cross;
mod park;
mod seal;
pub(crate) mod tasks;

pub(crate) use cross::{Banks, Crossing, Heard, Lost, cross};
pub(crate) use park::{Parked, Parking, Ride};
pub(crate) use seal::{Binding, Carried, Sealer, Sort};
pub use seal::{StateKey, StateKeyError};
pub(crate) use tasks::Tasks;
