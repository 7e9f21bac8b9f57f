//! `toolbay chat`: a person and a model that has the tools, on a terminal or in one turn. What follows from what is the
//! agent's (`toolbay-agent`); here is what people see and type. Not for requests without a model: see [`ask`](crate::ask).

mod args;
mod command;
mod conversation;
mod end;
mod hosted;
mod line;
mod listed;
mod once;
mod person;
mod reach;
mod rules;
mod screen;
mod shown;
mod slash;
mod start;
mod turn;
mod width;

use crate::exact;

pub(crate) use args::Chat;
pub(crate) use start::run;
