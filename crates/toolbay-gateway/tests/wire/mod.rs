//! HTTP by hand, for what no client of ours would send.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// What is answered to a POST of `body` with these further headers; all until the connection closes.
pub(crate) async fn post(address: SocketAddr, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    // Whoever refuses may do so before all is sent.
    let _ = stream.write_all(head.as_bytes()).await;
    let mut said = vec![];
    let _ = timeout(Duration::from_secs(30), stream.read_to_end(&mut said)).await.expect("it is answered");
    String::from_utf8_lossy(&said).into_owned()
}
