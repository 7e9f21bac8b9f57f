//! The tools of a running bay, or of any server at the end of a connection, as a [`Toolbox`](crate::toolbox::Toolbox); and
//! what its servers ask on the way, put to the person. Not for how a connection is made: see `toolbay_transport`.

mod answer;
mod approach;
mod converse;
mod reach;
mod stock;

pub use approach::{Changes, Offer, approach};
pub use reach::Reach;
