//! What a limit of a duplex link does to those who wait on it.

use std::{sync::Arc, time::Duration};

use tokio::{io::AsyncWriteExt as _, time::timeout};
use toolbay_protocol::{
    Frame, Method, Revision,
    fault::{Fault, Malformed},
    greeting::Introduction,
    peer::Call,
    scan::Flaw,
};
use toolbay_transport::{
    Kind,
    duplex::{Came, Client, ReadFrames as _},
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

#[tokio::test]
async fn a_lone_number_is_no_message_and_text_is_no_json() {
    let mut lines = FrameLines::new(b"5\nServer started\n".as_slice());
    let Ok(Some(Came::One(Err(rejected)))) = lines.read().await else { panic!("a number is read as JSON") };
    assert!(matches!(rejected.fault, Fault::Malformed(Malformed::Json(Flaw::NotObject))));
    assert!(matches!(lines.read().await, Ok(Some(Came::Junk(_)))));
}
