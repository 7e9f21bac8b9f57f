//! Carries the steps of one call between a caller and a server, whatever their revisions. No era is named here: both
//! ends are spoken to in steps.

mod banks;
mod cross;
mod key;
mod park;
mod seal;
pub(crate) mod tasks;

pub(crate) use banks::Banks;
pub(crate) use cross::{Crossing, Lost, cross};
pub use key::{StateKey, StateKeyError};
pub(crate) use park::{Heard, Parked, Parking, Ride};
pub(crate) use seal::{Binding, Carried, Sealer, Sort};
pub(crate) use tasks::Tasks;
