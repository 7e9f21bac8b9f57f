//! Sessions per device: for each user, device and server (or entry of the registry) that is `per-device`, a connection and
//! a session of its own at that server, so that two devices never see each other's state.
//!
//! A device is what a client states, and is believed only among the devices of one user. Not here: the connections
//! themselves (`servers`), and the sessions of clients with us (`callers`).

mod api;
mod folder;
mod keep;
mod key;
mod session;
mod table;

pub use api::{NoSession, SessionInfo};
pub(crate) use folder::Folder;
pub(crate) use keep::{close, keep};
pub(crate) use key::Holder;
pub use key::{ClientUid, McpSession, SessionKey};
pub(crate) use session::{Session, Visitor};
pub(crate) use table::{Full, Table};

#[cfg(test)]
mod tests;
