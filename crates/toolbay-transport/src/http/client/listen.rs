//! The stream on which a legacy server speaks without being asked: changes, lines of log, questions. One task reads it for
//! as long as the session lives.

use std::{sync::Arc, time::Duration};

use futures_util::{
    FutureExt, StreamExt,
    future::{AbortHandle, BoxFuture, abortable},
    stream::FuturesUnordered,
};
use tokio::time::{self, Instant};
use toolbay_protocol::{
    ErrorObject, Frame, Id, Method, Raw,
    exchange::{Ask, Outcome},
    fault::code,
};

use super::{
    pace::Pace,
    problem::Refusal,
    reply::{Got, Messages, Reply, Shape},
    session::Session,
};
use crate::Kind;

/// The longest pause before the stream is opened again, where nothing is lost meanwhile, and where it is.
const LONGEST_RESUMABLE: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(60);
/// A stream that lasted so long was worth its opening.
const SETTLED: Duration = Duration::from_secs(60);
/// Listens for as long as the server offers it.
pub(super) async fn listen(session: Arc<Session>) {
    Listening { session, pace: Pace::new(), opened: Opened::Never, replies: FuturesUnordered::new(), asked: vec![] }
        .run()
        .await;
}

struct Listening {
    session: Arc<Session>,
    pace: Pace,
    opened: Opened,
    /// Answers on their way; none comes of a question that was taken back.
    replies: FuturesUnordered<BoxFuture<'static, Option<(Id, Outcome)>>>,
    asked: Vec<(Id, AbortHandle)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opened {
    Never,
    Before,
}

/// Whether to try again.
enum Verdict {
    Again,
    Never,
}

impl Listening {
    async fn run(mut self) {
        loop {
            let opening = self.session.stream(self.pace.id());
            let opened = self.meanwhile(opening).await;
            self.session.is_listened_to();
            let verdict = match opened {
                Ok(Reply::Messages(messages)) if messages.shape() == Shape::Stream => {
                    self.opened = Opened::Before;
                    let since = Instant::now();
                    self.hear(*messages).await;
                    // Not every stream that closes in good order is a good one: one that closes at once, and for ever,
                    // is opened ever more rarely.
                    if since.elapsed() >= SETTLED {
                        self.pace.fruitful();
                    }
                    Verdict::Again
                }
                Ok(Reply::Messages(_) | Reply::Nothing(_)) => Verdict::Never,
                Ok(Reply::Refused(refusal)) => self.refused(&refusal),
                Err(error) if matches!(error.kind(), Kind::Closed | Kind::Unreachable) => Verdict::Again,
                Err(error) => {
                    self.session.listener().stray(&format!("the server's own stream cannot be read: {error}"));
                    Verdict::Never
                }
            };
            match verdict {
                Verdict::Never => break,
                Verdict::Again => {
                    let longest = if self.pace.id().is_some() { LONGEST_RESUMABLE } else { LONGEST };
                    let pause = self.pace.pause(longest);
                    self.meanwhile(time::sleep(pause)).await;
                }
            }
        }
        while let Some(reply) = self.replies.next().await {
            self.reply(reply);
        }
    }

    /// Answers questions while something else is waited for.
    async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                Some(reply) = self.replies.next() => self.reply(reply),
            }
        }
    }

    fn reply(&mut self, reply: Option<(Id, Outcome)>) {
        if let Some((id, outcome)) = reply {
            self.asked.retain(|(asked, _)| *asked != id);
            self.session.deliver_later(vec![Frame::reply(id, outcome)]);
        }
    }

    /// A question is not asked any more: one that belongs to no call, or to one of those in flight.
    fn withdrawn(&mut self, params: Option<Raw>) {
        let id = params.as_ref().and_then(|params| params.get("requestId")).and_then(|id| Id::read(&id));
        let Some(id) = id else { return self.stray("a cancellation of nothing") };
        match self.asked.iter().position(|(asked, _)| *asked == id) {
            Some(place) => self.asked.swap_remove(place).1.abort(),
            None => self.session.inboxes().withdrawn(&Frame::Notification { method: Method::Cancelled, params }),
        }
    }

    fn refused(&self, refusal: &Refusal) -> Verdict {
        match refusal.status.as_u16() {
            // Another stream of this session is open still, or the server is not well.
            409 | 429 | 500 | 502..=599 => Verdict::Again,
            404 if self.opened == Opened::Before => {
                self.session.refused(refusal);
                Verdict::Never
            }
            // spec: basic/transports, 405 says that there is no such stream; some servers say so with others.
            404..=406 | 501 => Verdict::Never,
            _ => {
                let why = refusal.to_error(self.session.line().url());
                self.session.listener().stray(&format!("the server does not open its own stream: {why}"));
                Verdict::Never
            }
        }
    }

    async fn hear(&mut self, mut messages: Messages) {
        loop {
            match self.meanwhile(messages.next()).await {
                Ok(Some(Got::Mark(mark))) => self.pace.mark(mark),
                Ok(Some(Got::Other(..))) => {}
                Ok(Some(Got::Message(Ok(frame)))) => self.take(frame),
                Ok(Some(Got::Message(Err(rejected)))) => self.stray(&format!("server wrote {}", rejected.fault)),
                Ok(None) => return,
                Err(error) if error.kind() == Kind::Closed => return,
                // What is too large is skipped; what follows it is not.
                Err(error) => self.stray(&error.to_string()),
            }
        }
    }

    fn stray(&self, what: &str) {
        self.session.listener().stray(what);
    }

    fn take(&mut self, frame: Frame) {
        // What is for a call goes there, where there still is one.
        let frame = match frame {
            Frame::Notification { method: Method::Cancelled, params } => return self.withdrawn(params),
            Frame::Request { method: Method::Ping, .. } => frame,
            frame => match self.session.inboxes().put(frame) {
                Ok(()) => return,
                Err(frame) => frame,
            },
        };
        match frame {
            Frame::Notification { method: Method::Progress, params } => self.session.progress(params.as_ref()),
            Frame::Notification { method, params } => self.session.overhear(method, params),
            Frame::Request { id, method: Method::Ping, .. } => {
                self.session.deliver_later(vec![Frame::reply(id, Ok(Raw::EMPTY))]);
            }
            Frame::Request { id, .. } if self.replies.len() >= self.session.line().limits().questions_in_flight => {
                let most = self.session.line().limits().questions_in_flight;
                let what = format!("more than {most} questions at once (limit `questions_in_flight`)");
                let error = ErrorObject::new(code::INTERNAL, what);
                self.session.deliver_later(vec![Frame::reply(id, Err(error))]);
            }
            Frame::Request { id, method, params, .. } => {
                let (answer, abort) = abortable(self.session.listener().asked(Ask { method, params }));
                self.asked.push((id.clone(), abort));
                self.replies.push(async move { answer.await.ok().map(|outcome| (id, outcome)) }.boxed());
            }
            Frame::Result { id, .. } | Frame::Error { id: Some(id), .. } => {
                self.stray(&format!("server answers request {id} where nobody waits for it"));
            }
            Frame::Error { id: None, error } => self.stray(&format!("server complains: {error:?}")),
        }
    }
}
