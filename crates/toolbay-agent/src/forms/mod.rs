//! What a server asks a person, as data that anybody can draw: the fields of a form, what is typed into them, and the page
//! that is to be visited. Not for the drawing, and not for who is asked: see [`person`](crate::person).
// spec: client/elicitation

mod field;
mod form;
mod page;
mod typed;

pub use field::{Chosen, Field, Format, Kind};
pub use form::{Form, Wrong};
pub use page::Page;

#[cfg(test)]
mod tests;
