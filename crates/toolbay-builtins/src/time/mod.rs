//! What time it is somewhere, and there when it is so-and-so here. The clock is passed in; the zones come along.

mod convert;
mod error;
mod server;
mod zone;

pub use convert::{Conversion, Moment, convert, now};
pub use error::Error;
pub use jiff::Timestamp;
pub use server::server;
pub use zone::Zone;

#[cfg(test)]
mod tests;
