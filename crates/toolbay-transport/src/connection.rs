//! A server, met: calls and notifications, whichever transport lies between. Subscriptions have a room of their own.

use std::{fmt, sync::Arc};

use toolbay_protocol::{
    exchange::{Answers, Note, Outcome, Step},
    greeting::{Introduction, Meeting},
    peer::Call,
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

    /// The session under which the server knows us, where it gave us one.
    pub fn session(&self) -> Option<&str> {
        match &self.0.wire {
            Wire::Duplex(_) => None,
            Wire::Http(client) => client.session(),
        }
    }

    /// Begins a call. A method that the server's revision does not know is refused here.
    pub async fn call(&self, call: Call) -> Result<Running, Error> {
        self.knows(&call)?;
        match &self.0.wire {
            Wire::Duplex(link) => link.call(call).await.map(|call| Running(Way::Duplex(call))),
            Wire::Http(client) => client.call(call).await.map(|call| Running(Way::Http(Box::new(call)))),
        }
    }

    /// Begins a call where nothing has to be waited for; else gives it back.
    #[expect(clippy::result_large_err, reason = "what is given back is no error, and is wanted as it is")]
    pub fn call_at_once(&self, call: Call) -> Result<Result<Running, Error>, Call> {
        if let Err(error) = self.knows(&call) {
            return Ok(Err(error));
        }
        match &self.0.wire {
            Wire::Duplex(link) => Ok(link.call_at_once(call)?.map(|call| Running(Way::Duplex(call)))),
            Wire::Http(_) => Err(call),
        }
    }

    fn knows(&self, call: &Call) -> Result<(), Error> {
        let revision = self.0.meeting.revision;
        if call.method.is_foreign_to(revision) {
            return Err(Error::new(Kind::Incompatible, format!("revision {revision} has no {}", call.method)));
        }
        Ok(())
    }

    /// Calls and waits for the outcome; questions are refused, notes dropped.
    pub async fn request(&self, call: Call) -> Result<Outcome, Error> {
        let mut running = self.call(call).await?;
        loop {
            match running.step().await? {
                Step::Done(outcome) => return Ok(outcome),
                Step::Note(_) | Step::Away(_) | Step::Withdrawn(_) => {}
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

    pub(crate) fn listener(&self) -> &Arc<dyn Listener> {
        &self.0.listener
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
            // Apart, so that whoever waits on a link carries no room for it.
            Way::Http(call) => Box::pin(call.step()).await,
        }
    }

    /// Answers what was asked.
    pub async fn answer(&mut self, answers: Answers) -> Result<(), Error> {
        match &mut self.0 {
            Way::Duplex(call) => call.answer(answers),
            Way::Http(call) => Box::pin(call.answer(answers)).await,
        }
    }
}
