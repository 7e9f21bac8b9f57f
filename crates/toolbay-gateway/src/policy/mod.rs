//! Whether a call may be made at all. A verdict is a value; only a permit opens the way to a server.

mod decide;
mod permit;

pub use decide::{Wanted, decide};
pub use permit::Permit;
