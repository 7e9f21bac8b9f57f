//! Meeting a server over HTTP: the probe decides what to send, this room sends it and says what came.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use http::HeaderValue;
use tokio::time;
use toolbay_protocol::{
    ErrorObject, Feature, Frame, Id, Method, Raw,
    exchange::{Note, Outcome, Outgoing, Step, Wishes},
    greeting::{
        Introduction, Meeting,
        probe::{Came, Next, Probe},
    },
};

use super::{
    Client, Mode, Target,
    dial::Dial,
    fields::{routing_headers, session_id},
    legacy_sse,
    line::{Line, Order},
    place::Shown,
    reply::{Arrays, Got, Messages, Reply},
    session::Session,
};
use crate::{Approach, Connection, Error, Kind, Listener, connection::Wire};

/// Meets the server at `target`, whichever era and transport it speaks.
pub async fn connect(target: Target, approach: Approach) -> Result<Connection, Error> {
    target.check()?;
    let dial = Dial::to(&target)?;
    connect_by(dial, target, approach).await
}

/// The same over connections of one's own.
pub(super) async fn connect_by(dial: Dial, target: Target, approach: Approach) -> Result<Connection, Error> {
    let (line, deadline) = (Line::new(&target, dial), approach.deadline);
    let place = Shown(&target.url).to_string();
    let meeting = async {
        match target.mode {
            Mode::LegacySse => legacy_sse::open(line, approach).await,
            Mode::Auto => Search::new(line, approach).run().await,
        }
    };
    let overdue = || Err(Error::overdue(&format!("meeting the server at {place}"), deadline));
    time::timeout(deadline, meeting).await.unwrap_or_else(|_| overdue())
}

/// A search for common ground.
struct Search {
    line: Line,
    approach: Approach,
    probe: Probe,
    minted: AtomicI64,
    /// The id that the last answer gave the session.
    session: Option<HeaderValue>,
    /// The last answer that was no success.
    refusal: Option<Error>,
}

impl Search {
    fn new(line: Line, approach: Approach) -> Self {
        let probe = approach.search();
        Self { line, approach, probe, minted: AtomicI64::new(1), session: None, refusal: None }
    }

    async fn run(mut self) -> Result<Connection, Error> {
        let mut next = self.probe.next();
        loop {
            next = match next {
                Next::Send(us, method, params) => {
                    let came = self.ask(us, method, params).await?;
                    self.probe.came(came)
                }
                // Nothing can be started again from here; what broke once may hold now.
                Next::Restart => self.probe.next(),
                Next::TwoEndpoints => return self.two_endpoints().await,
                Next::Met(meeting) => return self.met(meeting).await,
                Next::Failed(why) => {
                    let what = format!("no common ground with {}: {why}", Shown(self.line.url()));
                    return Err(Error::new(Kind::Incompatible, what));
                }
            };
        }
    }

    /// Sends one request of the probe and says what came.
    async fn ask(&mut self, us: Arc<Introduction>, method: Method, params: Raw) -> Result<Came, Error> {
        let discovers = method == Method::Discover;
        let id = Id::Number(self.minted.fetch_add(1, Ordering::Relaxed));
        let exchange = Outgoing::new(Arc::clone(&us), id, method, Some(params), Wishes::default());
        let request = exchange.open();
        // The headers of the modern era go with its requests alone.
        let order = Order::post(routing_headers(&us, &request), request.to_bytes());
        // Silence is no verdict, but a handshake that succeeds is one: so it is tried.
        let limit = if discovers { self.approach.probe } else { Duration::MAX };
        match time::timeout(limit, self.exchange(order, exchange)).await {
            Ok(came) => came,
            Err(_) => Ok(Came::Silence),
        }
    }

    async fn exchange(&mut self, order: Order, exchange: Outgoing) -> Result<Came, Error> {
        let reached = match self.line.send(order).await {
            Ok(reached) => reached,
            Err(error) if error.kind() == Kind::Closed => return Ok(Came::End),
            Err(error) => return Err(error),
        };
        if reached.url != *self.line.url() {
            // The rest is said where this was heard.
            self.line = self.line.at(reached.url.clone());
        }
        self.session = session_id(reached.response.headers())?;
        match Reply::read(reached, self.line.limits(), Arrays::Never).await? {
            Reply::Messages(messages) => self.outcome(*messages, exchange).await,
            Reply::Nothing(_) => Ok(Came::Silence),
            Reply::Refused(refusal) => {
                let error = refusal.to_error(self.line.url());
                if refusal.is_no_verdict() {
                    return Err(error);
                }
                self.refusal = Some(error);
                Ok(Came::Status(refusal.status.as_u16(), refusal.error.map(|(_, error)| error)))
            }
        }
    }

    /// Waits for the answer among all that may come with it.
    async fn outcome(&self, mut messages: Messages, mut exchange: Outgoing) -> Result<Came, Error> {
        let listener = &self.approach.listener;
        loop {
            let frame = match messages.next().await {
                Ok(Some(Got::Message(frame))) => frame,
                Ok(Some(Got::Mark(_) | Got::Other(..))) => continue,
                Ok(None) => return Ok(Came::Silence),
                Err(error) if error.kind() == Kind::Closed => return Ok(Came::End),
                Err(error) => return Err(error),
            };
            match frame {
                Ok(frame @ (Frame::Result { .. } | Frame::Error { .. })) => match exchange.receive(frame) {
                    Some(Step::Done(outcome)) => return Ok(Came::Answer(outcome)),
                    Some(Step::Ask(_) | Step::Note(_) | Step::Away(_) | Step::Withdrawn(_)) | None => {
                        listener.stray("server answers what nobody asked");
                    }
                },
                Ok(Frame::Notification { method, params }) => listener.noted(Note { method, params }),
                Ok(Frame::Request { method, .. }) => listener.stray(&format!("server asks {method} before it was met")),
                Err(rejected) => return Ok(Came::Answer(bad(&rejected.fault.to_string()))),
            }
        }
    }

    async fn two_endpoints(self) -> Result<Connection, Error> {
        let refusal = self.refusal;
        legacy_sse::open(self.line, self.approach).await.map_err(|error| match (refusal, error.kind()) {
            (Some(refusal), Kind::Incompatible | Kind::Misbehaved) if refusal.to_string() == error.to_string() => error,
            (Some(refusal), Kind::Incompatible | Kind::Misbehaved) => {
                Error::new(Kind::Incompatible, format!("{refusal} (and over HTTP+SSE: {error})"))
            }
            (Some(_) | None, _) => error,
        })
    }

    async fn met(self, meeting: Meeting) -> Result<Connection, Error> {
        let Self { line, approach, probe, minted, session, refusal: _ } = self;
        let us = Arc::new(probe.client().in_revision(meeting.revision));
        let handshake = meeting.revision.has(Feature::Handshake);
        let listener: Arc<dyn Listener> = Arc::clone(&approach.listener);
        let id = session.filter(|_| handshake);
        let session = Arc::new(Session::new(line, Arc::clone(&us), id, Arc::clone(&listener), minted));
        if handshake {
            session.deliver(&Frame::Notification { method: Method::Initialized, params: None }).await?;
        }
        Ok(Connection::new(us, meeting, listener, Wire::Http(Client::start(session))))
    }
}

fn bad(fault: &str) -> Outcome {
    Err(ErrorObject::internal(format!("it answers what is no message: {fault}")))
}
