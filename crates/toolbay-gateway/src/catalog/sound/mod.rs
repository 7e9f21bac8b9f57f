//! Whether an item of a server's list is one that a client can take. What is not is left out, or mended where nothing of its
//! meaning is lost, and told of by name: one poisonous item must not spoil its siblings, which pass as they were written.
//! References inside a schema are followed on paper only; nothing is ever fetched.

mod item;
mod schema;
mod text;

pub(crate) use item::{Judged, judge, shown};
pub use schema::schema_flaw;

#[cfg(test)]
mod tests;
