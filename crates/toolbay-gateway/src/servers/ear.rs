//! What a server says unasked, heard for the task that looks after it.

use std::sync::{Arc, Weak};

use tokio::sync::Notify;
use toolbay_protocol::{exchange::Note, watch::Change};
use toolbay_transport::Listener;

use super::{server::Server, supervise::Supervision};

/// Hears one server.
pub(super) struct Ear {
    pub(super) server: Weak<Server>,
    pub(super) supervision: Arc<dyn Supervision>,
    /// Told when a list is no longer what it was.
    pub(super) dirty: Arc<Notify>,
}

impl Ear {
    fn line(&self, line: &str) {
        if let Some(server) = self.server.upgrade() {
            server.line(line);
        }
    }
}

impl Listener for Ear {
    fn changed(&self, change: Change) {
        match change {
            Change::Tools | Change::Prompts | Change::Resources => self.dirty.notify_one(),
            Change::Updated(uri) => self.supervision.updated(uri),
            // The bay offers no tasks and so begins none: it asks no server to be told of any.
            Change::Task(_) => {}
        }
    }

    fn noted(&self, note: Note) {
        self.line(&format!("{}: {:?}", note.method, note.params));
    }

    fn stray(&self, what: &str) {
        self.line(what);
    }

    fn stderr(&self, line: &str) {
        self.line(line);
    }
}
