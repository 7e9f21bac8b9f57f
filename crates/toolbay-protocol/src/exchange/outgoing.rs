//! The caller's side of a request.

use std::sync::Arc;

use super::step::{Answers, Ask, Asks, Note, Outcome, Step};
use crate::{
    fault::{ErrorObject, code},
    frame::{Frame, Id},
    greeting::{Introduction, envelope},
    method::Method,
    raw::{Kind, Object, Raw},
    revision::Feature,
};

/// What a caller wants beside the outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// Be told of progress.
    pub progress: Option<Progress>,
    /// Be sent log lines from this level on (only where each request says so; else the session's level counts).
    pub log_level: Option<Box<str>>,
}

/// The wish to be told of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress;

impl Wishes {
    /// To be told of progress.
    pub fn progress() -> Self {
        Self { progress: Some(Progress), log_level: None }
    }
}

/// What is known of the `_meta` of somebody's parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meta {
    /// Nothing.
    #[default]
    Unknown,
    /// There is none.
    None,
}

/// A request of ours, from its first frame to its outcome.
#[derive(Debug)]
pub struct Outgoing {
    us: Arc<Introduction>,
    id: Id,
    method: Method,
    params: Raw,
    wishes: Wishes,
    /// What is declared with each message instead of our own capabilities (stateless).
    capabilities: Option<Raw>,
    meta: Meta,
    /// What a stateless server asks: until it is answered, no request of ours is in flight.
    asked: Option<Asks>,
    requests: Vec<(String, Id)>,
}

impl Outgoing {
    /// A request as `us`, in the revision that `us` speaks. `params` may carry a foreign envelope or progress token in
    /// `_meta`: both are replaced by ours, the rest stays.
    pub fn new(us: Arc<Introduction>, id: Id, method: Method, params: Option<Raw>, wishes: Wishes) -> Self {
        let params = params.unwrap_or(Raw::EMPTY);
        Self { us, id, method, params, wishes, capabilities: None, meta: Meta::Unknown, asked: None, requests: vec![] }
    }

    /// Declares `capabilities`, those of whoever stands behind the request, where each request declares them.
    #[must_use]
    pub fn declaring(mut self, capabilities: Raw) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Takes for granted what is known of the `_meta` of its parameters.
    #[must_use]
    pub fn knowing(mut self, meta: Meta) -> Self {
        self.meta = meta;
        self
    }

    /// Carries on, as a new request, a call that somebody else began (spec: basic/patterns/mrtr).
    #[must_use]
    pub fn resuming(mut self, answers: Option<Answers>, state: Option<Raw>) -> Self {
        // Every question was answered by the one who returned: only results are in there.
        let responses = answers.and_then(|answers| answers.write(&Asks::default()).ok());
        self.params = self.params.with(&[("inputResponses", responses.as_ref()), ("requestState", state.as_ref())]);
        self
    }

    /// The id under which the request travels at the moment.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// What is asked for.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The task whose result it waits for, if it waits for one.
    pub fn awaited(&self) -> Option<Raw> {
        if self.method == Method::TasksResult { self.params.get("taskId") } else { None }
    }

    /// The frame that opens it.
    pub fn open(&self) -> Frame {
        Frame::request(self.id.clone(), self.method.clone(), Some(self.dress(&self.params)))
    }

    /// Parameters with our own `_meta`: the token for progress, and the envelope where there is one.
    fn dress(&self, params: &Raw) -> Raw {
        let old = match self.meta {
            Meta::None => None,
            Meta::Unknown => params.get("_meta").filter(|meta| meta.kind() == Kind::Object),
        };
        let modern = self.us.revision.has(Feature::Stateless);
        if old.is_none() && !modern && self.wishes.progress.is_none() {
            return params.clone();
        }
        let mut meta = Object::with_capacity(256);
        if modern {
            let capabilities = self.capabilities.as_ref().unwrap_or(&self.us.capabilities);
            self.us.write_envelope(&mut meta, capabilities, self.wishes.log_level.as_deref());
        }
        if self.wishes.progress.is_some() {
            meta.put("progressToken", &self.id.to_raw());
        }
        if let Some(old) = &old {
            // On which device somebody is, is said to whoever was called: it is not passed on. Nor is it said twice.
            let device = self.capabilities.is_some() || modern && self.us.device.is_some();
            meta.append(old, |key| {
                key == "progressToken" || envelope::is_envelope_key(key) || key == envelope::DEVICE && device
            });
        }
        let meta = meta.finish();
        params.with(&[("_meta", Some(&meta).filter(|meta| **meta != Raw::EMPTY))])
    }

    /// The task that a result of this request begins, where progress is wanted: its token lives on for as long as that
    /// does.
    // spec: 2025-11-25 basic/utilities/progress, tasks
    pub fn began(&self, result: &Raw) -> Option<Raw> {
        if self.wishes.progress.is_none()
            || !self.us.revision.has(Feature::CoreTasks)
            || self.method != Method::ToolsCall
        {
            return None;
        }
        result.get("task").filter(|_| result.get("content").is_none())?.get("taskId")
    }

    /// Whether `frame` belongs to this request, by id or by progress token.
    pub fn owns(&self, frame: &Frame) -> bool {
        match frame {
            _ if !self.is_in_flight() => false,
            Frame::Result { id, .. } | Frame::Error { id: Some(id), .. } => *id == self.id,
            Frame::Notification { method: Method::Progress, params: Some(params) } => {
                params.get("progressToken").and_then(|token| Id::read(&token)).as_ref() == Some(&self.id)
            }
            Frame::Notification { .. } | Frame::Request { .. } | Frame::Error { id: None, .. } => false,
        }
    }

    /// Takes a frame that belongs to this request. `None` where it changes nothing (a stray one).
    pub fn receive(&mut self, frame: Frame) -> Option<Step> {
        if !self.is_in_flight() {
            return None;
        }
        match frame {
            Frame::Notification { method, params } => Some(Step::Note(Note { method, params })),
            Frame::Request { id, method, params, .. } if self.us.revision.has(Feature::Handshake) => {
                let key = id.to_string();
                self.requests.push((key.clone(), id));
                Some(Step::Ask(Asks::one(key, Ask { method, params })))
            }
            // spec: basic/patterns, a modern server sends no requests
            Frame::Request { .. } => None,
            Frame::Result { id, result } if id == self.id => Some(self.conclude(result)),
            Frame::Error { id, error } if id.as_ref().is_none_or(|id| *id == self.id) => {
                Some(Step::Done(Err(ErrorObject::read(&error))))
            }
            Frame::Result { .. } | Frame::Error { .. } => None,
        }
    }

    fn conclude(&mut self, result: Raw) -> Step {
        if result.kind() != Kind::Object {
            return Step::Done(Err(ErrorObject::internal(format!("server answered {} with no object", self.method))));
        }
        if !self.us.revision.has(Feature::ResultType) {
            return Step::Done(Ok(result));
        }
        let result_type = result.get("resultType").filter(|kind| kind.kind() != Kind::Null);
        match result_type.as_ref().and_then(Raw::as_text).as_deref() {
            None | Some("complete" | "task") => Step::Done(Ok(result)), // spec: absent means complete
            Some("input_required") if self.method.may_ask() => match self.read_asks(&result) {
                Ok(asks) => Step::Ask(asks),
                Err(error) => Step::Done(Err(error)),
            },
            Some(other) => {
                let what = format!("server answered {} with result type {other:?}, which nobody knows", self.method);
                Step::Done(Err(ErrorObject::internal(what)))
            }
        }
    }

    fn read_asks(&mut self, result: &Raw) -> Result<Asks, ErrorObject> {
        let some = |key| result.get(key).filter(|value| value.kind() != Kind::Null);
        let asks = some("inputRequests").map(|requests| Asks::read(&requests)).transpose()?.unwrap_or_default();
        let state = some("requestState");
        if asks.is_empty() && state.is_none() {
            return Err(ErrorObject::internal("server asks for input without saying which"));
        }
        let asks = asks.ending(state);
        self.asked = Some(asks.clone());
        Ok(asks)
    }

    /// What another caller needs to carry on after an ask, where the server keeps nothing itself.
    pub fn resume_state(&self) -> Option<&Raw> {
        self.asked.as_ref().and_then(Asks::state)
    }

    /// Whether the server has a request of ours; it has none between two rounds of a stateless call.
    pub fn is_in_flight(&self) -> bool {
        self.asked.is_none()
    }

    /// Whether a question of the server is still open.
    pub fn is_asked(&self) -> bool {
        self.asked.is_some() || !self.requests.is_empty()
    }

    /// The frames that carry answers on: replies (handshake), or the same request again under the id `fresh`
    /// (stateless). An error is the call's own outcome: its questions cannot be answered.
    pub fn answer(&mut self, answers: Answers, fresh: impl FnOnce() -> Id) -> Result<Vec<Frame>, ErrorObject> {
        if self.us.revision.has(Feature::Handshake) {
            return Ok(answers.into_iter().filter_map(|(key, answer)| self.reply(&key, answer)).collect());
        }
        let Some(asked) = self.asked.take() else { return Ok(vec![]) };
        let none = answers.is_empty();
        let responses = answers.write(&asked)?;
        self.id = fresh();
        let edits = [("inputResponses", (!none).then_some(&responses)), ("requestState", asked.state())];
        let params = self.dress(&self.params.with(&edits));
        Ok(vec![Frame::request(self.id.clone(), self.method.clone(), Some(params))])
    }

    fn reply(&mut self, key: &str, answer: Outcome) -> Option<Frame> {
        let place = self.requests.iter().position(|(asked, _)| asked == key)?;
        let (_, id) = self.requests.swap_remove(place);
        Some(Frame::reply(id, answer))
    }

    /// Forgets a question that the server took back; the key under which it was put, where it is still open.
    pub fn withdraw(&mut self, question: &Id) -> Option<String> {
        let place = self.requests.iter().position(|(_, id)| id == question)?;
        Some(self.requests.swap_remove(place).0)
    }

    /// The frames that refuse what is still asked; whoever asked waits for some answer.
    pub fn refuse(&mut self, why: &str) -> Vec<Frame> {
        if self.requests.is_empty() {
            return vec![];
        }
        let refused = ErrorObject::new(code::REFUSED, why);
        self.requests.drain(..).map(|(_, id)| Frame::reply(id, Err(refused.clone()))).collect()
    }

    /// The frames that take the request back: its questions are refused, and the server is told to stop. Between two
    /// rounds of a stateless call nothing is in flight, so nothing is said.
    pub fn cancel(&mut self, reason: &str) -> Vec<Frame> {
        let mut frames = self.refuse("the call was cancelled");
        if self.is_in_flight() {
            frames.push(Note::cancelled(&self.id, reason).into_frame());
        }
        frames
    }
}
