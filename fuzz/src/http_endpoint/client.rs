//! The requests of one input, one after the other, and what must hold of each answer.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use tokio::time::timeout;
use toolbay_builtins::everything::{self, Faults};
use toolbay_protocol::{Frame, Id, Raw, scan::Limits};
use toolbay_transport::{
    Principal,
    http::server::{Admit, Endpoint, Options, Pair},
};

use super::{
    answer::{Stream, kind},
    sent::Sent,
};

type Served = Endpoint<toolbay::Server>;

/// As many requests as one input may hold.
const MOST: usize = 12;
/// What stands between two requests.
const NEXT: &[u8] = b"\n----\n";
/// What servers give out and clients bring back: `{session}` and so on stand for what was given out last.
const GIVEN: [&str; 4] = ["session", "taskId", "requestState", "nextCursor"];
/// How large a message may be.
const LARGEST: usize = 4096;
/// By when everything is answered; nothing takes so long, but whatever does not end is found.
const AT_LAST: Duration = Duration::from_secs(60 * 60);
/// How much a response may hold beyond what was asked for.
const ROOM: usize = 256 << 10;

/// Requests as they would stand on the wire, but for lines that end in `\n` alone.
pub fn http_endpoint(data: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a thread can wait").block_on(async {
        let mut client = Client::new();
        let mut rest = data;
        for _ in 0..MOST {
            let end = rest.windows(NEXT.len()).position(|window| window == NEXT);
            let (text, more) = end.map_or((rest, None), |at| (&rest[..at], Some(&rest[at + NEXT.len()..])));
            if let Some(request) = client.request(text) {
                client.send(request).await;
            }
            let Some(more) = more else { break };
            rest = more;
        }
        client.leave().await;
    });
}

/// The endpoint, and what its clients hold.
struct Client {
    endpoint: Served,
    given: [Vec<u8>; GIVEN.len()],
    /// Streams that have not ended.
    open: Vec<Stream>,
}

struct Asked {
    id: Option<Id>,
    length: usize,
    request: Request<Sent>,
}

impl Client {
    fn new() -> Self {
        let admit = Admit::by(|head| Ok(head.headers.get("x-user").map_or(Principal::Local, user)));
        let sse = Some(Pair::default());
        let options = Options { sse, admit, request_bytes: LARGEST, ..Options::default() };
        let endpoint = Endpoint::new(Arc::new(everything::server(Faults::Withheld)), options);
        Self { endpoint, given: GIVEN.map(|name| name.as_bytes().to_vec()), open: vec![] }
    }

    /// `POST /mcp`, headers, an empty line, a body; nothing where that cannot be a request.
    fn request(&self, text: &[u8]) -> Option<Asked> {
        let text = self.filled_in(text);
        let mut rest = &text[..];
        let mut line = || {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let line = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            line
        };
        let mut words = line().splitn(2, |byte| *byte == b' ');
        let method = Method::from_bytes(words.next()?).ok()?;
        let mut head = Request::new(());
        *head.uri_mut() = Uri::try_from(words.next()?).ok()?;
        *head.method_mut() = method;
        loop {
            let line = line();
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { break };
            let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
            head.headers_mut().append(HeaderName::from_bytes(&line[..colon]).ok()?, value);
        }
        let body = Bytes::copy_from_slice(rest);
        let id = match Frame::parse(&body) {
            Ok(Frame::Request { id, .. }) => Some(id),
            Ok(_) | Err(_) => None,
        };
        let (pieces, cut) = (head.headers().contains_key("x-pieces"), head.headers().contains_key("x-cut"));
        let sent = Sent { rest: body, piece: if pieces { 7 } else { usize::MAX }, cut };
        Some(Asked { id, length: text.len(), request: head.map(|()| sent) })
    }

    fn filled_in(&self, text: &[u8]) -> Vec<u8> {
        let (mut filled, mut rest) = (Vec::with_capacity(text.len()), text);
        while let Some((byte, behind)) = rest.split_first() {
            let named = GIVEN.iter().zip(&self.given).find_map(|(name, value)| {
                let behind = behind.strip_prefix(name.as_bytes())?.strip_prefix(b"}")?;
                (*byte == b'{').then_some((value, behind))
            });
            rest = match named {
                Some((value, behind)) => {
                    filled.extend_from_slice(value);
                    behind
                }
                None => {
                    filled.push(*byte);
                    behind
                }
            };
        }
        filled
    }

    /// Remembers what an answer gives out.
    fn learn(&mut self, stream: &mut Stream) {
        if let Some(place) = stream.place.take() {
            self.given[0] = place;
        }
        for result in stream.results.drain(..) {
            for (name, value) in GIVEN.iter().zip(&mut self.given) {
                let given = result.get(name).or_else(|| result.get("task")?.get(name));
                if let Some(text) = given.as_ref().and_then(Raw::as_text) {
                    *value = text.as_bytes().to_vec();
                }
            }
        }
    }

    async fn send(&mut self, asked: Asked) {
        let Asked { id, length, request } = asked;
        let response = timeout(AT_LAST, self.endpoint.handle(request)).await.expect("a request is never answered");
        let status = response.status();
        assert!(!status.is_server_error() && !status.is_informational(), "{status}");
        if let Some(session) = response.headers().get("mcp-session-id") {
            self.given[0] = session.as_bytes().to_vec();
        }
        let streams = kind(&response) == Some("text/event-stream");
        let json = kind(&response) == Some("application/json");
        let mut stream = Stream::new(response, ROOM + 16 * length);
        let over = stream.read().await;
        if json {
            one_answer(&stream, status, id.as_ref());
        } else if !streams {
            assert!(stream.text.is_empty(), "{:?} of no type", stream.text);
        }
        assert!(over || streams, "a plain body has an end");
        // Those that were open before may have more to say now.
        self.open.push(stream);
        for mut stream in std::mem::take(&mut self.open) {
            let over = stream.over || stream.read().await;
            self.learn(&mut stream);
            if !over {
                self.open.push(stream);
            }
        }
    }

    /// Some streams are dropped, others read to their end, which the end of the server brings.
    async fn leave(self) {
        let mut open = self.open;
        let kept = open.split_off(open.len() / 2);
        drop(open);
        let mut reading = tokio::task::JoinSet::new();
        for mut stream in kept {
            reading.spawn(async move { while !stream.read().await {} });
        }
        timeout(AT_LAST, self.endpoint.shutdown()).await.expect("a server comes to an end");
        timeout(AT_LAST, async { while reading.join_next().await.is_some() {} }).await.expect("streams end with it");
    }
}

fn user(name: &HeaderValue) -> Principal {
    Principal::Named(String::from_utf8_lossy(name.as_bytes()).into())
}

/// One message, or an array of them.
fn one_answer(stream: &Stream, status: StatusCode, id: Option<&Id>) {
    let text = Bytes::copy_from_slice(&stream.text);
    if Frame::parse_batch(&text, Limits::DEFAULT).is_some() {
        return;
    }
    let frame = Frame::parse(&text).expect("it was read before");
    let answers = matches!(frame, Frame::Result { .. } | Frame::Error { .. });
    assert!(answers, "{frame:?} answers nothing");
    if status == StatusCode::OK {
        assert_eq!(frame.id(), id, "the answer to somebody else: {frame:?}");
    } else {
        assert!(frame.id().is_none() || frame.id() == id || id.is_none(), "{status}, {frame:?}");
    }
}
