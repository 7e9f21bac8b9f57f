//! The person at the terminal: what an agent, or a server through it, has to ask them, as questions on a desk. Not the rules
//! by which nobody need be asked.

mod absent;
mod approve;
mod edit;
mod form;
mod page;
mod sample;
mod terminal;

pub(super) use absent::Absent;
pub(super) use terminal::Terminal;
