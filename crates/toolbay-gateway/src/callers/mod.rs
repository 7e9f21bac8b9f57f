//! Who calls us: their sessions, and what they declared, as each server is told. Whom a caller is taken for was decided
//! by the transport.

mod declared;
mod sessions;

pub(crate) use declared::Declared;
pub(crate) use sessions::Sessions;
