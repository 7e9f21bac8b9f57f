//! HTTP with two endpoints (2024-11-05): one stream brings everything the server says, another address takes everything we
//! say. Together they are a duplex link.
// spec: 2024-11-05 basic/transports, "HTTP with SSE"

use std::{
    collections::VecDeque,
    mem,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use http::HeaderMap;
use tokio::{
    sync::mpsc,
    time::{self, Instant},
};
use toolbay_protocol::{ErrorObject, Frame, greeting::probe::Probe, sse::Name};

use super::{
    line::{Line, Order},
    place::{Shown, resolve, same_origin},
    reply::{Arrays, Got, Messages, Reply, Shape},
};
use crate::{
    Approach, Connection, Error, Kind, connect,
    duplex::{self, Came, ReadFrames, WriteFrames},
};

/// How long one delivery may take.
const DELIVERY: Duration = Duration::from_secs(30);
/// How many deliveries may have failed without the reader having noticed.
const FAILURES: usize = 64;

/// Opens the stream, finds the other address and meets the server.
pub(super) async fn open(line: Line, approach: Approach) -> Result<Connection, Error> {
    let begun = Instant::now();
    let (messages, post) = time::timeout(approach.deadline, find(&line))
        .await
        .unwrap_or_else(|_| Err(Error::overdue("opening the event stream", approach.deadline)))?;
    let (failed, failures) = mpsc::channel(FAILURES);
    let reader = Reader { reading: reading(messages), failures };
    let writer = Writer { line: line.at(post), backlog: VecDeque::new(), waiting: 0, current: None, failed };
    let us = Arc::new(approach.us.clone());
    let link = duplex::Client::within(&approach.limits, us, reader, writer, Arc::clone(&approach.listener));
    let deadline = approach.deadline.saturating_sub(begun.elapsed());
    let probe = match approach.revision {
        Some(_) => approach.search(),
        None => Probe::legacy(approach.us.clone()),
    };
    connect::over(link, Approach { deadline, ..approach }, probe).await
}

/// The stream, and the address that its first event names.
async fn find(line: &Line) -> Result<(Messages, http::Uri), Error> {
    let reached = line.send(Order::get(HeaderMap::new())).await?;
    let url = Shown(line.url()).to_string();
    let no_stream = || Error::new(Kind::Incompatible, format!("{url} does not open an event stream"));
    let mut messages = match Reply::read(reached, line.limits(), Arrays::Allowed).await? {
        Reply::Messages(messages) if messages.shape() == Shape::Stream => *messages,
        Reply::Messages(_) | Reply::Nothing(_) => return Err(no_stream()),
        Reply::Refused(refusal) => return Err(refusal.to_error(line.url())),
    };
    loop {
        match messages.next().await? {
            Some(Got::Mark(_)) => {}
            Some(Got::Other(Name::Endpoint, place)) => {
                let post = endpoint(messages.url(), &place)?;
                return Ok((messages, post));
            }
            Some(Got::Other(..) | Got::Message(_)) => {
                let what = format!("the event stream at {url} does not begin with an `endpoint`");
                return Err(Error::new(Kind::Incompatible, what));
            }
            None => {
                let what = format!("the event stream at {url} ended before it named an endpoint");
                return Err(Error::new(Kind::Incompatible, what));
            }
        }
    }
}

/// The address for messages, seen from the stream's own; of the same origin, or our secrets would go elsewhere.
fn endpoint(stream: &http::Uri, place: &Bytes) -> Result<http::Uri, Error> {
    let place = std::str::from_utf8(place).ok().and_then(|place| resolve(stream, place));
    let place = place.ok_or_else(|| Error::new(Kind::Misbehaved, "the server names an endpoint that is no address"))?;
    if same_origin(stream, &place) {
        return Ok(place);
    }
    let what = format!("{} names an endpoint of another origin, {}: refused", Shown(stream), Shown(&place));
    Err(Error::new(Kind::Misbehaved, what))
}

/// What the server says.
struct Reader {
    reading: BoxFuture<'static, (Messages, Result<Option<Got>, Error>)>,
    failures: mpsc::Receiver<Frame>,
}

fn reading(mut messages: Messages) -> BoxFuture<'static, (Messages, Result<Option<Got>, Error>)> {
    async move {
        let got = messages.next().await;
        (messages, got)
    }
    .boxed()
}

impl ReadFrames for Reader {
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Came>, Error>> {
        if let Poll::Ready(Some(failed)) = self.failures.poll_recv(cx) {
            return Poll::Ready(Ok(Some(Came::One(Ok(failed)))));
        }
        loop {
            let (messages, got) = ready!(self.reading.as_mut().poll(cx));
            self.reading = reading(messages);
            match got? {
                Some(Got::Message(message)) => return Poll::Ready(Ok(Some(Came::One(message)))),
                Some(Got::Mark(_) | Got::Other(..)) => {}
                None => return Poll::Ready(Ok(None)),
            }
        }
    }
}

/// What we say: one message after the other, each a request of its own.
struct Writer {
    line: Line,
    backlog: VecDeque<Frame>,
    waiting: usize,
    current: Option<Delivery>,
    failed: mpsc::Sender<Frame>,
}

struct Delivery {
    bytes: usize,
    /// What to tell its caller if it fails, where somebody waits for an answer.
    request: Option<toolbay_protocol::Id>,
    work: BoxFuture<'static, Result<(), Error>>,
}

impl Writer {
    fn begin(&self, frame: &Frame) -> Delivery {
        let body = frame.to_bytes();
        let bytes = body.len();
        let request = match frame {
            Frame::Request { id, .. } => Some(id.clone()),
            Frame::Notification { .. } | Frame::Result { .. } | Frame::Error { .. } => None,
        };
        let (line, order) = (self.line.clone(), Order::post(HeaderMap::new(), body));
        let work = async move {
            let delivery = async {
                let reached = line.send(order).await?;
                match Reply::read(reached, line.limits(), Arrays::Never).await? {
                    Reply::Messages(_) | Reply::Nothing(_) => Ok(()),
                    Reply::Refused(refusal) => Err(refusal.to_error(line.url())),
                }
            };
            time::timeout(DELIVERY, delivery)
                .await
                .unwrap_or_else(|_| Err(Error::overdue("delivering a message", DELIVERY)))
        };
        Delivery { bytes, request, work: work.boxed() }
    }

    /// A message was not taken: its caller is told, where there is one; else the link is no good.
    fn fail(&self, request: Option<toolbay_protocol::Id>, error: Error) -> Result<(), Error> {
        let Some(id) = request else { return Err(error) };
        let told = Frame::reply(id, Err(ErrorObject::internal(format!("the request was not delivered: {error}"))));
        self.failed.try_send(told).map_err(|_| error)
    }
}

impl WriteFrames for Writer {
    fn push(&mut self, frame: Frame) {
        self.waiting += weight(&frame);
        self.backlog.push_back(frame);
    }

    fn backlog(&self) -> usize {
        self.waiting + self.current.as_ref().map_or(0, |delivery| delivery.bytes)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            let Some(current) = &mut self.current else {
                let Some(frame) = self.backlog.pop_front() else { return Poll::Ready(Ok(())) };
                self.waiting -= weight(&frame);
                self.current = Some(self.begin(&frame));
                continue;
            };
            let done = ready!(current.work.as_mut().poll(cx));
            let request = mem::take(&mut self.current).and_then(|delivery| delivery.request);
            if let Err(error) = done {
                self.fail(request, error)?;
            }
        }
    }

    async fn close(&mut self) {
        self.backlog.clear();
        self.waiting = 0;
        self.current = None;
    }
}

/// About how many bytes a frame holds.
fn weight(frame: &Frame) -> usize {
    let body = match frame {
        Frame::Request { params, .. } | Frame::Notification { params, .. } => params.as_ref(),
        Frame::Result { result, .. } => Some(result),
        Frame::Error { error, .. } => Some(error),
    };
    96 + body.map_or(0, |body| body.as_bytes().len())
}
