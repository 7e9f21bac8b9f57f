//! What the bay hears of its servers, and to whom it passes that on.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use toolbay_protocol::{
    Method, Raw,
    exchange::{Level, Note},
    types::meta::key::RELATED_TASK,
    watch::Change,
};

use toolbay_transport::Caller;

use super::inner::Inner;
use crate::{
    bridge::Tasks,
    config::Isolation,
    servers::{Hearer, Leg, Server, Supervision},
};

/// Hears the servers for a bay that may be gone.
pub(super) struct Ear(pub(super) Weak<Inner>);

impl Supervision for Ear {
    fn moved(&self, _: &Arc<str>) {
        if let Some(bay) = self.0.upgrade() {
            bay.remerge();
        }
    }

    fn changed(&self, change: &Change) {
        if let Some(bay) = self.0.upgrade() {
            bay.hub.publish(change);
        }
    }

    fn updated(&self, uri: String) {
        if let Some(bay) = self.0.upgrade() {
            bay.hub.publish(&Change::Updated(uri));
        }
    }

    /// What belongs to no call is for the sessions that share the connection; on one that users share, it could be about
    /// anybody, and nobody is told.
    fn said(&self, server: &Server, leg: &Arc<Leg>, note: Note) {
        let Some(bay) = self.0.upgrade() else { return };
        if note.method == Method::Progress {
            return bay.progressed(server, leg, note);
        }
        if server.spec.isolation == Isolation::Shared {
            return;
        }
        let graveness = match note.method {
            Method::Message => {
                let level = note.params.as_ref().and_then(|params| params.get("level"));
                // An unknown level counts as the gravest, so that it is not lost.
                level.as_ref().and_then(Raw::as_text).and_then(|name| Level::parse(&name)).or(Level::parse("emergency"))
            }
            _ => None,
        };
        let sharing = |caller: &Caller| server.is_leg_of(leg, caller, &bay.declared);
        bay.sessions.tell(&note, graveness, sharing, |caller, note| {
            let tasks = Tasks { sealer: &bay.sealer, principal: &caller.principal, server: &server.spec.name };
            let renamed = |params: &Raw| match note.method {
                Method::TaskStatus => tasks.renamed(params),
                _ => tasks.related(params),
            };
            Note { method: note.method.clone(), params: note.params.as_ref().map(renamed) }
        });
    }

    fn drain(&self) -> Duration {
        self.0.upgrade().map(|bay| bay.limits.load().drain).unwrap_or_default()
    }

    fn level(&self, server: &Server, leg: &Arc<Leg>) -> Option<Level> {
        let bay = self.0.upgrade()?;
        bay.sessions.most_verbose(|caller| server.is_leg_of(leg, caller, &bay.declared))
    }
}

impl Inner {
    /// A task goes on after the call that began it: whoever made that call is told.
    fn progressed(&self, server: &Server, leg: &Leg, note: Note) {
        let bare = |params: Raw| {
            let meta = params.get("_meta").map(|meta| meta.with(&[(RELATED_TASK, None)]));
            params.with(&[("_meta", meta.as_ref().filter(|meta| **meta != Raw::EMPTY))])
        };
        match leg.hearers.of(&note) {
            Some(Hearer::Call(cx)) => cx.note_now(Note { method: note.method, params: note.params.map(bare) }),
            Some(Hearer::Session(caller, token)) => {
                let tasks = Tasks { sealer: &self.sealer, principal: &caller.principal, server: &server.spec.name };
                let own = |params: Raw| tasks.related(&params).with(&[("progressToken", Some(&token))]);
                self.sessions.say(&caller, Note { method: note.method, params: note.params.map(own) });
            }
            None => {}
        }
    }
}
