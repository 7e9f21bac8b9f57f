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

    /// Whether this server may be called with it.
    pub fn opens(&self, server: &Arc<str>) -> bool {
        self.server == *server
    }
}
