//! Tasks of the extension that a client listens to: each is listened to at its server, for as long as the client does.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{task::JoinHandle, time};
use toolbay_protocol::watch::{Change, Filter};
use toolbay_transport::{Caller, Connection, Listening, Principal};

use super::inner::Inner;
use crate::{
    bridge::{KeptTask, Sort, Tasks},
    policy::{self, Wanted},
    servers::Listened,
};

/// How soon a stream that ended is opened again; then less and less soon.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// A stream that was opened at a server.
pub(super) struct Opened {
    server: Arc<str>,
    connection: Connection,
    listening: Listening,
    filter: Filter,
    /// The connection, and its server, stay for it.
    kept: Listened,
}

/// A stream that is followed until this is dropped.
pub(super) struct Following(JoinHandle<()>);

impl Drop for Following {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Opens a stream at each server whose tasks stand among `ids`; those of the caller's that a server tells of, and the
/// streams. Ids that open for somebody else alone are left out, like those that nobody knows.
pub(super) async fn open(bay: &Inner, caller: &Caller, ids: BTreeSet<String>) -> (BTreeSet<String>, Vec<Opened>) {
    let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let (mut honoured, mut opened) = (BTreeSet::new(), vec![]);
    for public in ids {
        if let Some((server, id)) = bay.sealer.named(Sort::Task, &caller.principal, &public) {
            wanted.entry(server).or_default().insert(id);
        } else if let Some(view) = kept(bay, caller, &public).and_then(|task| task.view()) {
            // It is followed already.
            honoured.insert(view.public);
        }
    }
    for (server, tasks) in wanted {
        let Some(server) = bay.server_named(&server) else { continue };
        let filter = Filter { tasks, ..Filter::default() };
        let Some(stream) = at(bay, caller, server, filter).await else { continue };
        let names = Tasks { sealer: &bay.sealer, principal: &caller.principal, server: &stream.server };
        honoured.extend(stream.listening.filter().tasks.iter().map(|id| names.public(id)));
        opened.push(stream);
    }
    (honoured, opened)
}

async fn at(bay: &Inner, caller: &Caller, server: Arc<str>, filter: Filter) -> Option<Opened> {
    let permit = policy::decide(&Wanted { caller, server: &server }).ok()?;
    let seat = bay.seat(&permit, &bay.server(&server)?, caller).await.ok()?;
    let (connection, kept) = (seat.connection.clone(), seat.leg.is_listened_to());
    let listening = connection.listen(filter.clone()).await.ok()?;
    Some(Opened { server, connection, listening, filter, kept })
}

/// Tells where those of the tasks stand that are followed here.
// spec: tasks extension, whoever begins to listen is told the state
pub(super) fn tell(bay: &Inner, caller: &Caller, ids: &BTreeSet<String>) {
    for public in ids {
        if let Some(task) = kept(bay, caller, public) {
            task.tell();
        }
    }
}

/// The task of this caller that is kept here under that public name, where its server is still there.
fn kept(bay: &Inner, caller: &Caller, public: &str) -> Option<Arc<KeptTask>> {
    let (server, name) = bay.sealer.named(Sort::Kept, &caller.principal, public)?;
    bay.kept.find(&caller.principal, (&*bay.server_named(&server)?, &name))
}

/// Passes on what is told on a stream.
pub(super) fn follow(bay: &Arc<Inner>, principal: Principal, opened: Opened) -> Following {
    Following(tokio::spawn(pass_on(Arc::downgrade(bay), principal, opened)))
}

async fn pass_on(bay: Weak<Inner>, principal: Principal, opened: Opened) {
    let Opened { server, connection, mut listening, filter, kept: _kept } = opened;
    let mut pause = FIRST_PAUSE;
    loop {
        while let Some(change) = listening.next().await {
            let Some(bay) = bay.upgrade() else { return };
            if let Change::Task(change) = change {
                let names = Tasks { sealer: &bay.sealer, principal: &principal, server: &server };
                bay.hub.publish(&Change::Task(names.change(&change)));
            }
            pause = FIRST_PAUSE;
        }
        // Where a task stands is told anew at the beginning of each stream, so nothing is missed.
        listening = loop {
            time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
            if let Ok(listening) = connection.listen(filter.clone()).await {
                break listening;
            }
        };
    }
}
