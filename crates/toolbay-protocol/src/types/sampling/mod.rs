//! Asking the client's model (spec: client/sampling).

mod answer;
mod ask;
mod message;

pub use answer::{CreateMessageResult, StopReason};
pub use ask::*;
pub use message::SamplingMessage;
