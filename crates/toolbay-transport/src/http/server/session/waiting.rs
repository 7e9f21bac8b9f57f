//! The answer to a POST: all at once where nothing comes before it, else a stream.

use std::{pin::pin, sync::Arc, task::Poll, time::Duration};

use futures_util::poll;
use http::{Response, StatusCode};
use toolbay_protocol::Frame;

use super::{
    super::{body::Body, endpoint::Shared, media::Accepts, modern::shutting_down, respond},
    call::Out,
    record::Attached,
    stream,
    talker::Talker,
};
use crate::Service;

/// Requests whose answers are waited for. If the client goes away, they go on.
pub(super) struct Waiting<'a, S: Service> {
    shared: &'a Arc<Shared<S>>,
    talker: Option<Talker>,
    shape: Shape,
}

/// How several answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// There is one at most.
    Object,
    /// In an array.
    Array,
}

enum Step {
    Out(Out),
    /// Nothing, so long that a sign of life is due.
    Slow,
    /// The server goes.
    Abandoned,
}

impl<'a, S: Service> Waiting<'a, S> {
    pub(super) fn new(shared: &'a Arc<Shared<S>>, talker: Talker, shape: Shape) -> Self {
        Self { shared, talker: Some(talker), shape }
    }

    /// All answers at once, or a stream if anything comes before them.
    pub(super) async fn respond(
        mut self,
        session: Attached,
        accepts: Accepts,
        mut answers: Vec<Frame>,
    ) -> Response<Body> {
        let pause: Option<Duration> = loop {
            match self.step(accepts).await {
                Step::Out(Out::Answer(frame)) => answers.push(frame),
                Step::Out(Out::Over) => return self.complete(accepts, &answers),
                Step::Out(Out::Said(frame)) => {
                    answers.push(frame);
                    break None;
                }
                Step::Out(Out::HangUp(pause)) => break Some(pause),
                Step::Slow => break None,
                Step::Abandoned => {
                    let talker = self.talker.take();
                    answers.extend(talker.map(|talker| talker.give_up(&shutting_down())).unwrap_or_default());
                    return self.complete(accepts, &answers);
                }
            }
        };
        match self.talker.take() {
            Some(talker) => stream::begin(self.shared, session, talker, answers, pause),
            None => self.complete(accepts, &answers),
        }
    }

    async fn step(&mut self, accepts: Accepts) -> Step {
        let Some(talker) = &mut self.talker else { return Step::Out(Out::Over) };
        let mut next = pin!(talker.next());
        // No timer for what is done at once.
        if let Poll::Ready(out) = poll!(next.as_mut()) {
            return Step::Out(out);
        }
        tokio::select! {
            biased;
            out = next => Step::Out(out),
            () = self.shared.abandon.cancelled() => Step::Abandoned,
            () = tokio::time::sleep(self.shared.options.keep_alive), if accepts.stream => Step::Slow,
        }
    }

    fn complete(mut self, accepts: Accepts, answers: &[Frame]) -> Response<Body> {
        self.talker = None;
        match (answers, self.shape) {
            // All was taken back. spec: no answer then, yet HTTP wants one
            ([], _) if accepts.stream => respond::events(Body::empty()),
            ([], _) => respond::empty(StatusCode::ACCEPTED),
            ([answer], Shape::Object) => one(accepts, answer),
            (answers, _) if accepts.json => respond::batch(answers),
            (answers, _) => respond::event_list(answers),
        }
    }
}

/// One answer in the way that the client takes.
pub(super) fn one(accepts: Accepts, frame: &Frame) -> Response<Body> {
    if accepts.json { respond::json(StatusCode::OK, frame) } else { respond::one_event(frame) }
}

impl<S: Service> Drop for Waiting<'_, S> {
    /// spec: basic/transports, a disconnection is not a cancellation
    fn drop(&mut self) {
        if let Some(talker) = self.talker.take() {
            stream::run_out(self.shared, talker);
        }
    }
}
