//! Entries that are services and not servers of the protocol: each is served in this process as a server with one tool, so
//! that all else (names, policy, limits, audit) finds nothing special about it.

mod outlet;
mod polled;
mod probe;
mod result;
mod verdict;

pub(crate) use probe::connector;

#[cfg(test)]
mod tests;
