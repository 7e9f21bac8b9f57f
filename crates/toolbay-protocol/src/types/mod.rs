//! The protocol's words: one canonical type each, shaped like the newest revision, plus what only older ones had.
//!
//! Reading takes any revision; writing goes through [`Conform`]. A member that is optional and `null` counts as absent, a
//! member nobody declares stays in `rest`, and what may be any JSON stays [`Raw`](crate::Raw). What a call *does* is not
//! here but in the rooms that hold the codecs.

mod capabilities;
mod conform;
mod dict;
mod icon;
mod implementation;
mod lifecycle;
mod list;
pub mod meta;
mod number;
mod several;
mod words;

pub use capabilities::*;
pub use conform::Conform;
pub use dict::{Dict, Meta, Rest};
pub use icon::*;
pub use implementation::Implementation;
pub use lifecycle::*;
pub use list::{CacheScope, EmptyParams, EmptyResult, ListParams, ResultType};
pub use number::Number;
pub use several::OneOrMany;
