//! Who called what, and what came of it. A call has a ticket; a ticket that is dropped records that the call was
//! abandoned.

mod event;
mod ticket;

pub use event::{End, Event};
pub use ticket::{Ledger, Ticket};
