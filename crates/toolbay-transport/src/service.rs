//! Who answers: the contract between a transport and what it serves. It knows no era.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use http::{HeaderMap, header};
use toolbay_protocol::{
    ErrorObject, Fault, Method, Raw,
    exchange::{Note, Outcome, Return},
    frame::{Part, Parts},
    greeting::{Device, Introduction, Profile, envelope},
    headers::HeaderPlan,
    watch::Filter,
};

use crate::{device, talk::Cx, watch::Watch};

/// A service at work on one request. Dropping it cancels the work.
pub type Answering = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Something that answers requests, whichever transport and revision they come by.
pub trait Service: Send + Sync + 'static {
    /// How it introduces itself.
    fn profile(&self) -> Arc<Profile>;

    /// Answers one request. Dropping the future cancels it.
    ///
    /// Where [`Cx::ask`] said that the caller will return, the outcome is not sent: the question ended the request.
    fn call(&self, request: Request, cx: Cx) -> impl Future<Output = Outcome> + Send;

    /// The same, as transports begin it. Worth writing where [`Service::call`] needs nothing of `self` that cannot be
    /// cloned: the request then has one place in memory instead of two.
    fn begin(self: &Arc<Self>, request: Request, cx: Cx) -> Answering
    where
        Self: Sized,
    {
        let service = Arc::clone(self);
        Box::pin(async move { service.call(request, cx).await })
    }

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

    fn begin(self: &Arc<Self>, request: Request, cx: Cx) -> Answering {
        S::begin(self, request, cx)
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
    /// On which of its user's devices it is, where something else says so than its introduction: the one request, the link.
    pub device: Option<Device>,
}

impl Caller {
    /// On which of its user's devices it states to be.
    pub fn device(&self) -> Option<&Device> {
        self.device.as_ref().or(self.introduction.device.as_ref())
    }
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
    /// What stands where in them.
    pub parts: Parts,
    /// By whom.
    pub caller: Arc<Caller>,
    /// What the caller brings back after it was asked.
    pub returning: Return,
    /// The headers that it came with, where the transport has any.
    pub headers: Headers,
}

impl Request {
    /// A member of its parameters.
    pub fn part(&self, part: Part) -> Option<Raw> {
        self.parts.get(part, &self.params)
    }

    /// On which device it says by itself that its caller is, in `_meta` or a header; a fault where that is no device, or
    /// where it says two.
    pub fn device(&self) -> Result<Option<Device>, Fault> {
        let meta = self.part(Part::Meta).and_then(|meta| meta.get(envelope::DEVICE));
        let header = self.headers.map().map(device::stated).transpose()?.flatten();
        Device::agreed(header, Device::read(meta.as_ref())?)
    }

    /// Has it say something else; as before where a key stands twice in that.
    pub fn rewrite(&mut self, params: Raw) {
        // Places in the one mean nothing in the other.
        if let Ok(parts) = Parts::of(&params) {
            (self.params, self.parts) = (params, parts);
        }
    }
}

/// The headers of a request, or none. Printed, it says which there are, never what stands in them.
#[derive(Clone, Default, PartialEq)]
pub struct Headers(Option<Box<HeaderMap>>);

impl Headers {
    /// No headers: the transport has none.
    pub const NONE: Self = Self(None);

    /// Takes the headers of a request. Those that prove who somebody is are marked, so that nobody prints them by mistake.
    pub fn of(mut headers: HeaderMap) -> Self {
        for secret in [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION] {
            if headers.contains_key(&secret)
                && let header::Entry::Occupied(mut values) = headers.entry(secret)
            {
                values.iter_mut().for_each(|value| value.set_sensitive(true));
            }
        }
        Self(Some(Box::new(headers)))
    }

    /// All of them; nothing where the transport has none.
    pub fn map(&self) -> Option<&HeaderMap> {
        self.0.as_deref()
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.map().into_iter().flat_map(HeaderMap::keys)).finish()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn secrets_in_headers_are_never_printed() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("authorization", "Bearer s3cret"), ("cookie", "a=s3cret"), ("cookie", "b=s3cret")] {
            headers.append(name, HeaderValue::from_static(value));
        }
        headers.append("x-tenant", HeaderValue::from_static("blue"));
        let headers = Headers::of(headers);
        assert_eq!(format!("{headers:?}"), r#"["authorization", "cookie", "x-tenant"]"#);
        let all = format!("{:?}", headers.map().unwrap());
        assert!(all.contains("blue") && !all.contains("s3cret"), "{all}");
        assert_eq!(headers.map().unwrap()["authorization"], "Bearer s3cret");
        assert_eq!(format!("{:?}", Headers::NONE), "[]");
    }
}
