//! The gateway's own tools, for clients that drown in tools: find one, look at it, call it, get more. What they are, who is
//! shown them and what they answer. Not how a call of another's tool goes its way: `call_tool` is one (`relay/own.rs`).

mod acquired;
mod answer;
mod ask;
mod desk;
mod exposure;
mod found;
mod own;

pub(crate) use acquired::acquired;
pub(crate) use answer::{flawed, result};
pub(crate) use ask::{Acquire, Describe, Search, inner, read};
pub(crate) use desk::Desk;
pub use exposure::{Client, Expose, Exposed, Exposure};
pub(crate) use found::{described, found};
pub use own::Own;
