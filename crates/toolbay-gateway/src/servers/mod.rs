//! The servers we call: each has a task that connects it, lists what it offers, and brings it back when it is lost.

mod circuit;
mod ear;
mod interest;
mod isolation;
mod leg;
mod legs;
mod lines;
mod list;
mod processes;
mod progress;
mod questions;
mod seats;
mod server;
mod spec;
mod state;
mod supervise;
mod tend;

pub use circuit::Circuit;
pub(crate) use interest::Interest;
pub(crate) use isolation::Open;
pub(crate) use leg::{Leg, Listened, Seat};
pub use lines::Lines;
pub use list::whole;
pub(crate) use progress::Hearer;
pub(crate) use questions::{Question, Questions};
pub(crate) use seats::NoSeat;
pub(crate) use server::{Server, Whom, Yard};
pub use spec::{Connector, Plan, Spec, embedded, endpoint};
pub use state::{Cause, Counts, Phase, Status};
pub(crate) use supervise::Supervision;
