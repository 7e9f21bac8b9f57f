//! Watches one end of a link and writes down every breach of a rule by whoever stands at that end.

use std::collections::{HashMap, HashSet};

use toolbay_protocol::{
    ErrorObject, Feature, Frame, Id, Method, Raw, Revision, fault::code, frame::Rejected, greeting::envelope,
};

/// Which end is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where calls come from.
    Client,
    /// Where they are served.
    Server,
}

/// A request that came and was not answered.
#[derive(Debug)]
struct Open {
    copies: usize,
    method: Method,
    token: Option<Raw>,
    progress: f64,
    modern: bool,
}

/// The referee at one end.
#[derive(Debug)]
pub struct Referee {
    end: End,
    revision: Revision,
    session: bool,
    theirs: HashMap<Id, Open>,
    ours: HashMap<Id, Method>,
    used: HashSet<Id>,
    listened: HashSet<Id>,
    breaches: Vec<String>,
}

impl Referee {
    /// A referee at `end`, where `revision` is spoken.
    pub fn new(end: End, revision: Revision) -> Self {
        let (theirs, ours, used, listened, breaches) = Default::default();
        Self { end, revision, session: false, theirs, ours, used, listened, breaches }
    }

    /// Another revision is spoken from here on (a client's choice; a server looks at each request).
    pub fn now_speaks(&mut self, revision: Revision) {
        self.revision = revision;
    }

    /// The breaches so far.
    pub fn breaches(&self) -> &[String] {
        &self.breaches
    }

    fn breach(&mut self, what: String) {
        self.breaches.push(format!("{:?}: {what}", self.end));
    }

    /// Something came.
    pub fn got(&mut self, came: &Result<Frame, Rejected>) {
        match came {
            Ok(Frame::Request { id, method, params, .. }) => {
                let meta = params.as_ref().and_then(|params| params.get("_meta"));
                let token = meta.and_then(|meta| meta.get("progressToken"));
                let modern = envelope::is_modern(params.as_ref());
                let open = Open { copies: 0, method: method.clone(), token, progress: f64::MIN, modern };
                self.theirs.entry(id.clone()).or_insert(open).copies += 1;
            }
            Ok(Frame::Notification { method: Method::Cancelled, params }) => {
                let id = params.as_ref().and_then(|params| params.get("requestId")).and_then(|id| Id::read(&id));
                if let Some(id) = id {
                    self.theirs.remove(&id);
                    if self.ours.get(&id) == Some(&Method::Listen) {
                        self.ours.remove(&id);
                    }
                }
            }
            Ok(Frame::Result { id, .. } | Frame::Error { id: Some(id), .. }) => drop(self.ours.remove(id)),
            Ok(Frame::Notification { .. } | Frame::Error { id: None, .. }) => {}
            Err(Rejected { id: Some(id), .. }) => {
                // A broken answer ends what it answers; a broken request wants an answer.
                self.ours.remove(id);
                let method = Method::Other("broken".into());
                let open = Open { copies: 0, method, token: None, progress: f64::MIN, modern: false };
                self.theirs.entry(id.clone()).or_insert(open).copies += 1;
            }
            Err(Rejected { id: None, .. }) => {}
        }
    }

    /// Something was sent from here.
    pub fn sent(&mut self, frame: &Frame) {
        match frame {
            Frame::Request { id, method, .. } => self.asked(id, method),
            Frame::Result { id, result } => self.answered(id, Ok(result)),
            Frame::Error { id: Some(id), error } => self.answered(id, Err(ErrorObject::read(error))),
            Frame::Error { id: None, .. } if self.end == End::Client => {
                self.breach("a client complains to a server".into());
            }
            Frame::Error { id: None, .. } => {}
            Frame::Notification { method, params } => self.noted(method, params.as_ref()),
        }
    }

    fn asked(&mut self, id: &Id, method: &Method) {
        // Rules 3 and 4.
        if !self.used.insert(id.clone()) {
            self.breach(format!("id {id} is used again, for {method}"));
        }
        // Rule 15.
        if self.end == End::Server && !self.session {
            self.breach(format!("{method} is asked where nobody opened a session"));
        }
        self.ours.insert(id.clone(), method.clone());
    }

    fn answered(&mut self, id: &Id, outcome: Result<&Raw, ErrorObject>) {
        // Rule 16.
        if self.end == End::Client && self.revision.has(Feature::Stateless) {
            self.breach(format!("a modern client answers {id}"));
        }
        // Rules 5, 7 and 111.
        let Some(open) = self.theirs.get_mut(id) else {
            return self.breach(format!("an answer to {id}, which nobody waits for"));
        };
        open.copies -= 1;
        let (last, method, modern) = (open.copies == 0, open.method.clone(), open.modern);
        if last {
            self.theirs.remove(id);
        }
        match outcome {
            Ok(result) => {
                self.session |= method == Method::Initialize;
                if method == Method::Listen {
                    self.listened.insert(id.clone());
                }
                self.result(&method, result, modern);
            }
            // Rule 10.
            Err(error) if modern && matches!(error.code, code::RESOURCE_NOT_FOUND | code::URL_ELICITATION_REQUIRED) => {
                self.breach(format!("error {} to a modern {method}", error.code));
            }
            Err(_) => {}
        }
    }

    /// Rules 8, 25 and 117; a question carries no cache hints.
    fn result(&mut self, method: &Method, result: &Raw, modern: bool) {
        if !modern {
            return;
        }
        let Some(kind) = result.get("resultType") else {
            return self.breach(format!("a modern result of {method} without type: {result:?}"));
        };
        let hints = [result.get("ttlMs"), result.get("cacheScope")].iter().flatten().count();
        let due = if method.is_cacheable() && kind.as_bytes() == br#""complete""# { 2 } else { 0 };
        if hints != due {
            self.breach(format!("a modern result of {method} with {hints} cache hints: {result:?}"));
        }
        if result.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo")).is_none() {
            self.breach(format!("a modern result of {method} does not say who answers"));
        }
    }

    fn noted(&mut self, method: &Method, params: Option<&Raw>) {
        let id = |key| params.and_then(|params| params.get(key)).and_then(|id| Id::read(&id));
        match method {
            // Rule 110.
            Method::Cancelled => {
                let Some(id) = id("requestId") else { return self.breach("a cancellation of nothing".into()) };
                let ended = self.end == End::Server && self.listened.remove(&id);
                match self.ours.remove(&id) {
                    Some(Method::Initialize) => self.breach("initialize is taken back".into()),
                    None if !ended => self.breach(format!("{id} is taken back, which is not in flight")),
                    Some(_) | None => {}
                }
            }
            // Rule 113.
            Method::Progress => {
                let token = params.and_then(|params| params.get("progressToken"));
                let far = params.and_then(|params| params.get("progress")).and_then(|far| far.read::<f64>().ok());
                let open = self.theirs.values_mut().find(|open| open.token.is_some() && open.token == token);
                let Some(open) = open else { return self.breach(format!("progress for {token:?}, which nobody gave")) };
                match far {
                    Some(far) if far > open.progress => open.progress = far,
                    Some(_) | None => self.breach(format!("progress for {token:?} does not grow: {far:?}")),
                }
            }
            _ => {}
        }
    }
}
