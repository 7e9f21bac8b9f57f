//! What a server says unasked, heard for the task that looks after it.

use std::sync::Weak;

use toolbay_protocol::{exchange::Note, watch::Change};
use toolbay_transport::{Error, Listener};

use super::{processes::Process, server::Server};

/// Hears one server.
pub(super) struct Ear {
    pub(super) server: Weak<Server>,
    pub(super) process: Process,
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
        let Some(server) = self.server.upgrade() else { return };
        match change {
            Change::Tools | Change::Prompts | Change::Resources => server.dirty.notify_one(),
            Change::Updated(uri) => server.supervision.updated(uri),
            // Who wants to hear of a task listens on a stream of its own.
            Change::Task(_) | Change::Said(_) => {}
        }
    }

    fn noted(&self, note: Note) {
        if let Some(server) = self.server.upgrade() {
            server.noted(&server.base, note);
        }
    }

    fn stray(&self, what: &str) {
        self.line(what);
    }

    fn stderr(&self, line: &str) {
        self.line(line);
    }

    fn started(&self, process: u32) {
        if let Some(server) = self.server.upgrade() {
            server.processes().started(&self.process, process);
        }
    }

    fn lost(&self, _: &Error) {
        if let Some(server) = self.server.upgrade() {
            server.processes().ended(&self.process);
        }
    }
}
