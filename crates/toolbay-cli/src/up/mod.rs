//! `toolbay up`: every configured server as one endpoint, until somebody ends it.

mod board;
mod run;

pub(crate) use run::run;
