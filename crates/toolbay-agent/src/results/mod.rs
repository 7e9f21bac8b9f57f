//! What a tool's result becomes for the model: its content, never twice, of bounded length; the rest is kept for
//! `read_result`. Not how a provider writes it: see [`model`](crate::model).

mod block;
mod limits;
mod page;
mod read;
mod shape;
mod store;

pub use limits::{Pictures, ResultLimits};
pub(crate) use read::read;
pub(crate) use shape::{bounded, shape};
pub use store::Store;

#[cfg(test)]
mod tests;
