//! Carries the steps of one call between a caller and a server, whatever their revisions. No era is named here: both
//! ends are spoken to in steps. Tasks alone are of two kinds (`wording`), of which the bay keeps what neither end does (`kept`).

mod banks;
mod cross;
mod errands;
mod kept;
mod kept_task;
mod key;
mod park;
mod seal;
pub(crate) mod tasks;
mod view;
pub(crate) mod wording;

pub(crate) use banks::Banks;
pub(crate) use cross::{Crossing, Lost, cross};
pub(crate) use errands::{Errands, Hidden};
pub(crate) use kept::{Kept, LONGEST, Left, Room, life, own_id};
pub(crate) use kept_task::{Follower, KeptTask, Put, asked};
pub use key::{StateKey, StateKeyError};
pub(crate) use park::{Heard, Parked, Parking, Ride, Then};
pub(crate) use seal::{Binding, Carried, Sealer, Sort};
pub(crate) use tasks::Tasks;
pub(crate) use view::View;
