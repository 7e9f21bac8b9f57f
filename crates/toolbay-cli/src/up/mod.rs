//! `toolbay up`: every configured server as one endpoint, until somebody ends it.

mod board;
mod pages;
mod run;

pub(crate) use board::event;
pub(crate) use run::run;
