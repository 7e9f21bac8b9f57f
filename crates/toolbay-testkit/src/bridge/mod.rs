//! A gateway without IO: every request of a caller is carried to one callee, whatever their revisions. What a real one
//! seals, bounds and audits is left out; what it carries is not.

mod carry;
mod watching;

pub use carry::Bridge;
