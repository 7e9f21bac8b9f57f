//! A model behind an API. Each provider has its words ([`Wire`]), into which tools and a transcript are put; none of them
//! is known outside this room.

mod asked;
pub mod compile;
pub mod wires;

pub use asked::{Ask, Choice, Defined, Heard, Model, ModelError, Reply, Stop, Usage, Why, Wire};
pub use wires::{Key, Options, connect};
