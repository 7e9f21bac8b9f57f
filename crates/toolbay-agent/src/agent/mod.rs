//! An agent: a model, tools, a person, and the loop between them. Drives a [`Turn`](crate::turn::Turn); what follows from
//! what is decided there.

mod calls;
mod cancel;
mod decide;
mod event;
mod face;
mod host;
mod question;
mod run;
mod settings;
mod waits;
mod watched;

pub use cancel::Canceller;
pub use event::Event;
pub use face::Agent;
pub use settings::{Parallel, Settings};
