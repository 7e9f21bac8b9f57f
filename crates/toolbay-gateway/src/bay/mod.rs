//! The bay: many servers, one service. What a request goes through is told in `relay`; this room only holds what it
//! goes through.

mod embedding;
mod exposing;
mod following;
mod hearing;
mod inner;
mod offers;
mod open;
mod reload;
mod roster;
mod service;
mod views;

pub(crate) use inner::Inner;
pub use open::Bay;
pub use reload::{Change, What};
