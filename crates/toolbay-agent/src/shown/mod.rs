//! What a model is shown of the tools: all of them, or, where they are many, the few by which the others are found. And the
//! way back, from what it wants to what is called. Not the words of a provider: see [`model`](crate::model).

mod compiler;
mod host;
mod index;
mod list;
mod names;
mod read;
mod search;
mod showing;

pub(crate) use list::Shown;
pub use showing::Showing;
pub use toolbay_gateway::meta::Expose;

#[cfg(test)]
mod tests;
