//! `toolbay up`: every configured server as one endpoint, until somebody ends it.

mod acquire;
mod board;
mod embedding;
mod pages;
mod registry;
mod run;
mod telemetry;

pub(crate) use acquire::Acquiring;
pub(crate) use board::event;
pub(crate) use embedding::Embedding;
pub(crate) use run::run;
