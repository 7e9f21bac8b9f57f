//! What the messages on a call's own stream mean for the call, and for whom the others are.

use std::sync::Arc;

use toolbay_protocol::{
    ErrorObject, Feature, Frame, Id, Method, Raw,
    exchange::{Note, Step},
    fault::code,
    frame::Rejected,
    watch::modern,
};

use super::{
    super::{
        relist::relist,
        reply::{Got, Shape},
    },
    Relisted, RunningCall, State,
};
use crate::{Error, Kind};

impl RunningCall {
    pub(super) fn got(&mut self, got: Got, shape: Shape) -> Result<Option<Step>, Error> {
        match got {
            Got::Mark(mark) => self.pace.mark(mark),
            Got::Other(..) => {}
            Got::Message(Ok(frame)) => {
                self.clock.touch();
                self.pace.fruitful();
                return self.frame(frame, shape);
            }
            Got::Message(Err(Rejected { id, fault })) => {
                if shape == Shape::Whole || id.as_ref() == Some(self.exchange.id()) {
                    return Err(Error::new(Kind::Misbehaved, format!("the server answers badly: {fault}")));
                }
                self.session.listener().stray(&format!("server wrote {fault}"));
            }
        }
        Ok(None)
    }

    pub(super) fn frame(&mut self, frame: Frame, shape: Shape) -> Result<Option<Step>, Error> {
        let handshake = self.session.has(Feature::Handshake);
        let stray = |what: String| self.session.listener().stray(&what);
        match frame {
            Frame::Notification { method, params } => return self.note(method, params),
            Frame::Request { id, method: Method::Ping, .. } if handshake => {
                self.session.deliver_later(vec![Frame::reply(id, Ok(Raw::EMPTY))]);
            }
            // spec: basic/patterns, a modern server sends no requests; never answered
            Frame::Request { method, .. } if !handshake => {
                stray(format!("server asks {method}, which its revision does not allow"));
            }
            Frame::Result { id, .. } | Frame::Error { id: Some(id), .. } if id != *self.exchange.id() => {
                let what = format!("server answers request {id} where {} was asked", self.exchange.id());
                if shape == Shape::Whole {
                    return Err(Error::new(Kind::Misbehaved, what));
                }
                stray(what);
            }
            frame => {
                if let Some(step) = self.exchange.receive(frame) {
                    if self.session.has(Feature::CoreTasks) && matches!(step, Step::Done(_)) {
                        self.session.tokens().learn(&self.exchange, &step);
                    }
                    return self.went_on(step);
                }
            }
        }
        Ok(None)
    }

    fn went_on(&mut self, step: Step) -> Result<Option<Step>, Error> {
        match step {
            Step::Done(Err(error)) => self.failed(error),
            Step::Done(Ok(result)) if *self.exchange.method() == Method::ToolsList => {
                let mirrors = self.session.has(Feature::RoutingHeaders);
                let learn = |result| self.session.plans().learn(result, self.session.listener());
                Ok(Some(Step::Done(Ok(if mirrors { learn(result) } else { result }))))
            }
            Step::Ask(asks) => {
                self.clock.asked(asks.len());
                if self.session.has(Feature::Stateless) {
                    self.state = State::Asked;
                }
                Ok(Some(Step::Ask(asks)))
            }
            step @ (Step::Note(_) | Step::Away(_) | Step::Withdrawn(_) | Step::Done(Ok(_))) => Ok(Some(step)),
        }
    }

    /// The server answered with an error; some are not the caller's business.
    pub(super) fn failed(&mut self, error: ErrorObject) -> Result<Option<Step>, Error> {
        let mirrors = self.session.has(Feature::RoutingHeaders);
        match error.code {
            // spec: basic/transports/streamable-http, list the tools again and retry
            code::HEADER_MISMATCH
                if mirrors && self.relisted == Relisted::No && *self.exchange.method() == Method::ToolsCall =>
            {
                self.relisted = Relisted::Yes;
                self.state = State::Posting(relist(Arc::clone(&self.session), self.request.clone()));
                Ok(None)
            }
            code::HEADER_MISMATCH if mirrors => {
                let what = format!("the server does not find the body in the headers that repeat it: {error}");
                Err(Error::new(Kind::Misbehaved, what))
            }
            code::UNSUPPORTED_VERSION => {
                let what = format!("the server speaks another revision now: {error}");
                let error = Error::new(Kind::Incompatible, what);
                self.session.lose(error.clone());
                Err(error)
            }
            _ => Ok(Some(Step::Done(Err(error)))),
        }
    }

    fn note(&mut self, method: Method, params: Option<Raw>) -> Result<Option<Step>, Error> {
        let note = |method, params| Ok(Some(Step::Note(Note { method, params })));
        let listens = *self.exchange.method() == Method::Listen;
        match method {
            Method::Message => return note(method, params),
            Method::Progress => {
                let frame = Frame::Notification { method, params };
                if self.exchange.owns(&frame) {
                    return self.exchange.receive(frame).map_or(Ok(None), |step| self.went_on(step));
                }
                if let Frame::Notification { params, .. } = frame {
                    self.session.progress(params.as_ref());
                }
            }
            Method::Cancelled if self.session.has(Feature::Handshake) => {
                let id = params.as_ref().and_then(|params| params.get("requestId")).and_then(|id| Id::read(&id));
                let withdrawn = id.and_then(|id| self.exchange.withdraw(&id));
                return Ok(withdrawn.map(Step::Withdrawn));
            }
            Method::Cancelled if listens => return Err(Error::closed("the server ended the subscription")),
            method if listens => match modern::subscription(params.as_ref()) {
                Some(id) if id != *self.exchange.id() => {
                    self.session.listener().stray(&format!("{method} of subscription {id}, which is another one"));
                }
                Some(_) | None => return note(method, params),
            },
            method => self.session.overhear(method, params),
        }
        Ok(None)
    }
}
