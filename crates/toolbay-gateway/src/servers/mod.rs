//! The servers we call: each has a task that connects it, lists what it offers, and brings it back when it is lost.

mod list;
mod spec;
mod state;
mod supervise;

pub use list::whole;
pub use spec::{Connector, Plan, Spec, embedded, endpoint};
pub use state::{Counts, Phase, Status};
pub(crate) use supervise::{Server, Supervision};
