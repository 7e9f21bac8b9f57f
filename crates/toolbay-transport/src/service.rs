//! Who answers: the contract between a transport and what it serves. It knows no era.

use std::{future::Future, sync::Arc};

use toolbay_protocol::{
    ErrorObject, Method, Raw,
    exchange::{Note, Outcome, Return},
    greeting::{Introduction, Profile},
    headers::HeaderPlan,
    watch::Filter,
};

use crate::{talk::Cx, watch::Watch};

/// Something that answers requests, whichever transport and revision they come by.
pub trait Service: Send + Sync + 'static {
    /// How it introduces itself.
    fn profile(&self) -> Arc<Profile>;

    /// Answers one request. Dropping the future cancels it.
    ///
    /// Where [`Cx::ask`] said that the caller will return, the outcome is not sent: the question ended the request.
    fn call(&self, request: Request, cx: Cx) -> impl Future<Output = Outcome> + Send;

    /// Begins to tell of changes. The filter is cut already to what the profile honours.
    fn watch(&self, caller: &Arc<Caller>, filter: Filter) -> impl Future<Output = Result<Watch, ErrorObject>> + Send;

    /// Takes a notification from a client.
    fn note(&self, caller: &Arc<Caller>, note: Note) -> impl Future<Output = ()> + Send {
        let _ = (caller, note);
        async {}
    }

    /// Which parameters of a tool its callers repeat in headers, where a transport has headers. Asked before each call
    /// that comes with headers: be quick.
    fn header_plan(&self, caller: &Arc<Caller>, tool: &str) -> Option<Arc<HeaderPlan>> {
        let _ = (caller, tool);
        None
    }

    /// A session opened.
    fn joined(&self, caller: &Arc<Caller>) {
        let _ = caller;
    }

    /// A session ended.
    fn left(&self, caller: &Arc<Caller>) {
        let _ = caller;
    }
}

impl<S: Service> Service for Arc<S> {
    fn profile(&self) -> Arc<Profile> {
        S::profile(self)
    }

    fn call(&self, request: Request, cx: Cx) -> impl Future<Output = Outcome> + Send {
        S::call(self, request, cx)
    }

    fn watch(&self, caller: &Arc<Caller>, filter: Filter) -> impl Future<Output = Result<Watch, ErrorObject>> + Send {
        S::watch(self, caller, filter)
    }

    fn note(&self, caller: &Arc<Caller>, note: Note) -> impl Future<Output = ()> + Send {
        S::note(self, caller, note)
    }

    fn header_plan(&self, caller: &Arc<Caller>, tool: &str) -> Option<Arc<HeaderPlan>> {
        S::header_plan(self, caller, tool)
    }

    fn joined(&self, caller: &Arc<Caller>) {
        S::joined(self, caller);
    }

    fn left(&self, caller: &Arc<Caller>) {
        S::left(self, caller);
    }
}

/// Who calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Caller {
    /// What it said of itself.
    pub introduction: Arc<Introduction>,
    /// Whom we take it for.
    pub principal: Principal,
    /// The session it belongs to; none where each request stands alone.
    pub session: Option<Arc<str>>,
}

/// Whom a caller was proven to be. A client's own words (names, session ids) prove nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Principal {
    /// The user who runs this program: a parent process, or a program on this machine over loopback.
    Local,
    /// Somebody who showed a token.
    Named(Arc<str>),
}

/// One request for a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is asked for.
    pub method: Method,
    /// With what; the empty object where nothing was given. Judged: no key stands twice.
    pub params: Raw,
    /// By whom.
    pub caller: Arc<Caller>,
    /// What the caller brings back after it was asked.
    pub returning: Return,
}
