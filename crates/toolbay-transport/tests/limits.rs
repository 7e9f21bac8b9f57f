//! What a limit of a duplex link does to those who wait on it.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::{io::AsyncWriteExt as _, time::timeout};
use toolbay_protocol::{
    Frame, Method, Raw, Revision,
    exchange::Note,
    fault::{Fault, Malformed},
    greeting::Introduction,
    peer::{Call, Patience},
    scan::Flaw,
};
use toolbay_transport::{
    Error, Kind,
    connect::Limits,
    duplex::{Came, Client, ReadFrames as _, WriteFrames, client::RunningCall},
    listener::Deaf,
    memory,
    stdio::{lines::DEFAULT_LINE_LIMIT, wire::FrameLines},
};

#[tokio::test]
async fn a_message_beyond_the_limit_fails_the_calls_in_flight_at_once() {
    let ((mut reader, _writer), ours) = memory::pair();
    let (stdout, mut server) = tokio::io::duplex(1 << 16);
    let us = Arc::new(Introduction::anonymous(Revision::V2025_11_25));
    let client = Client::start(us, FrameLines::new(stdout), ours.1, Arc::new(Deaf));
    let mut running = client.call(Call::new(Method::Ping, None)).await.unwrap();
    assert!(matches!(reader.read().await, Ok(Some(Came::One(Ok(Frame::Request { .. }))))));
    let flood = tokio::spawn(async move {
        let piece = vec![b'x'; 1 << 16];
        for _ in 0..=DEFAULT_LINE_LIMIT / piece.len() + 1 {
            if server.write_all(&piece).await.is_err() {
                break;
            }
        }
        server
    });
    let failed = timeout(Duration::from_secs(30), running.step()).await.unwrap().unwrap_err();
    assert_eq!(failed.kind(), Kind::Limit);
    flood.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_no_place_in_time_says_which_limit_that_is() {
    let ((_reader, _writer), ours) = memory::pair();
    let us = Arc::new(Introduction::anonymous(Revision::V2025_11_25));
    let limits = Limits { requests_in_flight: 1, ..Limits::default() };
    let client = Client::within(&limits, us, ours.0, ours.1, Arc::new(Deaf));
    let running = client.call(Call::new(Method::Ping, None)).await.unwrap();
    let patience = Patience { silence: Duration::from_secs(5), total: None };
    let second = Call { patience, ..Call::new(Method::Ping, None) };
    let error = client.call(second.clone()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Limit);
    assert!(error.to_string().contains("requests_in_flight"), "{error}");
    drop(running);
    client.call(second).await.unwrap();
}

#[tokio::test]
async fn a_lone_number_is_no_message_and_text_is_no_json() {
    let mut lines = FrameLines::new(b"5\nServer started\n".as_slice());
    let Ok(Some(Came::One(Err(rejected)))) = lines.read().await else { panic!("a number is read as JSON") };
    assert!(matches!(rejected.fault, Fault::Malformed(Malformed::Json(Flaw::NotObject))));
    assert!(matches!(lines.read().await, Ok(Some(Came::Junk(_)))));
}

/// A writer whose other end does not read until it is let; it keeps what came through.
#[derive(Clone, Default)]
struct Stuck(Arc<Mutex<Pipe>>);

#[derive(Default)]
struct Pipe {
    backlog: Vec<Frame>,
    through: Vec<Frame>,
    opened: bool,
    waiting: Option<Waker>,
}

impl Stuck {
    fn open(&self) {
        let mut pipe = self.0.lock().unwrap();
        pipe.opened = true;
        pipe.waiting.take().into_iter().for_each(Waker::wake);
    }

    fn methods(&self) -> Vec<String> {
        let pipe = self.0.lock().unwrap();
        let name = |frame: &Frame| match frame {
            Frame::Request { method, .. } | Frame::Notification { method, .. } => Some(method.as_str().to_owned()),
            Frame::Result { .. } | Frame::Error { .. } => None,
        };
        pipe.through.iter().filter_map(name).collect()
    }
}

impl WriteFrames for Stuck {
    fn push(&mut self, frame: Frame) {
        self.0.lock().unwrap().backlog.push(frame);
    }

    fn backlog(&self) -> usize {
        self.0.lock().unwrap().backlog.iter().map(|frame| frame.to_bytes().len()).sum()
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut pipe = self.0.lock().unwrap();
        if !pipe.opened {
            pipe.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let backlog = std::mem::take(&mut pipe.backlog);
        pipe.through.extend(backlog);
        Poll::Ready(Ok(()))
    }

    async fn close(&mut self) {}
}

/// A client of a server that does not read, and a call that takes all the room that is written out ahead.
async fn unread(limits: Limits) -> (Stuck, Client, RunningCall, memory::End) {
    let (theirs, ours) = memory::pair();
    let stuck = Stuck::default();
    let us = Arc::new(Introduction::anonymous(Revision::V2025_11_25));
    let client = Client::within(&limits, us, ours.0, stuck.clone(), Arc::new(Deaf));
    let large = Raw::of(&serde_json::json!({"name": "x".repeat(1 << 20)}));
    let large = client.call(Call::new(Method::ToolsCall, Some(large))).await.unwrap();
    (stuck, client, large, theirs)
}

#[tokio::test(start_paused = true)]
async fn calls_that_were_abandoned_do_not_wait_for_a_server_that_does_not_read() {
    let (stuck, client, _large, _theirs) = unread(Limits::default()).await;
    let patience = Patience { silence: Duration::from_secs(1), total: None };
    for _ in 0..10_000 {
        // Taken back at once.
        drop(client.call(Call::new(Method::PromptsGet, None)).await.unwrap());
    }
    let mut late = client.call(Call { patience, ..Call::new(Method::ResourcesRead, None) }).await.unwrap();
    assert_eq!(late.step().await.unwrap_err().kind(), Kind::Overdue);
    let _last = client.call(Call::new(Method::Ping, None)).await.unwrap();
    stuck.open();
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    client.close().await;
    assert_eq!(stuck.methods(), ["tools/call", "ping"]);
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_server_that_does_not_read_is_bounded() {
    let few = Limits { unsent_messages: 3, ..Limits::default() };
    let short = Limits { unsent_bytes: 300, ..Limits::default() };
    for (limits, named) in
        [(few, "3 messages wait for it already (limit `unsent_messages`)"), (short, "(limit `unsent_bytes`)")]
    {
        let (stuck, client, _large, _theirs) = unread(limits).await;
        let mut waiting = vec![];
        let refused = loop {
            assert!(waiting.len() < 10, "{named}");
            match client.call(Call::new(Method::ToolsList, None)).await {
                Ok(call) => waiting.push(call),
                Err(error) => break error,
            }
        };
        assert!(refused.kind() == Kind::Limit && refused.to_string().contains(named), "{refused}");
        let note = Note { method: Method::RootsChanged, params: None };
        assert_eq!(client.tell(note.clone()).unwrap_err().kind(), Kind::Limit);
        waiting.pop();
        assert!(client.tell(note).is_ok(), "what is taken back makes room");
        stuck.open();
        client.close().await;
        assert_eq!(stuck.methods().last().map(String::as_str), Some("notifications/roots/list_changed"));
    }
}
