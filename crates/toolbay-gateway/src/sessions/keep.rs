//! Sees the sessions of a server to their end: those that were idle for too long, and those that were cleared, calls in
//! flight first.

use std::{sync::Arc, time::Duration};

use tokio::{
    task::JoinSet,
    time::{self, Instant},
};

use super::session::Session;
use crate::servers::Server;

/// How often it is asked whether the last call of a session has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Does so for as long as the server is looked after; it never ends by itself.
pub(crate) async fn keep(server: &Arc<Server>, ends: &mut JoinSet<()>) {
    let table = &server.devices;
    loop {
        let due = table.expire(Instant::now());
        for session in table.take_leaving() {
            ends.spawn(see_off(Arc::clone(server), session));
        }
        tokio::select! {
            () = table.changed.notified() => {}
            () = time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
            Some(_) = ends.join_next() => {}
        }
    }
}

/// Ends a session once its calls have ended, or their time is over.
async fn see_off(server: Arc<Server>, session: Arc<Session>) {
    if let Some(leg) = session.leg() {
        let idle = async {
            while leg.is_taken() {
                time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            // Those that go on for longer fail with the connection, and are told so.
            _ = time::timeout(server.supervision.drain(), idle) => {}
            () = leg.ended.cancelled() => {}
        }
        server.end_leg(&leg);
        leg.ended.cancelled().await;
    }
    gone(&session).await;
}

/// Ends what is left, after the connections of the server were closed.
pub(crate) async fn close(server: &Server, mut ends: JoinSet<()>) {
    for session in server.devices.close() {
        gone(&session).await;
    }
    while ends.join_next().await.is_some() {}
}

async fn gone(session: &Session) {
    if let Some(folder) = session.take_folder() {
        folder.remove().await;
    }
}
