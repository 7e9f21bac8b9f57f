//! One endpoint: sends a request there and brings the head of the answer. It knows redirects, but no messages.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy,
    rt::{TokioExecutor, TokioTimer},
};

use super::{
    dial::Dial,
    place::{Shown, resolve, same_origin},
    problem,
    target::{Limits, Target},
};
use crate::{Error, Kind};

/// How many redirects are followed for one request.
const REDIRECTS: usize = 5;
/// How long a connection is kept for the next request.
const IDLE: Duration = Duration::from_secs(30);
/// How many connections are kept for the next requests. With fewer than there are calls in flight, calls that end together would
/// close connections that the next ones open again.
const IDLE_CONNECTIONS: usize = 64;

/// An endpoint; cheap to clone.
#[derive(Clone)]
pub(crate) struct Line {
    http: legacy::Client<Dial, Full<Bytes>>,
    url: Uri,
    headers: Arc<HeaderMap>,
    limits: Limits,
    redirects: usize,
    elsewhere: Elsewhere,
}

/// What is done where a request is done, and its result lies elsewhere (303).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elsewhere {
    /// It is asked there as it was: no message of the protocol is answered in that way.
    Asked,
    /// The result is read there, and nothing is done again.
    Read,
}

/// The head of an answer, and the address that gave it.
pub(super) struct Reached {
    pub(super) response: Response<Incoming>,
    pub(super) url: Uri,
}

/// A request but for what every request carries.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) verb: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Order {
    /// A message to be delivered.
    pub(super) fn post(mut headers: HeaderMap, body: Bytes) -> Self {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // spec: basic/transports, both types on every POST
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        Self { verb: Method::POST, headers, body }
    }

    /// A stream to be opened.
    pub(super) fn get(mut headers: HeaderMap) -> Self {
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Self { verb: Method::GET, headers, body: Bytes::new() }
    }

    /// A session to be ended.
    pub(super) fn delete(headers: HeaderMap) -> Self {
        Self { verb: Method::DELETE, headers, body: Bytes::new() }
    }
}

impl Line {
    /// The endpoint of `target`, reached by `dial`.
    pub(super) fn new(target: &Target, dial: Dial) -> Self {
        let http = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build(dial);
        let mut headers = target.fixed_headers();
        let agent = HeaderValue::from_static(concat!("toolbay/", env!("CARGO_PKG_VERSION")));
        headers.entry(header::USER_AGENT).or_insert(agent);
        Self {
            http,
            url: target.url.clone(),
            headers: Arc::new(headers),
            limits: target.limits,
            redirects: REDIRECTS,
            elsewhere: Elsewhere::Asked,
        }
    }

    /// The same, and so many redirects are followed; a result that lies elsewhere is read there.
    // spec: RFC 9110, 15.4.4
    pub(super) fn redirecting(self, redirects: usize) -> Self {
        Self { redirects, elsewhere: Elsewhere::Read, ..self }
    }

    /// The same server at another address of the same origin.
    pub(super) fn at(&self, url: Uri) -> Self {
        Self { url, ..self.clone() }
    }

    /// Where it is.
    pub(super) fn url(&self) -> &Uri {
        &self.url
    }

    /// How much is accepted of it.
    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Sends a request, following redirects within the origin with method and body as they are.
    pub(super) async fn send(&self, mut order: Order) -> Result<Reached, Error> {
        let mut url = self.url.clone();
        for _ in 0..=self.redirects {
            let answer = self.http.request(self.request(&url, &order)).await;
            let response = answer.map_err(|error| problem::unanswered(&url, error))?;
            let Some(place) = redirect(&response) else { return Ok(Reached { response, url }) };
            let next = place.and_then(|place| resolve(&url, place)).ok_or_else(|| {
                let what = format!("{} redirects, and does not say where to", Shown(&url));
                Error::new(Kind::Misbehaved, what)
            })?;
            if !same_origin(&url, &next) {
                let what = format!(
                    "{} redirects to {}, another origin: put that address into the configuration if it is meant",
                    Shown(&url),
                    Shown(&next),
                );
                return Err(Error::new(Kind::Incompatible, what));
            }
            let done = response.status() == StatusCode::SEE_OTHER && order.verb != Method::GET;
            if done && self.elsewhere == Elsewhere::Read {
                order = Order { verb: Method::GET, body: Bytes::new(), ..order };
                order.headers.remove(header::CONTENT_TYPE);
            }
            url = next;
        }
        let what = format!("{} redirects more than {} times", Shown(&self.url), self.redirects);
        Err(Error::new(Kind::Misbehaved, what))
    }

    fn request(&self, url: &Uri, order: &Order) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(order.body.clone()));
        *request.method_mut() = order.verb.clone();
        *request.uri_mut() = url.clone();
        let mut headers = (*self.headers).clone();
        for (name, value) in &order.headers {
            headers.insert(name, value.clone());
        }
        *request.headers_mut() = headers;
        request
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line({})", Shown(&self.url))
    }
}

/// Where a redirect leads, if the answer is one.
fn redirect(response: &Response<Incoming>) -> Option<Option<&str>> {
    let redirects = [
        StatusCode::MOVED_PERMANENTLY,
        StatusCode::FOUND,
        StatusCode::SEE_OTHER,
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    if !redirects.contains(&response.status()) {
        return None;
    }
    Some(response.headers().get(header::LOCATION).and_then(|place| place.to_str().ok()))
}
