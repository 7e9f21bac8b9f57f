//! What a server sends: whole messages, within bounds, none of which blames the server.

use std::{
    pin::{Pin, pin},
    time::Duration,
};

use bytes::Bytes;
use http::{Response, header};
use http_body::Body as _;
use tokio::time::timeout;
use toolbay_protocol::{
    ErrorObject, Frame, Raw,
    fault::code,
    scan::Limits,
    sse::{Decoder, Item, Name},
};
use toolbay_transport::http::server::Body;

/// How long a stream may be silent before the next request is made.
const SILENCE: Duration = Duration::from_secs(2);

/// What a response says that it is.
pub(super) fn kind(response: &Response<Body>) -> Option<&str> {
    response.headers().get(header::CONTENT_TYPE)?.to_str().ok()
}

/// Bad input is never the server's fault, and neither is a task that its caller took back.
fn blameless(frame: &Frame) {
    if let Frame::Error { error, .. } = frame {
        let error = ErrorObject::read(error);
        let ends = ["shutting down", "session was ended", "task was cancelled"].iter().any(|end| error.message.contains(end));
        assert!(error.code != code::INTERNAL || ends, "the server blames itself: {error:?}");
    }
}

/// A body as far as it has come.
pub(super) struct Stream {
    body: Pin<Box<Body>>,
    decoder: Option<Decoder>,
    pub(super) text: Vec<u8>,
    total: usize,
    most: usize,
    /// The session that a stream of the oldest revision begins with.
    pub(super) place: Option<Vec<u8>>,
    pub(super) results: Vec<Raw>,
    pub(super) over: bool,
}

impl Stream {
    pub(super) fn new(response: Response<Body>, most: usize) -> Self {
        let decoder = (kind(&response) == Some("text/event-stream")).then(Decoder::default);
        let (text, results) = (vec![], vec![]);
        Self { body: Box::pin(response.into_body()), decoder, text, total: 0, most, place: None, results, over: false }
    }

    /// Reads until the body is silent; whether it has ended.
    pub(super) async fn read(&mut self) -> bool {
        loop {
            let next = std::future::poll_fn(|cx| self.body.as_mut().poll_frame(cx));
            let Ok(next) = timeout(SILENCE, pin!(next)).await else { return false };
            let Some(Ok(frame)) = next else {
                self.over = true;
                if self.decoder.is_none() && !self.text.is_empty() {
                    self.messages(&Bytes::copy_from_slice(&self.text));
                }
                return true;
            };
            let data = frame.into_data().unwrap_or_default();
            // Signs of life go on for ever.
            self.total += if data.starts_with(b":") { 0 } else { data.len() };
            assert!(self.total <= self.most, "{} bytes for one request", self.total);
            match &mut self.decoder {
                Some(decoder) => {
                    decoder.push(data);
                    self.events();
                }
                None => self.text.extend_from_slice(&data),
            }
        }
    }

    fn events(&mut self) {
        let Some(decoder) = &mut self.decoder else { return };
        let mut found = vec![];
        while let Some(item) = decoder.pull().expect("events are whole") {
            match item {
                Item::Message(event) if event.name == Name::Endpoint => {
                    let at = event.data.windows(10).position(|window| window == b"sessionId=");
                    self.place = Some(event.data[at.expect("a place names its session") + 10..].to_vec());
                }
                Item::Message(event) => found.push(event.data),
                Item::Priming(_) => {}
            }
        }
        found.iter().for_each(|data| self.messages(data));
    }

    fn messages(&mut self, data: &Bytes) {
        let messages = Frame::parse_batch(data, Limits::DEFAULT).unwrap_or_else(|| vec![Frame::parse(data)]);
        for message in messages {
            let frame = message.unwrap_or_else(|flaw| panic!("{flaw:?} in {data:?}"));
            blameless(&frame);
            if let Frame::Result { result, .. } = frame {
                self.results.push(result);
            }
        }
    }
}
