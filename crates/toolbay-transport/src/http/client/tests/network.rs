use std::sync::Arc;

use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpListener};

use super::{
    super::{Target, connect},
    peer::*,
};
use crate::{Approach, Error, Kind};

async fn attempt(url: &str) -> Result<crate::Connection, Error> {
    connect(Target::new(url.parse().unwrap()), Approach::new(us())).await
}

async fn fails(url: &str, words: &[&str]) {
    let error = attempt(url).await.unwrap_err();
    let what = error.to_string();
    assert_eq!(error.kind(), Kind::Unreachable, "{what}");
    assert!(words.iter().all(|word| what.contains(word)), "{what}");
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_described() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    fails(&format!("http://{address}/mcp"), &["nothing listens", "connection refused", &address.to_string()]).await;
    fails("http://no-such-host.invalid/mcp", &["no-such-host.invalid", "DNS"]).await;
    fails("http://user:s3cret@127.0.0.1/", &["user name or password"]).await;
    fails("ftp://127.0.0.1/", &["http:// or https://"]).await;
    fails("/mcp", &["http:// or https://"]).await;
}

#[tokio::test]
async fn a_server_without_tls_is_described() {
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = plain.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        loop {
            let (mut stream, _) = plain.accept().await.unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        }
    });
    fails(&format!("https://{address}/mcp"), &["TLS with", "http://"]).await;
    serving.abort();
}

#[tokio::test]
async fn a_call_over_a_real_socket() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let log = Arc::new(Log::default());
    let kept = Arc::clone(&log);
    let serving = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let script = Arc::new(|seen: &Seen| match seen.method() {
                "server/discover" => discovered(seen),
                _ => Said::stream().event(&seen.result(json!({"content": []}))),
            });
            tokio::spawn(serve(TokioIo::new(stream), Arc::clone(&log), script));
        }
    });
    let connection = attempt(&format!("http://{address}/mcp")).await.unwrap();
    assert!(result(&connection).await.unwrap().is_ok());
    assert_eq!(kept.lines(), ["POST server/discover", "POST tools/call"]);
    serving.abort();
}
