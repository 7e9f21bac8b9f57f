//! The official conformance suite against both of our sides: `toolbay serve everything` as a server, and the example
//! `conformance-client` as a client, revision by revision; and the server once more behind `toolbay up`.
//!
//! A failure must stand in `conformance/expected-failures.txt` with a reason, and a listed scenario that passes must be
//! taken off: so the list can only shrink. Not here: the suite itself (`peers`), nor what our two sides do.

mod expected;
mod judge;
mod note;
mod older;
mod report;
mod results;
mod run;
mod suite;
mod through;

pub(crate) use self::run::run;
