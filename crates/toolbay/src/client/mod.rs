//! The client: a server found wherever it is, calls as they are meant, questions answered by handlers.
//!
//! Which revision the server speaks is found out when it is met. What is asked in the middle of a call, and how answers
//! travel, is the same here for all of them.

mod answer;
mod builder;
mod cache;
mod call;
mod connected;
mod converse;
mod error;
mod events;
mod form;
mod list;
#[cfg(feature = "validate")]
mod schemas;
mod states;
mod target;
mod task;

pub use builder::ClientBuilder;
pub use call::{CallTool, Told};
pub use connected::Client;
pub use error::{ClientError, ResultExt};
pub use list::List;
pub use states::TaskStates;
pub use target::{Target, command};
pub use task::{RemoteTask, Started, TaskState};
pub use toolbay_transport::{Subscription, stdio::child::ServerCommand};

#[cfg(test)]
mod tests;
