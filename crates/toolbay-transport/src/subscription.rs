//! Hearing of changes at a server: for as long as somebody wants to, told to the connection's listener; or for as long as
//! the server's own stream lasts, told to whoever reads it.

use std::time::Duration;

use tokio::time;
use toolbay_protocol::{
    Feature, Method,
    exchange::{Note, Step},
    method::TASKS,
    peer::Call,
    watch::{Change, Filter, legacy},
};

use crate::{Connection, Error, Kind, Running};

const A_YEAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);
/// How long a server may take to acknowledge a subscription.
const ACKNOWLEDGE: Duration = Duration::from_secs(30);
/// How soon a subscription that ended is begun again; then less and less soon.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LAST_PAUSE: Duration = Duration::from_secs(60);

impl Connection {
    /// Begins to hear of changes; they go to the listener. A filter beyond what the server can is cut to that.
    pub async fn subscribe(&self, filter: Filter) -> Result<Subscription, Error> {
        let filter = self.within_reach(filter);
        if self.meeting().revision.has(Feature::Stateless) {
            return self.keep(filter).await;
        }
        for uri in &filter.uris {
            let call = Call::new(Method::Subscribe, Some(legacy::about(uri)));
            if let Err(error) = self.request(call).await? {
                return Err(Error::new(Kind::Misbehaved, format!("server refuses to watch {uri:?}: {error}")));
            }
        }
        Ok(Subscription { filter, kind: Sort::Legacy(self.clone()) })
    }

    /// Opens a stream of changes that whoever reads it is told of; it is not opened again when it ends. A server of the
    /// handshake has none.
    pub async fn listen(&self, filter: Filter) -> Result<Listening, Error> {
        if !self.meeting().revision.has(Feature::Stateless) {
            let what = format!("revision {} has no {}", self.meeting().revision, Method::Listen);
            return Err(Error::new(Kind::Incompatible, what));
        }
        self.open(&self.within_reach(filter)).await
    }

    /// Whether the server says that it can tell of all this on such a stream.
    pub fn can_listen(&self, filter: &Filter) -> bool {
        self.meeting().revision.has(Feature::Stateless) && self.within_reach(filter.clone()) == *filter
    }

    /// What the server can tell of, and may tell us.
    fn within_reach(&self, filter: Filter) -> Filter {
        let mut filter = filter.honoured_by(&self.meeting().profile);
        let extensions = self.meeting().revision.has(Feature::Stateless);
        if !extensions || !self.us().declares(&["extensions", TASKS]) {
            filter.tasks.clear();
        }
        filter
    }

    async fn keep(&self, filter: Filter) -> Result<Subscription, Error> {
        if filter.is_empty() {
            return Ok(Subscription { filter, kind: Sort::Nothing });
        }
        let listening = self.open(&filter).await?;
        let honoured = listening.filter.clone();
        let task = tokio::spawn(self.clone().keep_listening(filter, listening));
        Ok(Subscription { filter: honoured, kind: Sort::Listening(task) })
    }

    async fn open(&self, filter: &Filter) -> Result<Listening, Error> {
        let mut call = Call::new(Method::Listen, Some(filter.write()));
        call.patience.silence = A_YEAR;
        let mut running = self.call(call).await?;
        let misbehaved = |what: String| Err(Error::new(Kind::Misbehaved, what));
        match time::timeout(ACKNOWLEDGE, running.step()).await {
            Ok(Ok(Step::Note(Note { method: Method::Acknowledged, params }))) => match Filter::read(params.as_ref()) {
                Ok(filter) => Ok(Listening { running, filter }),
                Err(fault) => misbehaved(format!("server acknowledges badly: {fault}")),
            },
            Ok(Ok(Step::Done(Err(error)))) => misbehaved(format!("server refuses to be listened to: {error}")),
            Ok(Ok(Step::Note(_) | Step::Away(_) | Step::Withdrawn(_) | Step::Ask(_) | Step::Done(Ok(_)))) => {
                misbehaved("server does not acknowledge a subscription first".into())
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::overdue("acknowledging a subscription", ACKNOWLEDGE)),
        }
    }

    /// Hears a subscription out and begins it again when it ends, which is no end of the wish. What changed in between
    /// nobody knows, so all of it counts as changed.
    async fn keep_listening(self, filter: Filter, mut listening: Listening) {
        let mut pause = FIRST_PAUSE;
        loop {
            while let Some(change) = listening.next().await {
                self.listener().changed(change);
                pause = FIRST_PAUSE;
            }
            listening = loop {
                time::sleep(pause).await;
                pause = (pause * 2).min(LAST_PAUSE);
                match self.open(&filter).await {
                    Ok(listening) => break listening,
                    // A connection that is gone for good does not come back by waiting.
                    Err(error) if error.kind() == Kind::Closed => return,
                    Err(error) => self.listener().stray(&format!("no longer told of changes: {error}")),
                }
            };
            filter.changes().for_each(|change| self.listener().changed(change));
        }
    }
}

/// A stream of changes; it closes when it is dropped.
#[derive(Debug)]
pub struct Listening {
    running: Running,
    filter: Filter,
}

impl Listening {
    /// What the server will tell of.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The next change; `None` when the stream is over, in whichever way. Losing the future loses nothing.
    pub async fn next(&mut self) -> Option<Change> {
        while let Ok(Step::Note(note)) = self.running.step().await {
            if let Some(change) = legacy::change(&note.method, note.params.as_ref()) {
                return Some(change);
            }
        }
        None
    }
}

/// A subscription; it ends when it is dropped.
#[derive(Debug)]
pub struct Subscription {
    filter: Filter,
    kind: Sort,
}

#[derive(Debug)]
enum Sort {
    Nothing,
    Legacy(Connection),
    Listening(tokio::task::JoinHandle<()>),
}

impl Subscription {
    /// What the server will tell of.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        match &self.kind {
            Sort::Nothing => {}
            Sort::Listening(task) => task.abort(),
            Sort::Legacy(connection) => {
                for uri in std::mem::take(&mut self.filter.uris) {
                    let connection = connection.clone();
                    // Bounded by the call's own deadline.
                    tokio::spawn(async move {
                        let _ = connection.request(Call::new(Method::Unsubscribe, Some(legacy::about(&uri)))).await;
                    });
                }
            }
        }
    }
}
