//! Small services on this machine that do not speak the protocol: a map that answers at once, a weather service that
//! promises an answer. With threads of their own, so that they need no runtime. Not for the public network.

pub mod embeddings;
mod map;
mod weather;
mod web;

pub use map::map;
pub use weather::{Ready, weather};
pub use web::{Asked, Ends, Reply, Web};
