//! What a server says that belongs to no call of ours.

use std::{future::Future, pin::Pin};

use toolbay_protocol::{
    ErrorObject,
    exchange::{Ask, Note, Outcome},
    fault::code,
    watch::Change,
};

use crate::Error;

/// Hears what belongs to no call. Called from the task that owns the link: be quick.
pub trait Listener: Send + Sync + 'static {
    /// Something changed at the server.
    fn changed(&self, change: Change) {
        let _ = change;
    }

    /// A notification, a line of log above all.
    fn noted(&self, note: Note) {
        let _ = note;
    }

    /// A question that names no call; refused where nobody overrides this.
    fn asked(&self, ask: Ask) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let what = format!("{}: none of the calls in flight is of somebody who answers that", ask.method);
        Box::pin(async { Err(ErrorObject::new(code::METHOD_NOT_FOUND, what)) })
    }

    /// Something was dropped: text that is no message, answers that nobody waits for.
    fn stray(&self, what: &str) {
        let _ = what;
    }

    /// A line that the server wrote to its stderr: neither message nor error, only text.
    fn stderr(&self, line: &str) {
        let _ = line;
    }

    /// The server was started as this process; again where it has to be met in another way.
    fn started(&self, process: u32) {
        let _ = process;
    }

    /// The link ended.
    fn lost(&self, why: &Error) {
        let _ = why;
    }
}

/// Hears nothing.
#[derive(Clone, Copy, Debug)]
pub struct Deaf;

impl Listener for Deaf {}
