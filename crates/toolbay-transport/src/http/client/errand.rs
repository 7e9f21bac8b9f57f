//! Requests to services over HTTP that do not speak the protocol: a document there, a document or a stream of events back,
//! both bounded. Not for messages, and not for telemetry, which wants no answer.

use std::str;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use toolbay_protocol::sse::{Decoder, Item, Name};

use super::{
    dial::Dial,
    line::{Line, Order, Reached},
    place::{Shown, same_origin},
    problem,
    target::Target,
};
use crate::{Error, Kind};

/// How many redirects are followed, all of them within the origin.
const REDIRECTS: usize = 3;

/// Runs errands to one address; cheap to clone.
#[derive(Clone, Debug)]
pub struct Errands(Line);

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The media type, in lower case and without parameters; empty where none is said.
    pub kind: String,
    /// All of it.
    pub body: Bytes,
}

/// What came back where events were asked for.
#[derive(Debug)]
pub enum Opened {
    /// A stream of them.
    Events(Events),
    /// Something else.
    Answer(Answer),
}

/// An answer while it arrives.
#[derive(Debug)]
pub struct Arriving {
    /// The status.
    pub status: StatusCode,
    /// The media type, in lower case and without parameters; empty where none is said.
    pub kind: String,
    /// All headers.
    pub headers: HeaderMap,
    body: Incoming,
    place: String,
    limit: usize,
    read: usize,
}

/// A stream of events.
#[derive(Debug)]
pub struct Events {
    body: Incoming,
    decoder: Box<Decoder>,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name; `message` where it has none.
    pub name: String,
    /// Its data.
    pub data: Bytes,
}

impl Errands {
    /// To the address of `target`, with its headers and within its limits.
    pub fn to(target: &Target) -> Result<Self, Error> {
        target.check()?;
        Ok(Self(Line::new(target, Dial::to(target)?).redirecting(REDIRECTS)))
    }

    /// To another address of the same origin: the headers are for no other.
    pub fn at(&self, url: Uri) -> Result<Self, Error> {
        if same_origin(self.0.url(), &url) {
            return Ok(Self(self.0.at(url)));
        }
        let what = format!("{} is of another origin than {}", Shown(&url), Shown(self.0.url()));
        Err(Error::new(Kind::Unreachable, what))
    }

    /// Where to, without what may be secret in it.
    pub fn place(&self) -> String {
        Shown(self.0.url()).to_string()
    }

    /// Takes a JSON document there.
    pub async fn post(&self, document: Bytes) -> Result<Answer, Error> {
        let json = HeaderValue::from_static("application/json");
        let accepted = HeaderValue::from_static("application/json, text/plain;q=0.9, */*;q=0.5");
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json), (header::ACCEPT, accepted)]);
        let order = Order { verb: Method::POST, headers, body: document };
        self.answer(self.0.send(order).await?).await
    }

    /// Takes a JSON document there, and brings the answer while it arrives, whatever its status and its media type; all of
    /// it within the limit `messageBytes`.
    pub async fn ask(&self, document: Bytes) -> Result<Arriving, Error> {
        let json = HeaderValue::from_static("application/json");
        let accepted = HeaderValue::from_static("application/json, text/event-stream, application/x-ndjson");
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json), (header::ACCEPT, accepted)]);
        let Reached { response, url } = self.0.send(Order { verb: Method::POST, headers, body: document }).await?;
        let (head, body) = response.into_parts();
        uncoded(&head.headers, &url)?;
        let (place, limit) = (Shown(&url).to_string(), self.0.limits().message_bytes);
        Ok(Arriving {
            status: head.status,
            kind: kind(&head.headers),
            headers: head.headers,
            body,
            place,
            limit,
            read: 0,
        })
    }

    /// Fetches a document.
    pub async fn get(&self) -> Result<Answer, Error> {
        let accepted = HeaderValue::from_static("application/json, text/plain;q=0.9, */*;q=0.5");
        let headers = HeaderMap::from_iter([(header::ACCEPT, accepted)]);
        self.answer(self.0.send(Order { verb: Method::GET, headers, body: Bytes::new() }).await?).await
    }

    /// Asks for a stream of events.
    pub async fn events(&self) -> Result<Opened, Error> {
        let reached = self.0.send(Order::get(HeaderMap::new())).await?;
        if reached.response.status().is_success() && kind(reached.response.headers()) == "text/event-stream" {
            let decoder = Box::new(Decoder::with_limit(self.0.limits().message_bytes));
            return Ok(Opened::Events(Events { body: reached.response.into_body(), decoder }));
        }
        self.answer(reached).await.map(Opened::Answer)
    }

    async fn answer(&self, Reached { response, url }: Reached) -> Result<Answer, Error> {
        let limit = self.0.limits().message_bytes;
        let (head, body) = response.into_parts();
        uncoded(&head.headers, &url)?;
        let body = Limited::new(body, limit).collect().await.map_err(|error| {
            if error.downcast_ref::<LengthLimitError>().is_some() {
                let what = format!("{} answers with more than {limit} bytes (limit `messageBytes`)", Shown(&url));
                return Error::new(Kind::Limit, what);
            }
            match error.downcast::<hyper::Error>() {
                Ok(error) => problem::broken(*error),
                Err(error) => Error::closed(format!("{} broke off its answer: {error}", Shown(&url))),
            }
        })?;
        Ok(Answer { status: head.status, kind: kind(&head.headers), body: body.to_bytes() })
    }
}

fn uncoded(headers: &HeaderMap, url: &Uri) -> Result<(), Error> {
    match headers.get(header::CONTENT_ENCODING).filter(|coding| *coding != "identity") {
        None => Ok(()),
        Some(coding) => {
            let what = format!("{} encodes its answer ({coding:?}), which it was not asked to", Shown(url));
            Err(Error::new(Kind::Misbehaved, what))
        }
    }
}

fn kind(headers: &HeaderMap) -> String {
    let said = headers.get(header::CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

impl Answer {
    /// The body as text, where it is one.
    pub fn text(&self) -> Option<&str> {
        str::from_utf8(&self.body).ok()
    }

    /// How it begins, on one line, for people.
    pub fn excerpt(&self) -> String {
        problem::excerpt(&String::from_utf8_lossy(&self.body[..self.body.len().min(4096)]))
    }
}

impl Arriving {
    /// The next chunk of it; none at the end. Losing the future loses nothing.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        while let Some(frame) = self.body.frame().await {
            let Ok(data) = frame.map_err(problem::broken)?.into_data() else { continue };
            self.read += data.len();
            if self.read > self.limit {
                let what = format!("{} answers with more than {} bytes (limit `messageBytes`)", self.place, self.limit);
                return Err(Error::new(Kind::Limit, what));
            }
            return Ok(Some(data));
        }
        Ok(None)
    }
}

impl Events {
    /// The next event; none at the end. Losing the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            let item = self.decoder.pull();
            let item = item.map_err(|fault| Error::new(Kind::Misbehaved, format!("the event stream: {fault}")))?;
            match item {
                Some(Item::Message(message)) => {
                    let name = match message.name {
                        Name::Message => "message".into(),
                        Name::Endpoint => "endpoint".into(),
                        Name::Other(name) => name.to_string(),
                    };
                    return Ok(Some(Event { name, data: message.data }));
                }
                Some(Item::Priming(_)) => continue,
                None => {}
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(frame) => {
                    if let Ok(data) = frame.map_err(problem::broken)?.into_data() {
                        self.decoder.push(data);
                    }
                }
            }
        }
    }
}
