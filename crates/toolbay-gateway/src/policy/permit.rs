//! The key to a server. Nobody outside this room can make one.

use std::sync::Arc;

/// Leave to call one server once.
#[derive(Debug)]
pub struct Permit {
    server: Arc<str>,
}

impl Permit {
    pub(super) fn to(server: Arc<str>) -> Self {
        Self { server }
    }

    /// The server that may be called.
    pub fn server(&self) -> &Arc<str> {
        &self.server
    }
}
