//! How `status`, `logs` and `reload` talk to an `up` that runs: a socket of its user's own, one question a connection, JSON
//! a line. Not for clients of the protocol, and not for other users or machines. See docs/decisions/008.

mod answer;
#[cfg(unix)]
mod ask;
#[cfg(unix)]
mod place;
mod question;
#[cfg(unix)]
mod serve;
#[cfg(not(unix))]
mod without;

pub(crate) use answer::{House, change};
#[cfg(unix)]
pub(crate) use ask::ask;
pub(crate) use question::Question;
#[cfg(unix)]
pub(crate) use serve::open;
#[cfg(not(unix))]
pub(crate) use without::{ask, open};
