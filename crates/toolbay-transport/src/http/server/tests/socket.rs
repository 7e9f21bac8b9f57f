//! The endpoint on a real socket of this machine.

use std::time::Duration;

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::Revision;

use super::kit::*;
use crate::http::server::{Options, serve};

struct Host {
    site: Site,
    address: std::net::SocketAddr,
    shutdown: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
}

async fn host(options: Options) -> Host {
    let site = Site::new(options);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, shutdown) = (listener.local_addr().unwrap(), CancellationToken::new());
    let serving = tokio::spawn(serve(listener, site.endpoint.clone(), shutdown.clone()));
    Host { site, address, shutdown, serving }
}

/// Writes a request as it goes over the wire.
async fn written(request: Plain) -> Vec<u8> {
    use http_body_util::BodyExt;
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let mut text = format!("{} {} HTTP/1.1\r\ncontent-length: {}\r\n", head.method, head.uri, body.len());
    for (name, value) in &head.headers {
        text.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    let mut text = (text + "\r\n").into_bytes();
    text.extend_from_slice(&body);
    text
}

async fn until(stream: &mut TcpStream, mark: &str) -> String {
    let (mut seen, mut chunk) = (String::new(), [0; 4096]);
    while !seen.contains(mark) {
        let length = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut chunk)).await.unwrap().unwrap();
        assert!(length > 0, "ended early: {seen}");
        seen.push_str(std::str::from_utf8(&chunk[..length]).unwrap());
    }
    seen
}

async fn ended(stream: &mut TcpStream) -> bool {
    let mut chunk = [0; 4096];
    loop {
        match tokio::time::timeout(Duration::from_secs(10), stream.read(&mut chunk)).await {
            Ok(Ok(0) | Err(_)) => return true,
            Ok(Ok(_)) => {}
            Err(_) => return false,
        }
    }
}

async fn eventually(what: impl Fn() -> bool) {
    let waiting = async {
        while !what() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.unwrap();
}

#[tokio::test]
async fn calls_in_flight_end_before_the_server_does() {
    let host = host(Options::default()).await;
    let mut idle = TcpStream::connect(host.address).await.unwrap();
    idle.write_all(&written(tool(1, "echo")).await).await.unwrap();
    let seen = until(&mut idle, "\"id\":1").await;
    assert!(seen.starts_with("HTTP/1.1 200 OK\r\n") && seen.contains("content-length:"), "{seen}");
    let mut busy = TcpStream::connect(host.address).await.unwrap();
    busy.write_all(&written(tool(2, "progress_then_wait")).await).await.unwrap();
    let seen = until(&mut busy, "notifications/progress").await;
    assert!(seen.contains("x-accel-buffering: no"), "{seen}");
    let wanted = modern(3, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut listening = TcpStream::connect(host.address).await.unwrap();
    listening.write_all(&written(wanted).await).await.unwrap();
    until(&mut listening, "acknowledged").await;
    host.shutdown.cancel();
    until(&mut listening, "\"id\":3").await;
    assert!(ended(&mut listening).await && ended(&mut idle).await);
    assert!(TcpStream::connect(host.address).await.is_err());
    host.site.desk.gate.add_permits(1);
    until(&mut busy, "\"id\":2").await;
    host.serving.await.unwrap().unwrap();
    assert_eq!((count(&host.site.desk.done), count(&host.site.desk.dropped)), (2, 0));
}

#[tokio::test]
async fn what_outlasts_the_grace_is_told_so() {
    let host = host(Options { grace: Duration::from_millis(20), ..Options::default() }).await;
    let mut busy = TcpStream::connect(host.address).await.unwrap();
    busy.write_all(&written(tool(2, "wait")).await).await.unwrap();
    eventually(|| count(&host.site.desk.began) == 1).await;
    host.shutdown.cancel();
    until(&mut busy, "shutting down").await;
    host.serving.await.unwrap().unwrap();
    assert_eq!(count(&host.site.desk.dropped), 1);
}

#[tokio::test]
async fn a_closed_connection_cancels_a_modern_call_alone() {
    let host = host(Options::default()).await;
    let session = host.site.open(Revision::V2025_11_25).await;
    let mut legacy = TcpStream::connect(host.address).await.unwrap();
    legacy.write_all(&written(session.call(1, "wait")).await).await.unwrap();
    let mut modern = TcpStream::connect(host.address).await.unwrap();
    modern.write_all(&written(tool(1, "wait")).await).await.unwrap();
    let mut stream = TcpStream::connect(host.address).await.unwrap();
    stream.write_all(&written(tool(1, "progress_then_wait")).await).await.unwrap();
    until(&mut stream, "notifications/progress").await;
    eventually(|| count(&host.site.desk.began) == 3).await;
    drop((legacy, modern, stream));
    eventually(|| count(&host.site.desk.dropped) == 2).await;
    host.site.desk.gate.add_permits(1);
    eventually(|| count(&host.site.desk.done) == 1).await;
    host.shutdown.cancel();
    host.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn connections_that_say_nothing_are_closed() {
    let host = host(Options { connection_idle: Duration::from_millis(20), ..Options::default() }).await;
    let mut silent = TcpStream::connect(host.address).await.unwrap();
    let mut halting = TcpStream::connect(host.address).await.unwrap();
    halting.write_all(b"POST /mcp HTTP/1.1\r\nhost: loc").await.unwrap();
    let mut waiting = TcpStream::connect(host.address).await.unwrap();
    waiting.write_all(&written(tool(1, "wait")).await).await.unwrap();
    assert!(ended(&mut silent).await && ended(&mut halting).await);
    host.site.desk.gate.add_permits(1);
    until(&mut waiting, "waited").await;
    host.shutdown.cancel();
    host.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn whoever_sends_too_much_gets_to_read_why() {
    let host = host(Options::default()).await;
    let mut stream = TcpStream::connect(host.address).await.unwrap();
    stream.write_all(&written(text(&" ".repeat(6 << 20))).await).await.unwrap();
    let seen = until(&mut stream, "request_bytes").await;
    assert!(seen.starts_with("HTTP/1.1 413"), "{seen}");
    host.shutdown.cancel();
    host.serving.await.unwrap().unwrap();
}
