//! An answer over HTTP, whatever its form: a message, a stream of them, nothing, or a refusal. What the messages mean is
//! decided elsewhere.

use std::{collections::VecDeque, mem, time::Duration};

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, Response, StatusCode, Uri, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time;
use toolbay_protocol::{
    ErrorObject, Frame,
    frame::Rejected,
    scan::Limits as Depth,
    sse::{Decoder, Item, Message, Name, StreamFault},
};

use super::{
    line::Reached,
    problem::{self, Page, Refusal},
    target::Limits,
};
use crate::{Error, Kind};

/// How much of a refusal is read, and for how long.
const REFUSAL_BYTES: usize = 64 << 10;
const REFUSAL_TIME: Duration = Duration::from_secs(5);

/// From how many bytes on a chunk is not copied.
const KEPT: usize = 4 << 10;

/// How much room is made at once for a body that only says how long it will be.
const AT_ONCE: usize = 1 << 20;

/// What came back.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A success with content.
    Messages(Box<Messages>),
    /// A success without content.
    Nothing(StatusCode),
    /// No success.
    Refused(Box<Refusal>),
}

/// Whether several messages may stand in one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrays {
    /// Each alone.
    Never,
    /// As 2025-03-26 had it.
    Allowed,
}

/// What a body is.
enum Form {
    Events,
    Json,
    Web,
    /// Not said, or said wrongly: its first byte decides.
    Unsaid,
}

fn form(headers: &HeaderMap) -> Form {
    let said = headers.get(header::CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    let kind = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/event-stream" => Form::Events,
        "text/html" | "application/xhtml+xml" => Form::Web,
        "application/json" => Form::Json,
        json if json.ends_with("+json") => Form::Json,
        _ => Form::Unsaid,
    }
}

impl Reply {
    /// Reads the head of an answer, and the whole of a refusal.
    pub(super) async fn read(reached: Reached, limits: &Limits, arrays: Arrays) -> Result<Self, Error> {
        let Reached { response, url } = reached;
        let status = response.status();
        if !status.is_success() {
            return Ok(Self::Refused(Box::new(refusal(response).await)));
        }
        let form = form(response.headers());
        let empty = !matches!(form, Form::Events) && hyper::body::Body::size_hint(response.body()).exact() == Some(0);
        if empty || matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) {
            return Ok(Self::Nothing(status));
        }
        let coded = response.headers().get(header::CONTENT_ENCODING).filter(|coding| *coding != "identity");
        if let Some(coding) = coded {
            let what = format!("the server encodes its answer ({coding:?}), which it was not asked to");
            return Err(Error::new(Kind::Misbehaved, what));
        }
        let (shape, source) = match form {
            Form::Web => return Err(problem::web_page(&url)),
            Form::Events => (Shape::Stream, Source::Events(Box::new(Decoder::with_limit(limits.message_bytes)))),
            Form::Json | Form::Unsaid => (Shape::Whole, Source::Json(Gathered::default())),
        };
        let (chunks, json) = (Chunks { body: response.into_body(), limit: limits.message_bytes }, limits.json);
        Ok(Self::Messages(Box::new(Messages { chunks, shape, source, url, arrays, json, ready: VecDeque::new() })))
    }
}

async fn refusal(response: Response<Incoming>) -> Refusal {
    let status = response.status();
    let retry_after = response.headers().get(header::RETRY_AFTER).and_then(|after| after.to_str().ok());
    let retry_after = retry_after.map(|after| match after.parse::<u32>() {
        Ok(seconds) => format!("{seconds} s"),
        Err(_) => problem::excerpt(after),
    });
    let said = form(response.headers());
    let mut body = response.into_body();
    let mut text = BytesMut::new();
    // What cannot be read of it is not missed: the status is the answer.
    let _ = time::timeout(REFUSAL_TIME, async {
        while let Some(Ok(frame)) = body.frame().await {
            let Some(data) = frame.data_ref() else { continue };
            if text.len() + data.len() > REFUSAL_BYTES {
                return;
            }
            text.extend_from_slice(data);
        }
    })
    .await;
    let text = without_mark(text.freeze());
    let error = match Frame::parse(&text) {
        Ok(Frame::Error { id, error }) => Some((id, ErrorObject::read(&error))),
        Ok(Frame::Request { .. } | Frame::Notification { .. } | Frame::Result { .. }) | Err(_) => None,
    };
    let page = if matches!(said, Form::Web) || text.first() == Some(&b'<') { Page::Web } else { Page::Other };
    let text = problem::excerpt(&String::from_utf8_lossy(&text));
    Refusal { status, error, text, page, retry_after }
}

fn without_mark(mut text: Bytes) -> Bytes {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    if text.starts_with(MARK) {
        text.advance(MARK.len());
    }
    text
}

/// The chunks of a body.
#[derive(Debug)]
struct Chunks {
    body: Incoming,
    limit: usize,
}

impl Chunks {
    /// The next chunk; `None` at the end. Losing the future loses nothing.
    async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(data) = frame.map_err(problem::broken)?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// How much is said to be left.
    fn left(&self) -> usize {
        usize::try_from(hyper::body::Body::size_hint(&self.body).lower()).unwrap_or(usize::MAX).min(AT_ONCE)
    }
}

/// A body until it is whole. A large one that is one chunk is kept as it is; a small one would hold on to the room of a whole read.
#[derive(Debug, Default)]
struct Gathered {
    first: Bytes,
    whole: BytesMut,
}

impl Gathered {
    fn len(&self) -> usize {
        self.first.len() + self.whole.len()
    }

    /// Adds a chunk; `left` more bytes are expected.
    fn push(&mut self, chunk: Bytes, left: usize) {
        if self.len() == 0 && chunk.len() >= KEPT {
            self.first = chunk;
            return;
        }
        if self.whole.is_empty() {
            self.whole.reserve(self.first.len() + chunk.len() + left);
            self.whole.extend_from_slice(&mem::take(&mut self.first));
        }
        self.whole.extend_from_slice(&chunk);
    }

    fn take(&mut self) -> Bytes {
        if self.whole.is_empty() { mem::take(&mut self.first) } else { self.whole.split().freeze() }
    }
}

fn too_large(limit: usize) -> Error {
    Error::new(Kind::Limit, format!("the server sent a message of more than {limit} bytes (limit `message_bytes`)"))
}

fn fault_of(fault: &StreamFault) -> Error {
    match fault {
        StreamFault::TooLarge { limit } => too_large(*limit),
        StreamFault::NotUtf8 => Error::new(Kind::Misbehaved, fault.to_string()),
    }
}

/// Whether messages come alone or as a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Whole,
    Stream,
}

#[derive(Debug)]
enum Source {
    Json(Gathered),
    Events(Box<Decoder>),
    Spent,
}

/// The messages in a body, one after the other.
#[derive(Debug)]
pub(crate) struct Messages {
    chunks: Chunks,
    shape: Shape,
    source: Source,
    url: Uri,
    arrays: Arrays,
    json: Depth,
    ready: VecDeque<Result<Frame, Rejected>>,
}

/// What was read.
#[derive(Debug)]
pub(crate) enum Got {
    /// A message, or what is wrong with it.
    Message(Result<Frame, Rejected>),
    /// An event that carries no message, by its name.
    Other(Name, Bytes),
    /// What stands beside an event: its id, and when to come back.
    Mark(Mark),
}

/// Where a stream can be taken up again, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<Duration>,
}

impl Messages {
    /// Whether they come alone or as a stream.
    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Where they come from.
    pub(super) fn url(&self) -> &Uri {
        &self.url
    }

    /// The next thing; `None` at the end. Losing the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<Option<Got>, Error> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Ok(Some(Got::Message(message)));
            }
            match &mut self.source {
                Source::Spent => return Ok(None),
                Source::Events(decoder) => {
                    if let Some(item) = decoder.pull().map_err(|fault| fault_of(&fault))? {
                        return Ok(Some(self.item(item)));
                    }
                    match self.chunks.chunk().await? {
                        Some(chunk) => decoder.push(chunk),
                        None => self.source = Source::Spent,
                    }
                }
                Source::Json(text) => match self.chunks.chunk().await? {
                    Some(chunk) if text.len() + chunk.len() > self.chunks.limit => {
                        return Err(too_large(self.chunks.limit));
                    }
                    Some(chunk) => text.push(chunk, self.chunks.left()),
                    None => {
                        let text = without_mark(text.take());
                        self.source = Source::Spent;
                        self.whole(&text)?;
                    }
                },
            }
        }
    }

    fn whole(&mut self, text: &Bytes) -> Result<(), Error> {
        match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => {}
            Some(b'<') => return Err(problem::web_page(&self.url)),
            Some(_) => self.take(text),
        }
        Ok(())
    }

    fn take(&mut self, text: &Bytes) {
        if self.arrays == Arrays::Allowed
            && let Some(messages) = Frame::parse_batch(text, self.json)
        {
            return self.ready.extend(messages);
        }
        self.ready.push_back(Frame::parse_answer(text, self.json));
    }

    fn item(&mut self, item: Item) -> Got {
        let mark = |id, retry| Mark { id, retry };
        let Message { id, name, retry, data } = match item {
            Item::Priming(priming) => return Got::Mark(mark(priming.id, priming.retry)),
            Item::Message(message) => message,
        };
        match name {
            Name::Message => self.take(&data),
            // spec: basic/transports; whatever else there is, is none of ours
            Name::Endpoint | Name::Other(_) => return Got::Other(name, data),
        }
        Got::Mark(mark(id, retry))
    }
}
