//! One request of a session while it is served.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::sync::oneshot;
use toolbay_protocol::{
    ErrorObject, Feature, Frame, Id, Raw,
    exchange::{Answers, Asks, Outcome},
    fault::code,
};

use super::{
    super::serving::{Did, Serving},
    record::Session,
};
use crate::talk::Said;

/// What comes of a request.
#[derive(Debug)]
pub(super) enum Out {
    /// A message about it, or a question to its caller.
    Said(Frame),
    /// The connection may go for this long.
    HangUp(Duration),
    /// The message that ends it.
    Answer(Frame),
    /// Nothing more.
    Over,
}

/// A request while it is served. Dropping it cancels it.
pub(super) struct Conversation {
    session: Arc<Session>,
    key: u64,
    id: Id,
    serving: Serving,
    questions: VecDeque<Frame>,
    over: bool,
}

impl Conversation {
    pub(super) fn new(session: Arc<Session>, key: u64, id: Id, serving: Serving) -> Self {
        Self { session, key, id, serving, questions: VecDeque::new(), over: false }
    }

    /// The session, and the key under which it keeps this request.
    pub(super) fn key(&self) -> (&Arc<Session>, &u64) {
        (&self.session, &self.key)
    }

    /// What comes next; losing the future loses nothing.
    pub(super) async fn next(&mut self) -> Out {
        if let Some(question) = self.questions.pop_front() {
            return Out::Said(question);
        }
        if self.over {
            return Out::Over;
        }
        loop {
            match self.serving.next().await {
                Did::Said(Said::Note(note)) => {
                    let frame = self.session.state().calls.note(self.key, note);
                    if let Some(frame) = frame {
                        return Out::Said(frame);
                    }
                }
                Did::Said(Said::Ask(asks, answers)) => {
                    self.ask(&asks, answers);
                    if let Some(question) = self.questions.pop_front() {
                        return Out::Said(question);
                    }
                }
                Did::Said(Said::Withdrawn) => {
                    self.questions.extend(self.session.state().calls.withdraw(self.key));
                    if let Some(frame) = self.questions.pop_front() {
                        return Out::Said(frame);
                    }
                }
                Did::Said(Said::HangUp(pause)) => {
                    if self.session.has(Feature::Polling) && self.session.state().calls.hears(self.key) {
                        return Out::HangUp(pause);
                    }
                }
                Did::Parted(..) => return self.end(Err(ErrorObject::internal("the server did not wait for answers"))),
                Did::Done(outcome) => return self.end(outcome),
            }
        }
    }

    fn ask(&mut self, asks: &Asks, answers: oneshot::Sender<Answers>) {
        let mut state = self.session.state();
        if state.calls.hears(self.key) {
            self.questions.extend(state.calls.ask(self.key, asks, answers));
        } else {
            let deaf = ErrorObject::new(code::INTERNAL, "the client is gone, or takes no questions (`Accept`)");
            // Its service may have stopped waiting.
            let _ = answers.send(Answers::refuse(asks, &deaf));
        }
    }

    fn end(&mut self, outcome: Outcome) -> Out {
        self.over = true;
        let (answer, ended) = {
            let mut state = self.session.state();
            (state.calls.done(self.key, outcome), state.ended)
        };
        match answer {
            Some(frame) => Out::Answer(frame),
            None if ended => Out::Answer(self.failed("the session was ended; the call was cancelled with it")),
            // spec: basic/utilities/cancellation, no answer to what was taken back
            None => Out::Over,
        }
    }

    fn failed(&self, why: &str) -> Frame {
        Frame::reply(self.id.clone(), Err::<Raw, _>(ErrorObject::internal(why)))
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        if !self.over {
            self.session.state().calls.forget(self.key);
        }
    }
}
