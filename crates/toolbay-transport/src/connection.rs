//! A server, met: calls, notifications and subscriptions, whichever transport lies between.

use std::{fmt, sync::Arc, time::Duration};

use tokio::time;
use toolbay_protocol::{
    Feature, Method,
    exchange::{Answers, Note, Outcome, Step},
    greeting::{Introduction, Meeting},
    peer::Call,
    watch::{Filter, legacy},
};

use crate::{Error, Kind, Listener, duplex, http};

/// A connection to a server; cheap to clone, closed with [`Connection::close`] or its last clone.
#[derive(Clone)]
pub struct Connection(Arc<Inner>);

struct Inner {
    us: Arc<Introduction>,
    meeting: Meeting,
    listener: Arc<dyn Listener>,
    wire: Wire,
}

/// What lies between.
pub(crate) enum Wire {
    /// Frames go both ways on one link.
    Duplex(duplex::Client),
    /// Each request is an exchange of its own.
    Http(http::client::Client),
}

impl Connection {
    pub(crate) fn new(us: Arc<Introduction>, meeting: Meeting, listener: Arc<dyn Listener>, wire: Wire) -> Self {
        Self(Arc::new(Inner { us, meeting, listener, wire }))
    }

    /// What the server said of itself, and the revision spoken with it.
    pub fn meeting(&self) -> &Meeting {
        &self.0.meeting
    }

    /// What we said of ourselves.
    pub fn us(&self) -> &Arc<Introduction> {
        &self.0.us
    }

    /// Begins a call. A method that the server's revision does not know is refused here.
    pub async fn call(&self, call: Call) -> Result<Running, Error> {
        if call.method.is_foreign_to(self.0.meeting.revision) {
            let what = format!("revision {} has no {}", self.0.meeting.revision, call.method);
            return Err(Error::new(Kind::Incompatible, what));
        }
        match &self.0.wire {
            Wire::Duplex(link) => link.call(call).await.map(|call| Running(Way::Duplex(call))),
            Wire::Http(client) => client.call(call).await.map(|call| Running(Way::Http(Box::new(call)))),
        }
    }

    /// Calls and waits for the outcome; questions are refused, notes dropped.
    pub async fn request(&self, call: Call) -> Result<Outcome, Error> {
        let mut running = self.call(call).await?;
        loop {
            match running.step().await? {
                Step::Done(outcome) => return Ok(outcome),
                Step::Note(_) => {}
                Step::Ask(asks) => {
                    let error = toolbay_protocol::ErrorObject::new(-1, "nobody is there to answer");
                    running.answer(Answers::refuse(&asks, &error)).await?;
                }
            }
        }
    }

    /// Sends a notification.
    pub async fn tell(&self, note: Note) -> Result<(), Error> {
        match &self.0.wire {
            Wire::Duplex(link) => link.tell(note),
            Wire::Http(client) => client.tell(note).await,
        }
    }

    /// Begins to hear of changes; they go to the listener. A filter beyond what the server can is cut to that.
    pub async fn subscribe(&self, filter: Filter) -> Result<Subscription, Error> {
        let filter = filter.honoured_by(&self.0.meeting.profile);
        if self.0.meeting.revision.has(Feature::Stateless) {
            return self.listen(filter).await;
        }
        for uri in &filter.uris {
            let call = Call::new(Method::Subscribe, Some(legacy::about(uri)));
            if let Err(error) = self.request(call).await? {
                return Err(Error::new(Kind::Misbehaved, format!("server refuses to watch {uri:?}: {error}")));
            }
        }
        Ok(Subscription { filter, kind: Sort::Legacy(self.clone()) })
    }

    async fn listen(&self, filter: Filter) -> Result<Subscription, Error> {
        if filter.is_empty() {
            return Ok(Subscription { filter, kind: Sort::Nothing });
        }
        let (running, honoured) = self.open_listen(&filter).await?;
        let task = tokio::spawn(self.clone().keep_listening(filter, running));
        Ok(Subscription { filter: honoured, kind: Sort::Listening(task) })
    }

    async fn open_listen(&self, filter: &Filter) -> Result<(Running, Filter), Error> {
        let mut call = Call::new(Method::Listen, Some(filter.write()));
        call.patience.silence = A_YEAR;
        let mut running = self.call(call).await?;
        let misbehaved = |what: String| Err(Error::new(Kind::Misbehaved, what));
        match time::timeout(ACKNOWLEDGE, running.step()).await {
            Ok(Ok(Step::Note(Note { method: Method::Acknowledged, params }))) => match Filter::read(params.as_ref()) {
                Ok(honoured) => Ok((running, honoured)),
                Err(fault) => misbehaved(format!("server acknowledges badly: {fault}")),
            },
            Ok(Ok(Step::Done(Err(error)))) => misbehaved(format!("server refuses to be listened to: {error}")),
            Ok(Ok(Step::Note(_) | Step::Ask(_) | Step::Done(Ok(_)))) => {
                misbehaved("server does not acknowledge a subscription first".into())
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::overdue("acknowledging a subscription", ACKNOWLEDGE)),
        }
    }

    /// Hears a subscription out and begins it again when it ends, which is no end of the wish. What changed in between
    /// nobody knows, so all of it counts as changed.
    async fn keep_listening(self, filter: Filter, mut running: Running) {
        let mut pause = FIRST_PAUSE;
        loop {
            while let Ok(Step::Note(note)) = running.step().await {
                if let Some(change) = legacy::change(&note.method, note.params.as_ref()) {
                    self.0.listener.changed(change);
                }
                pause = FIRST_PAUSE;
            }
            running = loop {
                time::sleep(pause).await;
                pause = (pause * 2).min(LAST_PAUSE);
                match self.open_listen(&filter).await {
                    Ok((running, _)) => break running,
                    // A connection that is gone for good does not come back by waiting.
                    Err(error) if error.kind() == Kind::Closed => return,
                    Err(error) => self.0.listener.stray(&format!("no longer told of changes: {error}")),
                }
            };
            filter.changes().for_each(|change| self.0.listener.changed(change));
        }
    }

    /// Closes in order: what is in flight fails, the server is told where the transport has a word for it.
    pub async fn close(&self) {
        match &self.0.wire {
            Wire::Duplex(link) => link.close().await,
            Wire::Http(client) => client.close().await,
        }
    }

    /// Waits for the end of the connection and says why it came; one without a lasting link never ends by itself.
    pub async fn ended(&self) -> Error {
        match &self.0.wire {
            Wire::Duplex(link) => link.ended().await,
            Wire::Http(client) => client.ended().await,
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("revision", &self.0.meeting.revision).finish_non_exhaustive()
    }
}

/// A call in flight; dropping it takes it back.
#[derive(Debug)]
pub struct Running(Way);

#[derive(Debug)]
enum Way {
    Duplex(duplex::client::RunningCall),
    Http(Box<http::client::RunningCall>),
}

impl Running {
    /// What happens next.
    pub async fn step(&mut self) -> Result<Step, Error> {
        match &mut self.0 {
            Way::Duplex(call) => call.step().await,
            Way::Http(call) => call.step().await,
        }
    }

    /// Answers what was asked.
    pub async fn answer(&mut self, answers: Answers) -> Result<(), Error> {
        match &mut self.0 {
            Way::Duplex(call) => call.answer(answers),
            Way::Http(call) => call.answer(answers).await,
        }
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

const A_YEAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);
/// How long a server may take to acknowledge a subscription.
const ACKNOWLEDGE: Duration = Duration::from_secs(30);
/// How soon a subscription that ended is begun again; then less and less soon.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LAST_PAUSE: Duration = Duration::from_secs(60);
