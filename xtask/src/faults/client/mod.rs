//! The client side: scripted servers that misbehave, and what a client made of them.

mod envelope;
mod lines;
mod scenes;
mod stage;
mod streams;
mod visit;
mod words;

pub(crate) use self::scenes::pipe_script;
pub(crate) use self::stage::run;
