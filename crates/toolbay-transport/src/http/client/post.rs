//! One request: one exchange, one POST (and, where a stream breaks off, what resumes it). It reads its answer itself when
//! somebody wants to know what happens next: no task, no queue.

mod frames;

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use tokio::{
    sync::OwnedSemaphorePermit,
    time::{self, Instant, Sleep},
};
use toolbay_protocol::{
    ErrorObject, Feature, Frame,
    exchange::{Answers, Outcome, Outgoing, Step},
    greeting::Introduction,
    peer::{Call, Presence},
};

use super::{
    clock::Clock,
    inbox::{Inbox, heard},
    pace::Pace,
    problem::Refusal,
    reply::{Messages, Reply, Shape},
    session::{Sending, Session},
};
use crate::{Error, Kind};

/// How often a stream is resumed, one time after the other, without anything coming of it.
const RESUMPTIONS: u32 = 10;
/// The longest pause before it is.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A call in flight; dropping it takes it back.
pub(crate) struct RunningCall {
    session: Arc<Session>,
    exchange: Outgoing,
    request: Frame,
    state: State,
    clock: Clock,
    pace: Pace,
    /// Who stands behind it, and whether they are there.
    behind: (Option<Arc<Introduction>>, Presence),
    inbox: Option<Arc<Inbox>>,
    relisted: Relisted,
    _place: Option<OwnedSemaphorePermit>,
}

enum State {
    /// Nothing was sent yet.
    New,
    /// The request is on its way.
    Posting(Sending),
    /// The answer is being read.
    Reading(Box<Messages>),
    /// The answer broke off; soon it is taken up again.
    Pausing(Pin<Box<Sleep>>),
    /// It is being taken up again.
    Returning(Sending),
    /// The server wants answers before it goes on, by a request of their own.
    Asked,
    /// The outcome is known.
    Settled(Outcome),
    /// Nothing more will happen.
    Over,
}

/// Whether the tools were listed again for the sake of this call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relisted {
    No,
    Yes,
}

impl RunningCall {
    /// A call of `session`, which keeps its place among those in flight.
    pub(super) fn new(session: Arc<Session>, call: Call, place: Option<OwnedSemaphorePermit>) -> Self {
        let (clock, pace) = (Clock::start(call.patience), Pace::new());
        let behind = (call.behalf.clone(), call.presence.clone());
        let exchange = call.exchange(Arc::clone(session.us()), session.mint());
        let request = exchange.open();
        let (state, relisted) = (State::New, Relisted::No);
        Self { session, exchange, request, state, clock, pace, behind, inbox: None, relisted, _place: place }
    }

    /// What happens next. Losing the future loses nothing.
    pub(crate) async fn step(&mut self) -> Result<Step, Error> {
        let step = self.next().await;
        match &step {
            Ok(Step::Done(_)) => self.state = State::Over,
            Ok(Step::Note(_) | Step::Away(_) | Step::Ask(_) | Step::Withdrawn(_)) => {}
            Err(error) => {
                if matches!(error.kind(), Kind::Overdue | Kind::Limit) {
                    self.take_back("it took too long, or too much");
                }
                self.state = State::Over;
            }
        }
        step
    }

    async fn next(&mut self) -> Result<Step, Error> {
        // What is only begun is begun without a look at anything else.
        if matches!(self.state, State::New)
            && let Some(step) = self.post()?
        {
            return Ok(step);
        }
        let session = Arc::clone(&self.session);
        loop {
            let (due, inbox) = (self.clock.due(), self.inbox.clone());
            let step = tokio::select! {
                biased;
                error = session.closed() => return Err(error),
                frame = heard(inbox.as_deref()) => {
                    self.clock.touch();
                    self.frame(frame, Shape::Stream)?
                }
                turned = self.turn() => turned?,
                () = time::sleep_until(due) => return Err(self.clock.overdue()),
            };
            match step {
                Some(step) => return Ok(step),
                // Also where the server never ceases to say what does not matter.
                None if Instant::now() >= self.clock.due() => return Err(self.clock.overdue()),
                None => {}
            }
        }
    }

    /// Waits for one thing.
    async fn turn(&mut self) -> Result<Option<Step>, Error> {
        match &mut self.state {
            State::New => self.post(),
            State::Posting(reply) => {
                let reply = reply.await?;
                self.replied(reply)
            }
            State::Reading(messages) => {
                let (shape, got) = (messages.shape(), messages.next().await);
                match got {
                    Ok(Some(got)) => self.got(got, shape),
                    Ok(None) => self.broke_off(shape, None),
                    Err(error) if error.kind() == Kind::Closed => self.broke_off(shape, Some(error)),
                    Err(error) => Err(error),
                }
            }
            State::Pausing(pause) => {
                pause.await;
                self.state = State::Returning(self.session.stream(self.pace.id()));
                Ok(None)
            }
            State::Returning(reply) => {
                let reply = reply.await;
                self.returned(reply)
            }
            State::Settled(outcome) => Ok(Some(Step::Done(outcome.clone()))),
            State::Asked => Err(Error::closed("the server waits for answers, and none were given")),
            State::Over => Err(Error::closed("the call is over")),
        }
    }

    fn post(&mut self) -> Result<Option<Step>, Error> {
        match self.session.send(&self.request) {
            Ok(sending) => {
                self.state = State::Posting(sending);
                if self.session.has(Feature::Handshake) {
                    self.inbox = Some(self.session.inboxes().add(&self.exchange, self.behind.clone()));
                }
                Ok(None)
            }
            // The caller's argument, the caller's fault.
            Err(mismatch) => Ok(Some(Step::Done(Err(ErrorObject::invalid_params(mismatch.to_string()))))),
        }
    }

    fn replied(&mut self, reply: Reply) -> Result<Option<Step>, Error> {
        match reply {
            Reply::Messages(messages) => {
                self.state = State::Reading(messages);
                Ok(None)
            }
            Reply::Nothing(status) => {
                let what = format!("the server took {} (HTTP {status}) and answers nothing", self.exchange.method());
                Err(Error::new(Kind::Misbehaved, what))
            }
            Reply::Refused(refusal) => self.refused(&refusal),
        }
    }

    fn refused(&mut self, refusal: &Refusal) -> Result<Option<Step>, Error> {
        let ends_session = refusal.status.as_u16() == 404 && self.session.is_named();
        if let Some((id, error)) = &refusal.error
            && !ends_session
        {
            let named = id.as_ref() == Some(self.exchange.id());
            let answers = match id {
                Some(_) => named && (!refusal.is_no_verdict() || refusal.status.is_server_error()),
                // A modern server has nothing else that it could mean.
                None => self.session.has(Feature::Stateless) && !refusal.is_no_verdict(),
            };
            if answers {
                return self.failed(error.clone());
            }
        }
        Err(self.session.refused(refusal))
    }

    /// What came of resuming a stream.
    fn returned(&mut self, reply: Result<Reply, Error>) -> Result<Option<Step>, Error> {
        match reply {
            Ok(Reply::Messages(messages)) if messages.shape() == Shape::Stream => {
                self.state = State::Reading(messages);
                Ok(None)
            }
            Ok(Reply::Messages(_) | Reply::Nothing(_)) => {
                Err(Error::new(Kind::Misbehaved, "the server resumes an event stream with something else"))
            }
            Ok(Reply::Refused(refusal)) if refusal.status.as_u16() == 405 => {
                let what =
                    "the event stream ended before the answer came, and the server does not resume it (HTTP 405)";
                Err(Error::closed(what))
            }
            Ok(Reply::Refused(refusal)) if refusal.status.is_server_error() || refusal.status.as_u16() == 429 => {
                let error = self.session.refused(&refusal);
                self.broke_off(Shape::Stream, Some(error))
            }
            Ok(Reply::Refused(refusal)) => {
                let error = self.session.refused(&refusal);
                // Unlike a request that is refused for its session, this one was taken: it may have run.
                Err(if error.kind() == Kind::SessionLost { Error::closed(error.to_string()) } else { error })
            }
            Err(error) if matches!(error.kind(), Kind::Closed | Kind::Unreachable) => {
                self.broke_off(Shape::Stream, Some(error))
            }
            Err(error) => Err(error),
        }
    }

    /// The answer ended without a reply in it.
    // spec: basic/transports, only a legacy stream that gave an event id can be resumed
    fn broke_off(&mut self, shape: Shape, why: Option<Error>) -> Result<Option<Step>, Error> {
        let resumable = shape == Shape::Stream && self.session.has(Feature::Handshake) && self.pace.id().is_some();
        if resumable && self.pace.barren() < RESUMPTIONS {
            let pause = self.pace.pause(LONGEST_PAUSE);
            self.state = State::Pausing(Box::pin(time::sleep(pause)));
            // A stream that ends in good order, and says when to come back, was let go of.
            let let_go = why.is_none() && self.pace.is_paced();
            return Ok(let_go.then_some(Step::Away(pause)));
        }
        Err(why.unwrap_or_else(|| match shape {
            Shape::Stream => Error::closed("the event stream ended before the answer came"),
            Shape::Whole => Error::new(Kind::Misbehaved, "the server answers with an empty body"),
        }))
    }

    /// Answers what was asked.
    pub(crate) async fn answer(&mut self, answers: Answers) -> Result<(), Error> {
        let fresh = self.session.mint();
        let questions = answers.len();
        let frames = match self.exchange.answer(answers, || fresh) {
            Ok(frames) => frames,
            Err(error) => {
                self.state = State::Settled(Err(error));
                return Ok(());
            }
        };
        for frame in frames {
            match frame {
                Frame::Request { .. } => {
                    self.request = frame;
                    self.state = State::New;
                }
                reply => self.session.deliver(&reply).await?,
            }
        }
        self.clock.answered(questions);
        Ok(())
    }

    /// Tells the server to stop, where it does not learn so from the end of the stream.
    // spec: 2026-07-28 basic/transports/streamable-http, the end of the stream is the cancellation; before, it is not
    fn take_back(&mut self, reason: &str) {
        let under_way = match self.state {
            State::Posting(_) | State::Reading(_) | State::Pausing(_) | State::Returning(_) => true,
            State::New | State::Asked | State::Settled(_) | State::Over => false,
        };
        if under_way && self.session.has(Feature::Handshake) {
            self.session.deliver_later(self.exchange.cancel(reason));
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.take_back("the caller took it back");
        let Some(inbox) = self.inbox.take() else { return };
        let replies = self.session.inboxes().remove(&inbox);
        if !replies.is_empty() {
            self.session.deliver_later(replies);
        }
    }
}

impl fmt::Debug for RunningCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("http::RunningCall").field("exchange", &self.exchange).finish_non_exhaustive()
    }
}
